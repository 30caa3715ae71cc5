import AnnalsModel

// Byte string runs as chunks hold them: of values that lie joined in memory.

extension BytesColumn {
  /// The run of a chunk's values: without what each shares with the one before it, if that makes up
  /// a quarter.
  static func encode(_ values: ColumnValues) -> ContiguousArray<UInt8> {
    let shared = FrontCoding.sharedLengths(values)
    let saved = shared.reduce(0, &+)
    let isPrefixed = saved > 0 && saved >= UInt64(values.bytes.count / 4)
    var bytes: ContiguousArray<UInt8> = []
    bytes.reserveCapacity(values.bytes.count + values.lengths.count * 2)
    bytes.append((isPrefixed ? ValuesLayout.prefixed : .plain).rawValue)
    append(values.lengths[...], to: &bytes)
    if isPrefixed {
      // The first shares nothing and would only widen the run.
      append(shared[1...], to: &bytes)
      bytes += FrontCoding.removeShared(shared, from: values)
    } else {
      bytes += values.bytes
    }
    return bytes
  }

  private static func append(
    _ numbers: ContiguousArray<UInt64>.SubSequence, to bytes: inout ContiguousArray<UInt8>
  ) {
    ContiguousArray(numbers.map { Int64(bitPattern: $0) }).withUnsafeBufferPointer {
      IntegerColumn.encode($0, into: &bytes)
    }
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
