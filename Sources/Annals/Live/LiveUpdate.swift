import AnnalsModel

/// One step of a live view: the rows now, and what made them of the rows before.
public struct LiveUpdate<Row: Sendable>: Sendable {
  /// The rows.
  public let rows: RowList<Row>
  /// What makes these rows of those of the update before; of no rows in the first.
  public let diff: ListDiff
  /// Whether this is the first update of an iterator.
  public let isInitial: Bool

  /// The position in history of which this is the state.
  public var token: Token { rows.token }
}

/// What a live view does with transactions that come quicker than its updates are read.
public enum LiveSteps: Hashable, Sendable {
  /// What was missed makes one step. Nothing is queued: the state of the last update is kept, also
  /// where history is pruned meanwhile.
  case latest
  /// Each transaction that changes the rows makes a step of its own, read from the log. Throws
  /// `.pruned` if what was missed is pruned meanwhile.
  case everyTransaction
}
