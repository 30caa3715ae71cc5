import AnnalsModel

/// Encodes and decodes a run of to-many values, or of their edits: the count of each, and all
/// positions (edits only), entities and rows.
///
/// FORMAT.md, "Value columns".
enum ReferencesColumn {
  /// Appends the run.
  static func encode(
    _ cells: UnsafeBufferPointer<ValueCell>, isEdits: Bool, in arena: UnsafeRawBufferPointer,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    let width = isEdits ? PropertyChange.editByteCount : ObjectReference.byteCount
    var counts: ContiguousArray<Int64> = []
    var positions: ContiguousArray<Int64> = []
    var entities: ContiguousArray<Int64> = []
    var rows: ContiguousArray<Int64> = []
    for cell in cells {
      counts.append(Int64(Int(cell.length) / width))
      for start in stride(from: Int(cell.bits), to: Int(cell.bits) + Int(cell.length), by: width) {
        if isEdits {
          let position = arena.loadUnaligned(fromByteOffset: start, as: UInt32.self)
          positions.append(Int64(UInt32(littleEndian: position)))
        }
        let reference = ObjectReference(bytes: arena, at: isEdits ? start + 4 : start)
        entities.append(Int64(reference.entity))
        rows.append(reference.row)
      }
    }
    counts.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    positions.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    entities.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    rows.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
  }

  /// Reads as many values as `cells` has room for.
  static func decode(
    _ reader: inout ByteReader, isEdits: Bool, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>, arenaLimit: Int, integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    let width = isEdits ? PropertyChange.editByteCount : ObjectReference.byteCount
    let counts = integers.reserve(cells.count)
    try IntegerColumn.decode(&reader, into: counts)
    var total = 0
    for index in cells.indices {
      let count = counts[index]
      guard count >= 0, count <= Int64(FormatLimits.maximumReferences) else {
        throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumReferences))
      }
      let start = UInt64(arena.count + total * width)
      cells[index] = ValueCell(tag: .objects, bits: start, length: UInt32(Int(count) * width))
      total += Int(count)
      guard total <= (arenaLimit - arena.count) / width else {
        throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumDecodedLength))
      }
    }
    let numbers = integers.reserve(total * 3)
    let positions = UnsafeMutableBufferPointer(rebasing: numbers[..<(isEdits ? total : 0)])
    let entities = UnsafeMutableBufferPointer(rebasing: numbers[total..<total * 2])
    let rows = UnsafeMutableBufferPointer(rebasing: numbers[(total * 2)...])
    try IntegerColumn.decode(&reader, into: positions)
    try IntegerColumn.decode(&reader, into: entities)
    try IntegerColumn.decode(&reader, into: rows)
    for index in 0..<total {
      guard let entity = EntityNumber(exactly: entities[index]), ValueCodec.isRow(rows[index])
      else {
        throw reader.invalid("a reference to no object")
      }
      if isEdits {
        guard let position = UInt32(exactly: positions[index]),
          position < FormatLimits.maximumReferences
        else { throw reader.invalid("an edit at no position") }
        arena.append(fixed: position)
      }
      ObjectReference(entity: entity, row: rows[index]).append(to: &arena)
    }
    if isEdits { try checkOrder(cells, positions, &reader) }
  }

  /// Throws unless positions rise within each list of edits.
  private static func checkOrder(
    _ cells: UnsafeMutableBufferPointer<ValueCell>,
    _ positions: UnsafeMutableBufferPointer<Int64>, _ reader: inout ByteReader
  ) throws(DecodeFault) {
    var next = 0
    for cell in cells {
      let end = next + Int(cell.length) / PropertyChange.editByteCount
      if end - next > 1 {
        for index in next + 1..<end where positions[index] <= positions[index - 1] {
          throw reader.invalid("edits out of order")
        }
      }
      next = end
    }
  }
}
