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
  @inlinable @inline(__always) package var count: Int { rows.count }
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
    shared.reserveCapacity(entries.count)
    rest.reserveCapacity(entries.count)
    let leftOut = form == .whole ? IndexEntries.rowLength : 0
    entries.bytes.withUnsafeBytes { bytes in
      var previous = UnsafeRawBufferPointer(start: nil, count: 0)
      var start = 0
      for end in entries.ends {
        let key = UnsafeRawBufferPointer(rebasing: bytes[start..<Int(end) - leftOut])
        let common = SharedPrefix.length(previous, key)
        shared.append(UInt64(common))
        rest.append(UInt64(key.count - common))
        suffixes.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[common...]))
        previous = key
        start = Int(end)
      }
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
      throw reader.newer("a collation")
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
    let keys = FrontCodedKeys(
      shared: shared, rest: rest, suffixes: suffixes, rows: rows, length: Int(total),
      endsWithRow: header.content == .orderedIndex)
    guard let entries = keys.entries() else {
      throw .invalid(at: place, reason: "keys out of order")
    }
    return (header, entries)
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
