import AnnalsModel

// Byte string runs as chunks hold them: of values that lie joined in memory.

extension BytesColumn {
  /// The run of a chunk's values: without what each shares with the one before it, if that makes up
  /// a quarter.
  static func encode(_ values: ColumnValues) -> ContiguousArray<UInt8> {
    var start: UInt64 = 0
    let cells = ContiguousArray(
      values.lengths.map { length in
        defer { start += length }
        return ValueCell(tag: .data, bits: start, length: UInt32(length))
      })
    let integers = UnsafeMutableBufferPointer<Int64>.allocate(capacity: cells.count)
    defer { integers.deallocate() }
    var bytes: ContiguousArray<UInt8> = []
    values.bytes.withUnsafeBytes { arena in
      cells.withUnsafeBufferPointer {
        encodeEach($0, in: arena, integers: integers, into: &bytes) { shared, total, _ in
          shared > 0 && shared >= total / 4
        }
      }
    }
    return bytes
  }

  /// Reads a run of `count` values, which together have at most as many bytes as one payload may
  /// decode to.
  static func decode(
    _ reader: inout ByteReader, count: Int, into values: inout ColumnValues
  ) throws(DecodeFault) {
    let start = reader.offset
    let limit = FormatLimits.maximumDecodedLength
    var integers = Scratch<Int64>()
    var texts = SharedTexts()
    let cells = UnsafeMutableBufferPointer<ValueCell>.allocate(capacity: count)
    defer { cells.deallocate() }
    var arena: ContiguousArray<UInt8> = []
    try decode(
      &reader, tag: .data, into: cells, arena: &arena, arenaLimit: limit, integers: &integers,
      shared: &texts)
    var total = 0
    var isJoined = true
    for cell in cells {
      isJoined = isJoined && cell.arenaRange.lowerBound == total
      total += Int(cell.length)
      guard total <= limit else { throw .tooLarge(at: start, limit: UInt64(limit)) }
    }
    values.lengths = ContiguousArray(cells.lazy.map { UInt64($0.length) })
    guard !isJoined else {
      values.bytes = arena
      return
    }
    values.bytes.reserveCapacity(total)
    for cell in cells { values.bytes.append(contentsOf: arena[cell.arenaRange]) }
  }
}
