import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import Foundation

extension Store {
  /// The transactions between two positions that match the condition, oldest first.
  ///
  /// Both bounds are exclusive: `after` a token means strictly newer ones. `after` a date means
  /// those after the state as of it, as `snapshot(at:)` finds that; `before` a date, the same for
  /// timestamps before it.
  ///
  /// - Parameters:
  ///   - after: a token, a number or a date; nil is the oldest position.
  ///   - before: likewise; nil is past the newest transaction.
  ///   - condition: which transactions are wanted.
  /// - Returns: what will be read, up to the newest transaction of this moment.
  /// - Throws: `.pruned` with the gap if `after` is before the base, as a number or as a date;
  ///   `.otherStore`, `.lostBranch`, `.beyondHead` for a token that is not of this history;
  ///   `.otherStore` if the condition names an object of another store; `.invalidArgument` for a
  ///   date that is infinite or not a number.
  public func history(
    after: (any HistoryPosition)? = nil, before: (any HistoryPosition)? = nil,
    where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> History {
    let version = version
    try condition.requireOwn(version.store)
    var lower = version.view.base
    let clock = environment.clock
    if let after { lower = try version.number(after: after.historyPlace, clock) }
    var upper = version.view.head.number
    if let before { upper = try version.number(before: before.historyPlace, clock) }
    return History(
      version: version, after: lower, through: upper, condition: try condition.counting(clock))
  }

  /// The transactions that touched one object, oldest first. Throws `.otherStore` if it is one of
  /// another store.
  public func history(of object: ObjectID) throws(AnnalsError) -> History {
    try history(where: .touches(object))
  }

  /// The transaction with this number.
  ///
  /// Throws `.pruned`, `.lost` or `.beyondHead` if the store does not hold it.
  public func transaction(_ number: Int64) throws(AnnalsError) -> Transaction {
    try version.transaction(number)
  }

  /// The state at a position: after all transactions up to and including it.
  ///
  /// For a date, that after the longest prefix of history that ends with a transaction that counts,
  /// and whose counting timestamps are all at or before it. No transaction was made later than now:
  /// one with a timestamp beyond the store's clock does not count, so a clock that was ahead once
  /// hides nothing. A date later than now is answered as now.
  ///
  /// Costs the transactions between it and the nearest of the newest state and a checkpoint. Throws
  /// as `history(after:before:where:)` does; `.pruned` also for a date before that of the base.
  public func snapshot(at position: any HistoryPosition) throws(AnnalsError) -> Snapshot {
    let version = version
    return try version.snapshot(at: number(at: position, in: version))
      .with(clock: environment.clock)
  }

  /// The token of a position: of the transaction with a number, or as of a date.
  public func token(at position: any HistoryPosition) throws(AnnalsError) -> Token {
    let version = version
    return try version.token(of: number(at: position, in: version))
  }

  /// The transaction of a position in a version of this store, as `StoreVersion.number(at:_:)`
  /// finds it.
  package func number(
    at position: any HistoryPosition, in version: StoreVersion
  ) throws(AnnalsError) -> Int64 {
    try version.number(at: position.historyPlace, environment.clock)
  }
}

extension StoreVersion {
  /// The transaction of this number; throws as `Store.transaction(_:)` does.
  func transaction(_ number: Int64) throws(AnnalsError) -> Transaction {
    guard number > view.base else { throw pruned(number) }
    guard number <= view.head.number else { throw .beyondHead(number, head: view.head.number) }
    if let gap = view.gap(at: number) { throw .lost(number, gap) }
    let one = History(version: self, after: number - 1, through: number, condition: .always)
    var cursor = try one.makeCursor()
    guard let transaction = try cursor.next() else {
      throw AnnalsError(.damaged, "transaction \(number) cannot be found; verify the store")
    }
    return transaction
  }

  /// The last transaction up to and including a position whose state can be read. Reads the clock
  /// only for a date.
  ///
  /// No state within a gap can be read, except the one after it if it is known exactly, the newest,
  /// and the base. No state is known as of a date within a gap's time.
  package func number(
    at place: HistoryPlace, _ clock: () -> Timestamp
  ) throws(AnnalsError) -> Int64 {
    if let moment = try place.moment {
      let now = clock()
      let number = try number(asOf: moment, now: now)
      guard let gap = view.gap(at: number), number != view.base else { return number }
      guard number == view.head.number, moment >= min(gap.salvaged, now) else {
        throw .lost(number, gap)
      }
      return number
    }
    let number = try resolve(place)
    guard let gap = view.gap(at: number), number != view.base else { return number }
    let isKnown = number == view.head.number || number == gap.last && gap.isExact
    guard isKnown else { throw .lost(number, gap) }
    return number
  }

  /// The transaction after which history is wanted: as `number(at:_:)`, but everything after the
  /// last one of a gap is there.
  package func number(
    after place: HistoryPlace, _ clock: () -> Timestamp
  ) throws(AnnalsError) -> Int64 {
    if let moment = try place.moment {
      // A history by dates returns the gap itself.
      let number = try number(asOf: moment, now: clock())
      return view.gap(at: number).map { max($0.first - 1, view.base) } ?? number
    }
    let number = try resolve(place)
    if let gap = view.gap(at: number), number == gap.last { return number }
    return try self.number(at: place, clock)
  }

  /// The transaction of a token, after which history is wanted.
  package func number(after token: Token) throws(AnnalsError) -> Int64 {
    try number(after: .token(token)) { preconditionFailure("a token has no date") }
  }

  /// The transaction of a token, as `number(at:_:)` finds it.
  package func number(at token: Token) throws(AnnalsError) -> Int64 {
    try number(at: .token(token)) { preconditionFailure("a token has no date") }
  }

  private func resolve(_ place: HistoryPlace) throws(AnnalsError) -> Int64 {
    switch place.kind {
    case .token(let token):
      try validate(token)
      return token.number
    case .number(let number):
      guard number >= view.base else { throw pruned(number) }
      guard number <= view.head.number else { throw .beyondHead(number, head: view.head.number) }
      return number
    case .date, .noDate: preconditionFailure("a date has no number of its own")
    }
  }

  /// The last transaction strictly before a position. Reads the clock only for a date.
  ///
  /// Throws `.lost` within a gap, which cannot be divided.
  package func number(
    before place: HistoryPlace, _ clock: () -> Timestamp
  ) throws(AnnalsError) -> Int64 {
    if let moment = try place.moment {
      let now = clock()
      return try AnnalsError.translating { () throws(LogError) in
        try view.number(before: moment, now: now)
      }
    }
    let number = max(try resolve(place) - 1, view.base)
    if let gap = view.gap(at: number), number < gap.last, number != view.base {
      throw .lost(number, gap)
    }
    return number
  }

  /// The token of a transaction that the store holds, or of the base.
  package func token(of number: Int64) throws(AnnalsError) -> Token {
    let opening = try AnnalsError.translating { () throws(LogError) in
      try view.openingID(of: number)
    }
    return Token(store: store, number: number, opening: opening)
  }

  /// Throws if history cannot be read after a token, for any reason but a gap.
  func validate(_ token: Token) throws(AnnalsError) {
    guard token.store == store else { throw .otherStore(token: token, store: store) }
    guard token.number >= view.base else { throw pruned(token.number) }
    guard token.number <= view.head.number else {
      throw .beyondHead(token.number, head: view.head.number)
    }
    // Pruned history, and tokens without an opening, cannot be checked.
    guard token.opening != 0, token.number > view.base else { return }
    let found = try self.token(of: token.number)
    guard found.opening == token.opening || found.opening == 0 else {
      throw .lostBranch(token: token, lastShared: try lastShared(with: token))
    }
  }

  /// The last transaction before the token's that its opening wrote in this history too: up to
  /// there both histories are the same. Nil if the opening is not known here. O(length of history).
  private func lastShared(with token: Token) throws(AnnalsError) -> Token? {
    guard view.openings.contains(where: { $0.id == token.opening }) else { return nil }
    var found: Token?
    let earlier = History(
      version: self, after: view.base, through: token.number - 1, condition: .always
    ).reversed()
    try AnnalsError.narrowing {
      var cursor = try PartCursor(earlier)
      while found == nil, let part = try cursor.next() {
        if part.header.token.opening == token.opening { found = part.header.token }
      }
    }
    return found
  }
}
