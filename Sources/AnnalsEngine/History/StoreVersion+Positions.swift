import AnnalsFormat
import AnnalsLog
import AnnalsModel

// Positions in history: tokens, numbers and dates become transaction numbers of this history.

extension StoreVersion {
  /// The transaction of this number; throws as `Store.transaction(_:)` does.
  package func transaction(_ number: Int64) throws(AnnalsError) -> Transaction {
    var cursor = try history(of: number).makeCursor()
    guard let transaction = try cursor.next() else {
      throw AnnalsError(.damaged, "transaction \(number) cannot be found; verify the store")
    }
    return transaction
  }

  /// The history of one transaction alone, to read frame by frame. Throws as `transaction(_:)`,
  /// before it reads.
  package func history(of number: Int64) throws(AnnalsError) -> History {
    guard number > view.base else { throw pruned(number) }
    guard number <= view.head.number else { throw .beyondHead(number, head: view.head.number) }
    if let gap = view.gap(at: number) { throw .lost(number, gap) }
    return History(version: self, after: number - 1, through: number, condition: .always)
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
      return try AnnalsError.translating { try view.number(before: moment, now: now) }
    }
    let number = max(try resolve(place) - 1, view.base)
    if let gap = view.gap(at: number), number < gap.last, number != view.base {
      throw .lost(number, gap)
    }
    return number
  }

  /// The token of a transaction that the store holds, or of the base.
  package func token(of number: Int64) throws(AnnalsError) -> Token {
    let opening = try AnnalsError.translating { try view.openingID(of: number) }
    return Token(store: store, number: number, opening: opening)
  }

  /// Throws if history cannot be read after a token, for any reason but a gap.
  package func validate(_ token: Token) throws(AnnalsError) {
    guard token.store == store else { throw .otherStore(token: token, store: store) }
    guard token.number >= view.base else { throw pruned(token.number) }
    guard token.number <= view.head.number else {
      throw .beyondHead(token.number, head: view.head.number)
    }
    // Tokens without an opening cannot be checked.
    guard token.opening != 0 else { return }
    let found = try self.token(of: token.number)
    guard found.opening == token.opening || found.opening == 0 else {
      throw .lostBranch(token: token, lastShared: try lastShared(with: token))
    }
  }

  /// The last transaction before the token's that its opening wrote in this history too: up to
  /// there both histories are the same. Nil if the opening is not known here. O(length of history).
  private func lastShared(with token: Token) throws(AnnalsError) -> Token? {
    guard token.number > view.base, view.openings.contains(where: { $0.id == token.opening })
    else { return nil }
    var found: Token?
    let earlier = History(
      version: self, after: view.base, through: token.number - 1, condition: .always
    ).reversed()
    try AnnalsError.translating {
      var cursor = try PartCursor(earlier, withChanges: false)
      while found == nil, let part = try cursor.next() {
        if part.header.token.opening == token.opening { found = part.header.token }
      }
    }
    return found
  }
}
