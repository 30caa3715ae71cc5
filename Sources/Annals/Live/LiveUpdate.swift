import AnnalsModel

/// One update of a live view: the current rows, and the difference from the previous ones.
public struct LiveUpdate<Row: Sendable>: Sendable {
  /// The rows.
  public let rows: RowList<Row>
  /// The difference from the rows of the previous update; from no rows in the first.
  public let diff: ListDiff
  /// Whether this is the iterator's first update.
  public let isInitial: Bool

  /// The position in history of the rows' state.
  public var token: Token { rows.token }
}

extension LiveUpdate: CustomStringConvertible {
  /// How many rows there are and what changed: `3 rows as of transaction 7: 1 inserted, 0 deleted,
  /// 0 moved, 2 changed`.
  public var description: String {
    "\(rows.count) \(rows.count == 1 ? "row" : "rows") as of transaction \(token.number): \(diff)"
  }
}

/// How a live view treats transactions that arrive faster than its updates are read.
public enum LiveDelivery: Hashable, Sendable {
  /// Merges missed transactions into one update. Nothing is queued: the state of the last update is
  /// kept, even if history is pruned meanwhile.
  case latest
  /// Makes an update for each transaction that changes the rows, read from the log. Throws
  /// `.pruned` if missed transactions are pruned meanwhile.
  case everyTransaction
}
