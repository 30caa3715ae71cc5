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
  ///
  /// Reads the parts of the log, of about 64 KiB each, that have a change of the object, and a list
  /// of the objects of each part; all of the log where that is short, or has no such list yet.
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

  /// For each property of an object that has a value, or had one since the object was inserted, who
  /// set or cleared it last.
  ///
  /// Reads the object's history backward to its insertion, or until every property is accounted
  /// for, skipping what cannot concern the object; and at a position in the past it costs what
  /// `snapshot(at:)` does.
  ///
  /// - Parameters:
  ///   - object: the object's identity; it may be deleted.
  ///   - position: a token, a number or a date; nil is the newest position.
  /// - Returns: the lines as of that position; of an object deleted by then, those of its end.
  /// - Throws: `.otherStore` for an object of another store; `.noSuchObject` if there was no such
  ///   object by then, or if all that the store knew of it is pruned; as `snapshot(at:)` does for
  ///   the position, and `.damaged` or `.io` if history cannot be read.
  public func blame(
    _ object: ObjectID, at position: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> Blame {
    let version = version
    try object.requireOwn(version.store)
    return try version.blame(object, at: number(atOrNewest: position, in: version))
  }

  /// The net difference between the states at two positions, in either order. Names are those of
  /// the later schema. What was removed from it in between differs like everything else: values
  /// were cleared, objects deleted.
  ///
  /// Costs the transactions between them, and making the two states. Throws as
  /// `history(after:before:where:)` does.
  public func diff(
    from first: any HistoryPosition, to second: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> StateDifference {
    let version = version
    return try version.difference(
      from: number(at: first, in: version), to: number(atOrNewest: second, in: version))
  }

  private func number(
    atOrNewest position: (any HistoryPosition)?, in version: StoreVersion
  ) throws(AnnalsError) -> Int64 {
    guard let position else { return version.view.head.number }
    return try number(at: position, in: version)
  }

  /// The transaction of a position in a version of this store, as `StoreVersion.number(at:_:)`
  /// finds it.
  package func number(
    at position: any HistoryPosition, in version: StoreVersion
  ) throws(AnnalsError) -> Int64 {
    try version.number(at: position.historyPlace, environment.clock)
  }
}
