import AnnalsFormat
import AnnalsModel

// Finding transactions by number and by date, through the history index.

extension LogView {
  /// The position of a transaction, or of the base. Reads one segment of the log. Throws `outside`
  /// if the file does not hold it.
  package func position(of number: Int64) throws(LogError) -> LogPosition {
    if number == head.number { return head }
    guard number >= base, number < head.number else {
      throw .outside(base: base, head: head.number)
    }
    if number == base {
      let directory = try baseDirectory()
      let header = file.header
      return LogPosition(
        number: base, timestamp: directory?.timestamp ?? header.baseTimestamp,
        maximumTimestamp: header.greatestTimestamp, openingID: directory?.openingID ?? 0)
    }
    let entry = try index.entry(at: segment(of: number), in: file)
    var maximum = entry.maximumTimestamp
    var result: LogPosition?
    try forEachTransaction(after: entry.firstNumber - 1, through: number) { record in
      maximum = max(maximum, record.timestamp)
      result = LogPosition(
        number: record.number, timestamp: record.timestamp, maximumTimestamp: maximum,
        openingID: opening(record.opening)?.id ?? 0)
      return true
    }
    guard let result, result.number == number else {
      throw .damage(at: entry.offset, "transaction \(number) is not here")
    }
    return result
  }

  /// The id of the opening that wrote a transaction, or the base; 0 where there is none. O(1) for
  /// one of the last that one opening wrote, else as `position(of:)`, and throws as that does.
  package func openingID(of number: Int64) throws(LogError) -> UInt64 {
    if number >= tables.openingStart, number <= head.number { return head.openingID }
    return try position(of: number).openingID
  }

  /// The last transaction of the longest prefix of history whose timestamps are all at or before
  /// `date`; the base if there is none. Reads one segment of the log.
  package func number(asOf date: Timestamp) throws(LogError) -> Int64 {
    try lastNumber { $0 > date }
  }

  /// The last transaction of the longest prefix of history whose timestamps are all before `date`;
  /// the base if there is none. Reads one segment of the log.
  package func number(before date: Timestamp) throws(LogError) -> Int64 {
    try lastNumber { $0 >= date }
  }

  /// The last transaction before the first one whose timestamp is too late.
  private func lastNumber(isTooLate: (Timestamp) -> Bool) throws(LogError) -> Int64 {
    if !isTooLate(head.maximumTimestamp) { return head.number }
    let next = try index.partitioningIndex(in: file) { isTooLate($0.maximumTimestamp) }
    // The maximum before the first entry is the base's: if the base is too late itself, it is the
    // answer.
    guard next > 0 else { return base }
    let entry = try index.entry(at: next - 1, in: file)
    var last = entry.firstNumber - 1
    try forEachTransaction(after: last, through: head.number) { record in
      if isTooLate(record.timestamp) {
        last = record.firstNumber - 1
        return false
      }
      last = record.number
      return true
    }
    return last
  }

  var index: GrowingTable<HistoryIndexEntry> { tables.index.table }

  /// The index of the segment that holds a transaction of the file.
  func segment(of number: Int64) throws(LogError) -> Int {
    let next = try index.partitioningIndex(in: file) { $0.firstNumber > number }
    guard index.count > 0 else {
      throw .damage(at: FormatLimits.logStart, "the history index has a gap")
    }
    // The index lists a gap record under the last number that it covers, so an earlier number may
    // precede the first segment.
    return max(next, 1) - 1
  }

  private func forEachTransaction(
    after: Int64, through: Int64, _ body: (TransactionRecord) -> Bool
  ) throws(LogError) {
    var cursor = try history(after: after, through: through)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        guard body(record) else { return }
      }
    }
  }
}
