import AnnalsModel

/// Decodes value columns one after the other and keeps its working memory.
package struct CellReader: ~Copyable {
  private var integers = Scratch<Int64>()
  private var runs = Scratch<ValueCell>()
  private var tags = Scratch<UInt8>()
  /// The greatest length of the arena that decoding may reach.
  private var arenaLimit = 0
  /// The texts that many of the cells read since `start` share.
  private(set) var sharedTexts = SharedTexts()

  /// A reader that lets `arena` grow by no more than the limit of one frame.
  package init(arenaLength: Int) { start(arenaLength: arenaLength) }

  /// Lets the arena, as long as it is now, grow by the limit of one frame: a new payload begins.
  /// The batch has so many shared texts by now.
  package mutating func start(arenaLength: Int, sharedTexts count: Int = 0) {
    arenaLimit = arenaLength + FormatLimits.maximumDecodedLength
    sharedTexts.start(after: count)
  }

  /// Reads as many values as `cells` has room for. Returns the tag bytes of those that are not all
  /// of one kind, valid until the next call; or else the one tag byte.
  mutating func decodeTagged(
    _ reader: inout ByteReader, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) -> (uniform: UInt8, mixed: UnsafeMutableBufferPointer<UInt8>?) {
    guard !cells.isEmpty else { return (0, nil) }
    let start = reader.offset
    let first = try reader.readUInt8()
    guard first == CellColumn.mixed else {
      _ = try ValueCodec.readTag(first, at: start)
      try decodeRun(&reader, tag: first, into: cells, arena: &arena)
      return (first, nil)
    }
    let numbers = integers.reserve(cells.count)
    try IntegerColumn.decode(&reader, into: numbers)
    let tags = tags.reserve(cells.count)
    var counts = ContiguousArray<Int>(repeating: 0, count: Int(ValueCodec.tagByteEnd))
    for (index, number) in numbers.enumerated() {
      guard let tag = UInt8(exactly: number) else {
        throw reader.newer("a kind of value")
      }
      _ = try ValueCodec.readTag(tag, at: start)
      tags[index] = tag
      counts[Int(tag)] += 1
    }
    for tag in UInt8(0)..<ValueCodec.tagByteEnd where counts[Int(tag)] > 0 {
      let run = runs.reserve(counts[Int(tag)])
      try decodeRun(&reader, tag: tag, into: run, arena: &arena)
      var next = 0
      for index in cells.indices where tags[index] == tag {
        cells[index] = run[next]
        next += 1
      }
    }
    return (CellColumn.mixed, tags)
  }

  /// Reads as many plain values as `cells` has room for. Edits are refused.
  package mutating func decode(
    _ reader: inout ByteReader, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    let start = reader.offset
    let (uniform, mixed) = try decodeTagged(&reader, into: cells, arena: &arena)
    let hasEdits = mixed?.contains { $0 & ValueCodec.editsBit != 0 }
    if hasEdits ?? (uniform & ValueCodec.editsBit != 0) {
      throw .invalid(at: start, reason: "edits where a value belongs")
    }
  }

  private mutating func decodeRun(
    _ reader: inout ByteReader, tag byte: UInt8, into cells: UnsafeMutableBufferPointer<ValueCell>,
    arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) {
    let (tag, isLarge, isEdits) = try ValueCodec.readTag(byte, at: reader.offset)
    if isLarge || tag == .uuid || tag == .double {
      var model = ValueCell(tag: tag, isLarge: isLarge)
      if tag != .double {
        model.length = UInt32(isLarge ? ValueCell.largeDescriptionLength : 16)
      }
      try FixedColumn.decode(
        &reader, model: model, into: cells, arena: &arena, integers: &integers)
      return
    }
    switch tag {
    case .null, .uuid, .double: cells.update(repeating: .null)
    case .erased: cells.update(repeating: .erased)
    case .bool, .int, .date, .day: try decodeIntegers(&reader, tag: tag, into: cells)
    case .object: try decodeReferences(&reader, into: cells)
    case .string, .url, .data, .json, .decimal:
      try BytesColumn.decode(
        &reader, tag: tag, into: cells, arena: &arena, arenaLimit: arenaLimit, integers: &integers,
        shared: &sharedTexts)
      let isValid = arena.withUnsafeBytes { arena in
        tag != .decimal || cells.allSatisfy { RawDecimal(bytes: $0.bytes(in: arena)) != nil }
      }
      guard isValid else { throw reader.invalid(ValueCodec.noDecimal) }
    case .objects:
      try ReferencesColumn.decode(
        &reader, isEdits: isEdits, into: cells, arena: &arena, arenaLimit: arenaLimit,
        integers: &integers)
    }
  }

  private mutating func decodeIntegers(
    _ reader: inout ByteReader, tag: ValueTag, into cells: UnsafeMutableBufferPointer<ValueCell>
  ) throws(DecodeFault) {
    let numbers = integers.reserve(cells.count)
    try IntegerColumn.decode(&reader, into: numbers)
    var all: UInt64 = 0
    for index in cells.indices {
      let bits = UInt64(bitPattern: numbers[index])
      all |= bits
      cells[index] = ValueCell(tag: tag, bits: bits)
    }
    guard tag != .bool || all <= 1 else { throw reader.invalid("a bool other than 0 and 1") }
    if tag == .day, !cells.allSatisfy({ ValueCodec.isDay($0.bits) }) {
      throw reader.invalid(ValueCodec.noDay)
    }
  }

  private mutating func decodeReferences(
    _ reader: inout ByteReader, into cells: UnsafeMutableBufferPointer<ValueCell>
  ) throws(DecodeFault) {
    let numbers = integers.reserve(cells.count)
    try IntegerColumn.decode(&reader, into: numbers)
    for index in cells.indices {
      guard let entity = EntityNumber(exactly: numbers[index]) else {
        throw reader.invalid("a reference to no object")
      }
      cells[index] = ValueCell(tag: .object, length: entity)
    }
    try IntegerColumn.decode(&reader, into: numbers)
    for index in cells.indices {
      guard ValueCodec.isRow(numbers[index]) else {
        throw reader.invalid("a reference to no object")
      }
      cells[index].bits = UInt64(bitPattern: numbers[index])
    }
  }
}
