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
    guard count > 0 else { return }
    var behind = reader
    let layout = try ValuesLayout.read(&behind)
    guard layout == .plain || layout == .prefixed else {
      return try decodeCells(&reader, layout, count: count, into: &values)
    }
    reader = behind
    var integers = Scratch<Int64>()
    let lengths = try readPlainly(
      &reader, layout, count: count, arena: &values.bytes,
      arenaLimit: FormatLimits.maximumDecodedLength, integers: &integers)
    values.lengths = ContiguousArray(unsafeUninitializedCapacity: count) { room, filled in
      for index in 0..<count { room[index] = UInt64(bitPattern: lengths[index]) }
      filled = count
    }
  }

  /// Reads a run in a layout in which values are not simply joined.
  private static func decodeCells(
    _ reader: inout ByteReader, _ layout: ValuesLayout, count: Int,
    into values: inout ColumnValues
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
    var total: UInt64 = 0
    values.lengths = ContiguousArray(unsafeUninitializedCapacity: count) { room, filled in
      for index in 0..<count {
        let length = UInt64(cells[index].length)
        room[index] = length
        total &+= length
      }
      filled = count
    }
    // So many numbers of 32 bits do not overflow.
    guard total <= UInt64(limit) else { throw .tooLarge(at: start, limit: UInt64(limit)) }
    // Only what is among distinct values lies elsewhere than one behind the other.
    values.bytes = layout == .distinct ? joined(cells, in: arena, count: Int(total)) : arena
  }

  /// The bytes of the cells, `count` in all, one after the other.
  private static func joined(
    _ cells: UnsafeMutableBufferPointer<ValueCell>, in arena: ContiguousArray<UInt8>, count: Int
  ) -> ContiguousArray<UInt8> {
    ContiguousArray(unsafeUninitializedCapacity: count) { room, filled in
      filled = count
      arena.withUnsafeBytes { arena in
        guard let source = arena.baseAddress, var next = UnsafeMutableRawPointer(room.baseAddress)
        else { return }
        for cell in cells {
          let length = Int(cell.length)
          next.copyMemory(from: source + cell.arenaRange.lowerBound, byteCount: length)
          next += length
        }
      }
    }
  }
}
