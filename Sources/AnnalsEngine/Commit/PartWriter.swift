import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// Appends a transaction's changes to the log, in parts if they are many; or keeps them in memory.
struct PartWriter {
  let log: LogFile
  /// The large values of the open transaction; nil to keep the parts in memory.
  let pending: PendingLargeValues?
  /// The parts that are kept in memory, but for the batch.
  private(set) var kept: [ChangeBatch] = []
  var batch: ChangeBatch
  /// The record's content besides the changes.
  var envelope: TransactionEnvelope
  private var partCount = 0

  init(
    log: LogFile, pending: PendingLargeValues?, envelope: TransactionEnvelope, batch: ChangeBatch
  ) {
    self.log = log
    self.pending = pending
    self.envelope = envelope
    self.batch = batch
  }

  /// Whether the batch still holds all changes.
  var isWhole: Bool { partCount == 0 }

  var hasChanges: Bool { partCount > 0 || !batch.changes.isEmpty }

  /// Moves out the batch's memory.
  mutating func takeBatch() -> ChangeBatch { batch.moveOut() }

  /// Appends the batch as a part that others follow, and empties it.
  mutating func appendPart() throws {
    guard let pending else {
      kept.append(takeBatch())
      partCount += 1
      return
    }
    try begin(pending)
    try log.appendPart(&batch, isLast: false)
    partCount += 1
    batch.removeAll()
  }

  /// Appends the rest as the last part and commits the transaction in the log.
  mutating func commit() throws {
    guard let pending else { preconditionFailure("what is kept in memory is not committed") }
    if partCount == 0, !pending.hasBegun {
      _ = try log.append(envelope, &batch)
      return
    }
    try begin(pending)
    try log.appendPart(&batch, isLast: true)
    _ = try log.commit()
  }

  private mutating func begin(_ pending: PendingLargeValues) throws {
    try pending.beginIfNeeded()
    if partCount == 0 { try log.describe(envelope) }
  }
}
