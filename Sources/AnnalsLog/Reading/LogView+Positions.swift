import AnnalsFormat
import AnnalsModel

// Finding transactions by number, through the history index.

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
    let segment = try segment(of: number)
    let entry = try entry(ofSegment: segment)
    var maximum = try greatestTimestamp(beforeSegment: segment)
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

  var index: GrowingTable<HistoryIndexEntry> { tables.index.table }

  /// The entry of a segment.
  func entry(ofSegment place: Int) throws(LogError) -> HistoryIndexEntry {
    var entry = try index.entry(at: place, in: file)
    if place == index.count - 1 { complete(&entry) }
    return entry
  }

  /// The objects among which those of a segment's changes are; nil if they are not known. Reads a
  /// chunk of them unless it was read last.
  package func objects(ofSegment place: Int) throws(LogError) -> SegmentObjects? {
    let known = tables.index
    let place = place - known.firstSegmentOfObjects
    guard place >= 0, place < known.objects.count else { return nil }
    return try known.objects.entry(at: place, in: file)
  }

  /// Whether changes of a segment may be of one of these objects. True where the segment's cannot
  /// be read: they only save reading it.
  func mayChange(_ wanted: [ObjectReference], inSegment place: Int) -> Bool {
    guard let objects = try? objects(ofSegment: place) else { return true }
    return (try? objects.mayContain(any: wanted)) ?? true
  }

  /// Adds to the last entry what was absorbed since it was noted.
  func complete(_ last: inout HistoryIndexEntry) {
    last.maximumTimestamp = max(last.maximumTimestamp, tables.segmentMaximum)
  }

  /// The greatest timestamp before a segment, that of the base included. Reads the chunks of the
  /// index before it the first time, one for 64 MiB of log.
  func greatestTimestamp(beforeSegment place: Int) throws(LogError) -> Timestamp {
    var greatest = file.header.greatestTimestamp
    var first = 0
    for (chunk, reference) in index.chunks.enumerated() {
      let end = first + Int(reference.count)
      if end > place {
        let rest = try index.entries(ofChunk: chunk, in: file).prefix(place - first)
        return max(greatest, rest.greatest)
      }
      greatest = max(greatest, try tables.index.greatest(ofChunk: chunk, in: file))
      first = end
    }
    return max(greatest, index.entries.prefix(place - first).greatest)
  }

  /// The first segment with a timestamp of `limit` or later; nil if there is none. Reads as
  /// `greatestTimestamp(beforeSegment:)`.
  func firstSegment(reaching limit: Timestamp) throws(LogError) -> Int? {
    var first = 0
    for (chunk, reference) in index.chunks.enumerated() {
      if try tables.index.greatest(ofChunk: chunk, in: file) >= limit {
        let entries = try index.entries(ofChunk: chunk, in: file)
        if let place = entries.firstIndex(where: { $0.maximumTimestamp >= limit }) {
          return first + place
        }
      }
      first += Int(reference.count)
    }
    if let place = index.entries.firstIndex(where: { $0.maximumTimestamp >= limit }) {
      return first + place
    }
    return tables.segmentMaximum >= limit && index.count > 0 ? index.count - 1 : nil
  }

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

  /// Runs `body` on the records of a range of history until it returns false; those that the filter
  /// skips are left out.
  func forEachTransaction(
    after: Int64, through: Int64, direction: HistoryDirection = .forward,
    skipping filter: HistoryFilter = .none, _ body: (TransactionRecord) -> Bool
  ) throws(LogError) {
    var cursor = try history(
      after: after, through: through, direction: direction, skipping: filter)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        guard body(record) else { return }
      }
    }
  }
}
