import AnnalsFormat
import AnnalsLog
import AnnalsModel

/// One of two histories that are read side by side: transaction by transaction, change by change,
/// however they are divided into frames and parts.
struct HistorySide {
  let version: StoreVersion
  /// The record of the present transaction.
  private(set) var record = TransactionRecord(number: 0, timestamp: Timestamp(microseconds: 0))
  /// What the indexes that `nextChange` returns refer to.
  private(set) var batch = ChangeBatch()
  private var cursor: FrameHistoryReader
  private var index = -1
  private var change = 0

  /// The transactions of a version after one number, up to another.
  init(_ version: StoreVersion, after: Int64, through last: Int64) throws(LogError) {
    self.version = version
    cursor = try version.view.history(after: after, through: last)
  }

  /// Goes on to the next transaction, or gap. Returns false if there is none.
  mutating func advance() throws(LogError) -> Bool {
    while try turn() {
      if batch.transactions[index].part == 0 {
        record = batch.transactions[index]
        return true
      }
    }
    return false
  }

  /// Goes on until the present transaction, or gap, has this number or a later one. Returns false
  /// if there is none.
  mutating func advance(to number: Int64) throws(LogError) -> Bool {
    while record.number < number { if try !advance() { return false } }
    return true
  }

  /// The next change of the present transaction; nil if there is none.
  mutating func nextChange() throws(LogError) -> ChangeEntry? {
    while index >= 0 {
      if change < batch.transactions[index].changeRange.upperBound {
        defer { change += 1 }
        return batch.changes[change]
      }
      guard batch.transactions[index].isContinued, try turn() else { return nil }
    }
    return nil
  }

  /// Goes on to the next record of a transaction, or of a part of one.
  private mutating func turn() throws(LogError) -> Bool {
    index += 1
    while !batch.transactions.indices.contains(index) {
      guard try cursor.next(into: &batch) else { return false }
      index = 0
    }
    change = batch.transactions[index].changeRange.lowerBound
    return true
  }
}
