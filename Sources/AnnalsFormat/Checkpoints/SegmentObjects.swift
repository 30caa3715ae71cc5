import AnnalsModel

/// The objects that the changes of a segment of the history index are of. Every such object is
/// among them; others may be, too. All are where they are unknown.
///
/// FORMAT.md, "Checkpoints". Kept as it is in the file, and looked through when somebody asks: a
/// store is opened more often than it is asked for the history of one object.
package struct SegmentObjects: Hashable, Sendable {
  /// For each entity, rising: its number, how many ranges of rows, and these.
  private let bytes: ContiguousArray<UInt8>

  /// Objects that are not known.
  package static let unknown = SegmentObjects(bytes: [])

  /// So many ranges a byte at most: what a reader decodes is bounded by what it reads.
  private static let rangesInByte = 8

  private init(bytes: ContiguousArray<UInt8>) { self.bytes = bytes }

  /// The objects in ranges that rise by entity and row and do not meet; nil if these are too many.
  package init?(_ ranges: ContiguousArray<RowRange>) {
    guard ranges.count <= RowRange.maximumCount else { return nil }
    var bytes: ContiguousArray<UInt8> = []
    var start = 0
    while start < ranges.count {
      let entity = ranges[start].entity
      let end = ranges[start...].firstIndex { $0.entity != entity } ?? ranges.count
      bytes.append(varInt: UInt64(entity))
      bytes.append(count: end - start)
      let ofEntity = ranges[start..<end]
      for numbers in [ofEntity.map(\.first), ofEntity.map { $0.last - $0.first }] {
        numbers.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
      }
      start = end
    }
    guard ranges.count <= bytes.count * SegmentObjects.rangesInByte else { return nil }
    self.bytes = bytes
  }

  /// Whether changes of the segment may be of one of these objects. Throws where the bytes are no
  /// such list. O(bytes + objects · log ranges).
  package func mayContain(any objects: [ObjectReference]) throws(DecodeFault) -> Bool {
    var result = bytes.isEmpty
    try forEachEntity { entity, rows in
      for object in objects where object.entity == entity && !result {
        let place = rows.firsts.rank { $0 <= object.row } - 1
        result = place >= 0 && object.row - rows.firsts[place] <= rows.lengths[place]
      }
    }
    return result
  }

  /// The ranges, rising; none if they are unknown. Throws where the bytes are no such list.
  package func ranges() throws(DecodeFault) -> ContiguousArray<RowRange> {
    var result: ContiguousArray<RowRange> = []
    try forEachEntity { entity, rows in
      for (first, length) in zip(rows.firsts, rows.lengths) {
        result.append(RowRange(entity, first...first + length))
      }
    }
    return result
  }

  /// The ranges of one entity: the first row of each, and the last less the first.
  private typealias Rows = (
    firsts: UnsafeBufferPointer<Int64>, lengths: UnsafeBufferPointer<Int64>
  )

  /// Decodes the list, and checks that it rises.
  private func forEachEntity(_ body: (EntityNumber, Rows) -> Void) throws(DecodeFault) {
    try bytes.withBytes { bytes throws(DecodeFault) in
      var reader = ByteReader(bytes)
      var last: EntityNumber = 0
      var limit = min(RowRange.maximumCount, bytes.count * SegmentObjects.rangesInByte)
      while reader.remaining > 0 {
        let entity = try reader.readVarUInt32()
        guard entity > last else { throw reader.invalid("entities out of order") }
        last = entity
        let count = try reader.readCount(limit: limit, minimumLength: 0)
        limit -= count
        let numbers = UnsafeMutableBufferPointer<Int64>.allocate(capacity: 2 * count)
        defer { numbers.deallocate() }
        let firsts = UnsafeMutableBufferPointer(rebasing: numbers[..<count])
        let lengths = UnsafeMutableBufferPointer(rebasing: numbers[count...])
        try IntegerColumn.decode(&reader, into: firsts)
        try IntegerColumn.decode(&reader, into: lengths)
        let rows = (UnsafeBufferPointer(firsts), UnsafeBufferPointer(lengths))
        guard SegmentObjects.rise(rows) else { throw reader.invalid("ranges of rows out of order") }
        body(entity, rows)
      }
    }
  }

  private static func rise(_ rows: Rows) -> Bool {
    var end: Int64 = 0
    for (first, length) in zip(rows.firsts, rows.lengths) {
      guard first > end, length >= 0, first <= FormatLimits.maximumRow,
        length <= FormatLimits.maximumRow - first
      else { return false }
      end = first + length
    }
    return end > 0
  }
}

extension SegmentObjects: TableEntry {
  package static var minimumLength: Int { 1 }

  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    self.bytes.withUnsafeBytes { bytes.append(sized: $0) }
  }

  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    bytes = ContiguousArray(try reader.readSizedBytes())
  }

  /// A chunk holds about 4 KiB of them: what does not fill one is read whenever a store is opened.
  package var weight: Int { 1 + bytes.count / 4 }
}

/// Consecutive rows of an entity.
package struct RowRange: Hashable, Sendable {
  package let entity: EntityNumber
  package let first: Int64
  package let last: Int64

  /// The greatest count of ranges in a segment.
  package static let maximumCount = 1 << 13

  @inlinable
  package init(_ entity: EntityNumber, _ rows: ClosedRange<Int64>) {
    self.entity = entity
    first = rows.lowerBound
    last = rows.upperBound
  }
}

/// The objects of the segments of the history index, from one segment on to the last.
package struct SegmentObjectsDirectory: Sendable {
  /// The place of the first of these segments in the history index, from 0.
  package var firstSegment: UInt64
  package var table: TableDirectory<SegmentObjects>

  package init(firstSegment: UInt64, _ table: TableDirectory<SegmentObjects>) {
    self.firstSegment = firstSegment
    self.table = table
  }

  /// The item of the directory's extension area.
  func encode() -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: firstSegment)
    table.encode(into: &bytes)
    return bytes
  }

  init(_ reader: inout ByteReader) throws(DecodeFault) {
    firstSegment = try reader.readVarUInt62()
    table = try TableDirectory(&reader)
  }
}
