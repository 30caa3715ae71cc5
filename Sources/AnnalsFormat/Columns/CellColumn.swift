import AnnalsModel

/// Encodes and decodes the values of one property: their kind, once if all share it, and a run of
/// each kind.
///
/// FORMAT.md, "Value columns".
package enum CellColumn {
  /// The first byte of a column whose values are of several kinds.
  static let mixed: UInt8 = 0xFF

  /// Appends a column. `tags` has the tag byte (`ValueCodec.tagByte`) of each cell.
  static func encode(
    _ cells: UnsafeBufferPointer<ValueCell>, tags: UnsafeBufferPointer<UInt8>,
    in arena: UnsafeRawBufferPointer, into bytes: inout ContiguousArray<UInt8>
  ) {
    guard let first = tags.first else { return }
    if tags.allSatisfy({ $0 == first }) {
      bytes.append(first)
      encodeRun(cells, tag: first, in: arena, into: &bytes)
      return
    }
    bytes.append(mixed)
    let numbers = ContiguousArray(tags.map { Int64($0) })
    numbers.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    var present: (low: UInt64, high: UInt64) = (0, 0)
    for tag in tags {
      if tag < 64 { present.low |= 1 << UInt64(tag) } else { present.high |= 1 << UInt64(tag & 63) }
    }
    for tag in UInt8(0)..<ValueCodec.tagByteEnd
    where (tag < 64 ? present.low : present.high) & 1 << UInt64(tag & 63) != 0 {
      let run = ContiguousArray(cells.indices.lazy.filter { tags[$0] == tag }.map { cells[$0] })
      run.withUnsafeBufferPointer { encodeRun($0, tag: tag, in: arena, into: &bytes) }
    }
  }

  /// Appends a column of plain values, edits not among them.
  package static func encode(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    let tags = ContiguousArray(cells.map { ValueCodec.tagByte($0, isEdits: false) })
    tags.withUnsafeBufferPointer { encode(cells, tags: $0, in: arena, into: &bytes) }
  }

  private static func encodeRun(
    _ cells: UnsafeBufferPointer<ValueCell>, tag: UInt8, in arena: UnsafeRawBufferPointer,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    let integers = UnsafeMutableBufferPointer<Int64>.allocate(capacity: cells.count)
    defer { integers.deallocate() }
    let cell = cells[0]
    if cell.isLarge || cell.tag == .uuid || cell.tag == .double {
      FixedColumn.encode(cells, in: arena, indexes: integers, into: &bytes)
      return
    }
    switch cell.tag {
    case .null, .erased, .uuid, .double: break
    case .bool, .int, .date, .day:
      for index in cells.indices { integers[index] = Int64(bitPattern: cells[index].bits) }
      IntegerColumn.encode(UnsafeBufferPointer(integers), into: &bytes)
    case .object:
      for index in cells.indices { integers[index] = Int64(cells[index].length) }
      IntegerColumn.encode(UnsafeBufferPointer(integers), into: &bytes)
      for index in cells.indices { integers[index] = Int64(bitPattern: cells[index].bits) }
      IntegerColumn.encode(UnsafeBufferPointer(integers), into: &bytes)
    case .string, .url, .data, .json, .decimal:
      BytesColumn.encode(cells, in: arena, indexes: integers, into: &bytes)
    case .objects:
      ReferencesColumn.encode(
        cells, isEdits: tag & ValueCodec.editsBit != 0, in: arena, into: &bytes)
    }
  }
}
