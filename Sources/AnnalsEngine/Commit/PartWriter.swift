import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// Appends a transaction's changes to the log, in parts if they are many.
struct PartWriter {
  let log: LogFile
  let pending: PendingLargeValues
  var batch: ChangeBatch
  /// The record's content besides the changes.
  var envelope: TransactionEnvelope
  private var partCount = 0

  init(
    log: LogFile, pending: PendingLargeValues, envelope: TransactionEnvelope, batch: ChangeBatch
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
  mutating func takeBatch() -> ChangeBatch {
    var result = ChangeBatch()
    swap(&result, &batch)
    return result
  }

  /// Appends the batch as a part that others follow, and empties it.
  mutating func appendPart() throws {
    try begin()
    try log.appendPart(&batch, isLast: false)
    partCount += 1
    batch.removeAll()
  }

  /// Appends the rest as the last part and commits the transaction in the log.
  mutating func commit() throws {
    if partCount == 0, !pending.hasBegun {
      _ = try log.append(envelope, &batch)
      return
    }
    try begin()
    try log.appendPart(&batch, isLast: true)
    _ = try log.commit()
  }

  private mutating func begin() throws {
    try pending.beginIfNeeded()
    if partCount == 0 { try log.describe(envelope) }
  }
}
