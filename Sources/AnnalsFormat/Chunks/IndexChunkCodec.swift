import AnnalsModel

/// How much of its keys an index holds.
package enum IndexForm: Sendable {
  /// Only what distinguishes each from its neighbours; the rest is in the columns. For unique
  /// indexes.
  case beginnings
  /// All of them, so that entries order by themselves. For ordered indexes.
  case whole

  /// What chunks of this form say that they hold.
  package var content: ChunkContent { self == .whole ? .orderedIndex : .uniqueIndex }
}

/// A run of an index's entries: keys rising, each with the row of its object.
///
/// No key held is the beginning of the next. Those of an ordered index end with the row, so that
/// all differ; a chunk leaves that out, since it has the rows anyway.
@frozen
package struct IndexEntries: Equatable, Sendable {
  /// The bytes of the keys, joined.
  package var bytes: ContiguousArray<UInt8> = []
  /// Where each key ends in `bytes`.
  package var ends: ContiguousArray<UInt32> = []
  package var rows: ContiguousArray<Int64> = []

  @inlinable
  package init() {}

  /// How many bytes the row takes at the end of the key of an ordered index: the row less 1, most
  /// significant byte first.
  package static let rowLength = 5

  /// How many entries there are.
  @inlinable package var count: Int { rows.count }
}

/// Encodes and decodes the entries of an index in a chunk.
///
/// After the header: a byte for the collation (0), number lists of how many bytes each key shares
/// with the one before and how many follow, a section of those that follow, and a number list of
/// the rows. The header gives the form of the keys. FORMAT.md, "Index chunks".
package enum IndexChunkCodec {
  /// The most bytes of a key that an index may hold.
  package static let maximumKeyLength = 1 << 20

  /// Appends a chunk with these entries; there is at least one.
  package static func encode(
    _ entries: IndexEntries, form: IndexForm, entity: EntityNumber, rule: PropertyNumber,
    into output: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    ChunkHeader(
      content: form.content, entity: entity, property: rule, firstRow: 0, count: entries.count
    ).encode(into: &output)
    output.append(0)
    var shared: ContiguousArray<UInt64> = []
    var rest: ContiguousArray<UInt64> = []
    var suffixes: ContiguousArray<UInt8> = []
    var previous = 0..<0
    var start = 0
    let leftOut = form == .whole ? IndexEntries.rowLength : 0
    for end in entries.ends {
      let span = start..<Int(end) - leftOut
      let common = sharedLength(previous, span, in: entries)
      shared.append(UInt64(common))
      rest.append(UInt64(span.count - common))
      suffixes.append(contentsOf: entries.bytes[span.lowerBound + common..<span.upperBound])
      previous = span
      start = Int(end)
    }
    NumberList.append(shared, to: &output, deflate: &deflate)
    NumberList.append(rest, to: &output, deflate: &deflate)
    ChunkSection.append(suffixes, to: &output, deflate: &deflate)
    let rows = ContiguousArray(entries.rows.map(UInt64.init(bitPattern:)))
    NumberList.append(rows, to: &output, deflate: &deflate)
  }

  /// Reads a chunk. The keys of what it returns rise, and none is the beginning of the next.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> (header: ChunkHeader, entries: IndexEntries) {
    var reader = ByteReader(payload)
    var inflate = Inflate()
    let header = try ChunkHeader(&reader)
    guard header.content.isIndex else { throw .invalid(at: 0, reason: "another kind of chunk") }
    guard try reader.readUInt8() == 0 else {
      throw reader.invalid("a collation that this version does not know")
    }
    let place = reader.offset
    let shared = try NumberList.read(&reader, count: header.count, inflate: &inflate)
    let rest = try NumberList.read(&reader, count: header.count, inflate: &inflate)
    let limit = UInt64(FormatLimits.maximumDecodedLength)
    var total: UInt64 = 0
    var previous: UInt64 = 0
    var fresh: UInt64 = 0
    for (shared, rest) in zip(shared, rest) {
      guard shared <= previous, rest <= UInt64(maximumKeyLength) - min(shared, 1 << 20) else {
        throw .invalid(at: place, reason: "a key of the wrong length")
      }
      previous = shared + rest
      guard previous <= limit - total else { throw .tooLarge(at: place, limit: limit) }
      total += previous
      fresh += rest
    }
    let suffixes = try ChunkSection.read(&reader, count: Int(fresh), inflate: &inflate)
    let rows = try NumberList.read(&reader, count: header.count, inflate: &inflate)
    guard rows.allSatisfy({ $0 >= 1 && $0 <= UInt64(FormatLimits.maximumRow) }) else {
      throw reader.invalid("a row out of range")
    }
    try reader.expectEnd()
    var entries = IndexEntries()
    let lengths = ContiguousArray(zip(shared, rest).map { $0 + $1 })
    entries.bytes = FrontCoding.join(suffixes, lengths: lengths, shared: shared)
    var end: UInt32 = 0
    entries.ends = ContiguousArray(
      lengths.map {
        end += UInt32($0)
        return end
      })
    entries.rows = ContiguousArray(rows.map { Int64($0) })
    if header.content == .orderedIndex { entries.appendRows() }
    guard isRising(entries) else { throw .invalid(at: place, reason: "keys out of order") }
    return (header, entries)
  }

  /// How many bytes two keys share at their beginning.
  private static func sharedLength(
    _ a: Range<Int>, _ b: Range<Int>, in entries: IndexEntries
  ) -> Int {
    entries.bytes.withUnsafeBytes {
      SharedPrefix.length(
        UnsafeRawBufferPointer(rebasing: $0[a]), UnsafeRawBufferPointer(rebasing: $0[b]))
    }
  }

  private static func isRising(_ entries: IndexEntries) -> Bool {
    var previous = 0..<0
    var start = 0
    for (index, end) in entries.ends.enumerated() {
      let span = start..<Int(end)
      if index > 0 {
        let common = sharedLength(previous, span, in: entries)
        guard common < min(previous.count, span.count),
          entries.bytes[previous.lowerBound + common] < entries.bytes[span.lowerBound + common]
        else { return false }
      }
      previous = span
      start = span.upperBound
    }
    return true
  }
}

extension ContiguousArray<UInt8> {
  /// Appends a row as it stands at the end of the key of an ordered index.
  @inlinable @inline(__always)
  package mutating func append(row: Int64) {
    // Not by `rowLength`: the numbers must be known where this is inlined.
    let number = UInt64(bitPattern: row &- 1) << 24
    Swift.withUnsafeBytes(of: number.bigEndian) {
      append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<5]))
    }
  }
}

extension IndexEntries {
  /// Appends to each key its row.
  fileprivate mutating func appendRows() {
    var result: ContiguousArray<UInt8> = []
    result.reserveCapacity(bytes.count + count * IndexEntries.rowLength)
    var start = 0
    for index in 0..<count {
      let end = Int(ends[index])
      result.append(contentsOf: bytes[start..<end])
      result.append(row: rows[index])
      ends[index] = UInt32(result.count)
      start = end
    }
    bytes = result
  }
}
