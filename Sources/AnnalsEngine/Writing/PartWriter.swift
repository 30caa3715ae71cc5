import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// Hands a transaction's changes to the log, part by part if they are many.
struct PartWriter {
  let log: LogFile
  let pending: PendingLargeValues
  var batch: ChangeBatch
  /// What the record says besides the changes.
  let draft: TransactionDraft
  private var partCount = 0

  init(
    log: LogFile, pending: PendingLargeValues, draft: TransactionDraft, batch: ChangeBatch
  ) {
    self.log = log
    self.pending = pending
    self.draft = draft
    self.batch = batch
  }

  /// Whether the batch has all changes.
  var isWhole: Bool { partCount == 0 }

  var hasChanges: Bool { partCount > 0 || !batch.changes.isEmpty }

  /// Gives the batch's memory back.
  mutating func takeBatch() -> ChangeBatch {
    var result = ChangeBatch()
    swap(&result, &batch)
    return result
  }

  /// Appends what the batch holds as a part that others follow, and empties it.
  mutating func appendPart() throws {
    try begin()
    try log.appendPart(&batch, isLast: false)
    partCount += 1
    batch.removeAll()
  }

  /// Appends what is left and ends the transaction.
  mutating func finish() throws -> LogPosition {
    if partCount == 0, !pending.hasBegun { return try log.append(draft, &batch) }
    try begin()
    try log.appendPart(&batch, isLast: true)
    return try log.finish()
  }

  private mutating func begin() throws {
    try pending.beginIfNeeded()
    if partCount == 0 { try log.describe(draft) }
  }
}
