import AnnalsModel

/// A run of values that all have the same count of bytes: doubles (8), UUIDs (16) and descriptions
/// of large values (20); one after the other, or as a list of the distinct ones and which it is.
///
/// FORMAT.md, "Fixed runs".
enum FixedColumn {
  /// Appends the run. Doubles are in the cells' bits, the others in the arena.
  static func encode(
    _ cells: UnsafeBufferPointer<ValueCell>, in arena: UnsafeRawBufferPointer,
    indexes: UnsafeMutableBufferPointer<Int64>, into bytes: inout ContiguousArray<UInt8>
  ) {
    guard !cells.isEmpty else { return }
    guard let distinct = DistinctValues(cells, in: arena, indexes: indexes) else {
      bytes.append(ValuesLayout.plain.rawValue)
      for cell in cells { append(cell, in: arena, into: &bytes) }
      return
    }
    bytes.append(ValuesLayout.distinct.rawValue)
    bytes.append(count: distinct.firsts.count)
    for position in distinct.firsts { append(cells[position], in: arena, into: &bytes) }
    IntegerColumn.encode(UnsafeBufferPointer(indexes), into: &bytes)
  }

  private static func append(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, into bytes: inout ContiguousArray<UInt8>
  ) {
    if cell.usesArena {
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange]))
    } else {
      bytes.append(fixed: cell.bits)
    }
  }

  /// Reads as many values as `cells` has room for, each like `model` but for its bits. With a
  /// model whose bytes are in the arena, the bytes are appended there.
  static func decode(
    _ reader: inout ByteReader, model: ValueCell, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>, integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    guard !cells.isEmpty else { return }
    switch try ValuesLayout.read(&reader) {
    case .plain:
      try decodePlain(&reader, model: model, into: cells, arena: &arena)
    case .distinct:
      let count = try reader.readCount(limit: cells.count)
      guard count > 0 else { throw reader.invalid("an empty list of distinct values") }
      let distinct = UnsafeMutableBufferPointer<ValueCell>.allocate(capacity: count)
      defer { distinct.deallocate() }
      try decodePlain(&reader, model: model, into: distinct, arena: &arena)
      try ValuesLayout.spread(UnsafeBufferPointer(distinct), &reader, into: cells, &integers)
    case .prefixed, .numbered:
      throw reader.newer("a layout of values of one length")
    }
  }

  private static func decodePlain(
    _ reader: inout ByteReader, model: ValueCell, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    let width = model.usesArena ? Int(model.length) : 8
    let bytes = try reader.readBytes(cells.count * width)
    var cell = model
    if model.usesArena {
      let start = UInt64(arena.count)
      arena.append(contentsOf: bytes)
      for index in cells.indices {
        cell.bits = start + UInt64(index * width)
        cells[index] = cell
      }
    } else {
      var isFinite = true
      for index in cells.indices {
        let bits = bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        cell.bits = UInt64(littleEndian: bits)
        cells[index] = cell
        isFinite = isFinite && ValueCodec.isFinite(cell.bits)
      }
      guard isFinite else { throw reader.invalid(ValueCodec.notFinite) }
    }
  }
}

/// How a run of values is laid out. Stored in files: never renumber.
enum ValuesLayout: UInt8 {
  /// One after the other.
  case plain = 0
  /// Each as what it shares with the one before, and the rest.
  case prefixed = 1
  /// The distinct values, and which of them each is.
  case distinct = 2
  /// Patterns, which of them each has, and numbers.
  case numbered = 3

  static func read(_ reader: inout ByteReader) throws(DecodeFault) -> ValuesLayout {
    guard let layout = ValuesLayout(rawValue: try reader.readUInt8()) else {
      throw reader.newer("a layout of values")
    }
    return layout
  }

  /// Reads which distinct value each cell has.
  static func spread(
    _ distinct: UnsafeBufferPointer<ValueCell>, _ reader: inout ByteReader,
    into cells: UnsafeMutableBufferPointer<ValueCell>, _ integers: inout Scratch<Int64>
  ) throws(DecodeFault) {
    let indexes = integers.reserve(cells.count)
    try IntegerColumn.decode(&reader, into: indexes)
    for position in cells.indices {
      let index = indexes[position]
      guard index >= 0, index < Int64(distinct.count) else {
        throw reader.invalid("a value that is not among the distinct ones")
      }
      cells[position] = distinct[Int(index)]
    }
  }
}
