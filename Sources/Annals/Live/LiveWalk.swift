import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsQuery
import AnnalsState

/// Walks through history, transaction by transaction, with the state after each.
///
/// Holds one frame of the log; at its end only the state.
struct LiveWalk {
  /// The state after the last transaction.
  private(set) var snapshot: Snapshot
  /// The changes since the last step, and the number of transactions that made them.
  private var pending = ListChanges()
  private var transactionCount = 0
  /// Whether the schema changed since the last step.
  private(set) var hasNewSchema = false
  /// The state of the last step.
  private var start: State
  private var cursor: PartCursor?
  private var version: StoreVersion?
  private var condition: ResolvedCondition?
  /// The newest position when the walk reached its end.
  private(set) var end: Token

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    start = snapshot.reader.state
    end = snapshot.token
  }

  /// Whether nothing more can be read for now.
  var isAtEnd: Bool { cursor == nil }

  /// Continues to a version. Throws `.pruned` if it lacks the next transactions.
  mutating func begin(
    _ version: StoreVersion, _ condition: HistoryCondition
  ) throws(AnnalsError) {
    // Conditions decide what makes a step; everything is read.
    let history = History(
      version: version, after: try version.number(after: snapshot.token),
      through: version.head.number, condition: .always)
    cursor = try PartCursor(history)
    self.condition = ResolvedCondition(
      try condition.counting(snapshot.clock), in: history.glossary)
    self.version = version
  }

  /// Advances past the next transaction. Returns whether it makes a step; nil at the end.
  mutating func next() throws(AnnalsError) -> Bool? {
    guard let version, let condition else { return nil }
    var isStep = false
    var state = snapshot.reader.state
    while let part = try cursor?.next() {
      let record = part.record
      if let lost = record.lost { throw .lost(record.number, lost) }
      isStep = isStep || condition.matches(transaction: part.index, in: part.page.batch)
      try AnnalsError.translating {
        if record.part == 0, !record.schemaChange.isEmpty {
          state.changeSchema(record.schemaChange)
          hasNewSchema = true
        }
        try state.apply(record, of: part.page.batch, direction: .forward)
      }
      pending.append(part.page.batch, record.changeRange)
      if record.isContinued { continue }
      // Brings the indexes up to date.
      _ = try AnnalsError.translating { try state.checkUniqueness() }
      snapshot = Snapshot(
        reader: version.reader(of: state),
        position: LogPosition(
          number: record.number, timestamp: record.timestamp,
          maximumTimestamp: max(snapshot.position.maximumTimestamp, record.timestamp),
          openingID: part.transaction.token.opening), bindings: version.records
      ).with(clock: snapshot.clock)
      transactionCount += 1
      return isStep
    }
    end = version.token
    (cursor, self.version, self.condition) = (nil, nil, nil)
    return nil
  }

  /// The changes since the last step.
  func changes() throws(AnnalsError) -> ListChanges {
    var changes = pending
    changes.merge()
    guard transactionCount > 1 else { return changes }
    var start = start
    // What the earlier schema does not define yet is empty in its state, not missing.
    if hasNewSchema { start.setSchema(snapshot.schema) }
    let before = start
    return try AnnalsError.translating { try changes.net(from: before, to: snapshot.reader.state) }
  }

  /// Starts the next step.
  mutating func clear() {
    pending = ListChanges()
    transactionCount = 0
    hasNewSchema = false
    start = snapshot.reader.state
  }
}
