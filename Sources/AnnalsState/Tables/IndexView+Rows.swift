import AnnalsFormat
import AnnalsModel

// Many rows of an index at once: leaf by leaf, without a step for each.

extension IndexView {
  /// The rows of a range of places, from the last to the first if `isBackward`. O(log n) and the
  /// rows read.
  ///
  /// If `reversesTies`, places are those of the order in which objects with the same values come by
  /// falling rows.
  package func rows(
    in places: Range<Int>, isBackward: Bool, reversesTies: Bool
  ) throws(StateFault) -> [Int64] {
    let places = places.clamped(to: 0..<count)
    if places.isEmpty { return [] }
    if var rows = try rows(in: places, reversesTies: reversesTies && !shape.isUnique) {
      if isBackward { rows.reverse() }
      return rows
    }
    var rows: [Int64] = []
    rows.reserveCapacity(places.count)
    try forEachRow(in: places, isBackward: isBackward, reversesTies: reversesTies) {
      (row: Int64) throws(StateFault) in
      rows.append(row)
      return true
    }
    return rows
  }

  /// How many rows more than asked for may be read since they have the same values.
  private static let tieLimit = 1024

  /// The rows in the order of places; nil if a key says less than the values do, or if very many
  /// have the same values as the first or the last.
  private func rows(
    in places: Range<Int>, reversesTies: Bool
  ) throws(StateFault) -> [Int64]? {
    var read = places
    if reversesTies {
      var reader = PlaceReader(self)
      let first = try reader.ties(at: places.lowerBound)
      let last = try reader.ties(at: places.upperBound - 1)
      read = first.lowerBound..<last.upperBound
      if read.count - places.count > IndexView.tieLimit { return nil }
    }
    var rows: [Int64] = []
    rows.reserveCapacity(read.count)
    var runs = TieRuns()
    var mayBeCut = false
    try index.tree.forEachLeaf(in: read) { span in
      let (entries, start) = (span.leaf.entries, span.start)
      let some = max(0, read.lowerBound - start)..<min(entries.count, read.upperBound - start)
      rows.append(contentsOf: entries.rows[some])
      guard !shape.isUnique, !mayBeCut else { return }
      // Nothing shorter than a text's limit is cut.
      mayBeCut = entries.hasKey(longerThan: KeyBytes.textLimit)
      if reversesTies { runs.reverse(in: &rows, entries, some) }
    }
    if mayBeCut { return nil }
    runs.end(in: &rows)
    if read == places { return rows }
    let first = places.lowerBound - read.lowerBound
    return Array(rows[first..<first + places.count])
  }
}

/// Turns rows round that have the same values, as they are read.
private struct TieRuns {
  /// Where in the rows the run begins that was read last.
  private var start = 0
  /// The values that it has; what leaves are joined by.
  private var values: ContiguousArray<UInt8> = []

  /// Goes on by some entries of a leaf, whose rows were just appended.
  mutating func reverse(in rows: inout [Int64], _ entries: LeafEntries, _ some: Range<Int>) {
    if some.isEmpty { return }
    entries.bytes.withUnsafeBytes { bytes in
      let goesOn = values.withUnsafeBytes {
        $0.hasSameBytes(as: entries.values(some.lowerBound, in: bytes))
      }
      let place = rows.count - some.count
      if !goesOn { endRun(at: place, in: &rows) }
      // Two words have all of a number's or a date's value.
      let width = entries.length - IndexEntries.rowLength
      if (8...16).contains(width), let start = bytes.baseAddress {
        endRuns(in: &rows, some, at: place) { entry in
          let key = start + entry * entries.length
          let before = key - entries.length
          return key.word(at: width - 8) == before.word(at: width - 8)
            && key.word(at: 0) == before.word(at: 0)
        }
      } else {
        endRuns(in: &rows, some, at: place) { entry in
          entries.values(entry, in: bytes).hasSameBytes(as: entries.values(entry - 1, in: bytes))
        }
      }
      values = ContiguousArray(entries.values(some.upperBound - 1, in: bytes))
    }
  }

  /// Ends runs between entries, the first of whose rows is at a place, that have not the same
  /// values as the one before.
  @inline(__always)
  private mutating func endRuns(
    in rows: inout [Int64], _ some: Range<Int>, at place: Int, unless isSame: (Int) -> Bool
  ) {
    for entry in some.dropFirst() where !isSame(entry) {
      endRun(at: place + entry - some.lowerBound, in: &rows)
    }
  }

  @inline(__always)
  private mutating func endRun(at place: Int, in rows: inout [Int64]) {
    if place - start > 1 { rows[start..<place].reverse() }
    start = place
  }

  /// Turns the last run round.
  func end(in rows: inout [Int64]) {
    if rows.count - start > 1, !values.isEmpty { rows[start...].reverse() }
  }
}

extension LeafEntries {
  /// What an entry of an ordered index holds but the row.
  @inline(__always)
  fileprivate func values(
    _ entry: Int, in bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let range = range(entry)
    return UnsafeRawBufferPointer(
      rebasing: bytes[range.lowerBound..<range.upperBound - IndexEntries.rowLength])
  }
}

extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }
}
