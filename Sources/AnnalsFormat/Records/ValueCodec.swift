import AnnalsModel

/// Encodes and decodes a value with its kind: for records in row form, metadata, defaults and
/// validation.
///
/// The tag byte: bits 0-3 and 6 the kind's number (`ValueTag`), bit 4 set for the description of a
/// large value, bit 5 for a list of edits.
/// FORMAT.md, "Kinds and values".
package enum ValueCodec {
  /// Bit 4 of the tag byte: a reference to a large value.
  static let largeBit: UInt8 = 0x10
  /// Bit 5 of the tag byte: the edits of a to-many relationship.
  static let editsBit: UInt8 = 0x20

  /// Bit 6 of the tag byte: the fifth bit of the kind.
  static let highKindBit: UInt8 = 0x40
  /// More than any tag byte.
  static let tagByteEnd: UInt8 = 0x80

  /// Whether the bits of a double are those of a finite number, as all that is stored is.
  @inline(__always)
  static func isFinite(_ bits: UInt64) -> Bool { ~bits & 0x7FF0_0000_0000_0000 != 0 }

  /// What is said of another double.
  static let notFinite: DecodeFault.Reason = "a double that is no finite number"

  /// What is said of bytes that no decimal has.
  static let noDecimal: DecodeFault.Reason = "bytes that no decimal has"
  /// What is said of a day that no calendar has here.
  static let noDay: DecodeFault.Reason = "a day beyond the years -9999 to 9999"

  /// Whether there is a day so many days after 1970-01-01.
  @inline(__always)
  static func isDay(_ bits: UInt64) -> Bool {
    CalendarDay(daysSince1970: Int64(bitPattern: bits)) != nil
  }

  /// Whether a reference may have this row: a number, in whatever form it is stored, so that one
  /// form can be rewritten into another.
  @inline(__always)
  static func isRow(_ row: Int64) -> Bool { UInt64(bitPattern: row) <= FormatLimits.maximumNumber }

  /// The tag byte of a cell.
  static func tagByte(_ cell: ValueCell, isEdits: Bool) -> UInt8 {
    let kind = cell.tag.rawValue
    return kind & 0x0F | (kind & 0x10) << 2 | (cell.isLarge ? largeBit : 0)
      | (isEdits ? editsBit : 0)
  }

  /// What a tag byte says; throws if it says nothing that this version knows.
  static func readTag(
    _ byte: UInt8, at offset: Int
  ) throws(DecodeFault) -> (tag: ValueTag, isLarge: Bool, isEdits: Bool) {
    let kind = byte & 0x0F | (byte & highKindBit) >> 2
    guard byte < tagByteEnd, let tag = ValueTag(rawValue: kind) else {
      throw .newer(at: offset, reason: "a kind of value")
    }
    let isLarge = byte & largeBit != 0
    let isEdits = byte & editsBit != 0
    guard !isLarge || tag.isBytes, !isEdits || tag == .objects else {
      throw .invalid(at: offset, reason: "a kind of value with a flag that it cannot have")
    }
    return (tag, isLarge, isEdits)
  }

  /// Appends a cell whose variable part is in `arena`.
  package static func encode(
    _ cell: ValueCell, in arena: UnsafeRawBufferPointer, isEdits: Bool = false,
    into bytes: inout ContiguousArray<UInt8>
  ) {
    bytes.append(tagByte(cell, isEdits: isEdits))
    let variable = UnsafeRawBufferPointer(rebasing: arena[cell.arenaRange])
    if cell.isLarge {
      bytes.append(contentsOf: variable)
      return
    }
    switch cell.tag {
    case .null, .erased: break
    case .bool: bytes.append(UInt8(cell.bits))
    case .int, .date, .day: bytes.append(zigzag: Int64(bitPattern: cell.bits))
    case .double: bytes.append(fixed: cell.bits)
    case .string, .url, .data, .json, .decimal: bytes.append(sized: variable)
    case .uuid: bytes.append(contentsOf: variable)
    case .object:
      bytes.append(varInt: UInt64(cell.length))
      bytes.append(varInt: cell.bits)
    case .objects:
      isEdits ? encodeEdits(variable, into: &bytes) : encodeReferences(variable, into: &bytes)
    }
  }

  private static func encodeReferences(
    _ list: UnsafeRawBufferPointer, into bytes: inout ContiguousArray<UInt8>
  ) {
    let count = list.count / ObjectReference.byteCount
    bytes.append(count: count)
    for index in 0..<count {
      let reference = ObjectReference(bytes: list, at: index * ObjectReference.byteCount)
      bytes.append(varInt: UInt64(reference.entity))
      bytes.append(varInt: UInt64(bitPattern: reference.row))
    }
  }

  private static func encodeEdits(
    _ list: UnsafeRawBufferPointer, into bytes: inout ContiguousArray<UInt8>
  ) {
    let count = list.count / PropertyChange.editByteCount
    bytes.append(count: count)
    for index in 0..<count {
      let edit = ListEdit(bytes: list, at: index * PropertyChange.editByteCount)
      bytes.append(varInt: UInt64(edit.position))
      bytes.append(varInt: UInt64(edit.reference.entity))
      bytes.append(varInt: UInt64(bitPattern: edit.reference.row))
    }
  }

  /// Reads a cell and appends its variable part to `arena`, which grows by no more than six times
  /// the bytes read.
  ///
  /// With `base` the arena holds all of the reader's bytes already, from there on: then the bytes
  /// of most values stay where they are, and only lists are appended.
  @inline(__always)
  package static func decode(
    _ reader: inout ByteReader, arena: inout ContiguousArray<UInt8>, base: Int? = nil
  ) throws(DecodeFault) -> (cell: ValueCell, isEdits: Bool) {
    let start = reader.offset
    let byte = try reader.readUInt8()
    // The kinds of most values first: a tag byte without flags is the kind's number.
    switch byte {
    case ValueTag.null.rawValue: return (.null, false)
    case ValueTag.int.rawValue:
      return (ValueCell(tag: .int, bits: UInt64(bitPattern: try reader.readZigzag())), false)
    case ValueTag.date.rawValue:
      return (ValueCell(tag: .date, bits: UInt64(bitPattern: try reader.readZigzag())), false)
    case ValueTag.double.rawValue:
      let bits = try reader.read(UInt64.self)
      guard isFinite(bits) else { throw .invalid(at: start, reason: notFinite) }
      return (ValueCell(tag: .double, bits: bits), false)
    case ValueTag.string.rawValue:
      let bytes = try reader.readSizedBytes()
      return (keep(bytes, upTo: reader.offset, base, tag: .string, in: &arena), false)
    case ValueTag.uuid.rawValue:
      let bytes = try reader.readBytes(16)
      return (keep(bytes, upTo: reader.offset, base, tag: .uuid, in: &arena), false)
    default: return try decodeOther(byte, at: start, &reader, arena: &arena, base)
    }
  }

  /// Reads a cell of one of the rarer kinds.
  @inline(never)
  private static func decodeOther(
    _ byte: UInt8, at start: Int, _ reader: inout ByteReader, arena: inout ContiguousArray<UInt8>,
    _ base: Int?
  ) throws(DecodeFault) -> (cell: ValueCell, isEdits: Bool) {
    let (tag, isLarge, isEdits) = try readTag(byte, at: start)
    if isLarge {
      let bytes = try reader.readBytes(ValueCell.largeDescriptionLength)
      let cell = keep(bytes, upTo: reader.offset, base, tag: tag, isLarge: true, in: &arena)
      return (cell, false)
    }
    switch tag {
    case .erased: return (.erased, false)
    case .bool:
      let byte = try reader.readUInt8()
      guard byte <= 1 else { throw .invalid(at: start, reason: "a bool other than 0 and 1") }
      return (ValueCell(tag: .bool, bits: UInt64(byte)), false)
    case .object:
      let reference = try readReference(&reader)
      let row = UInt64(bitPattern: reference.row)
      return (ValueCell(tag: .object, bits: row, length: reference.entity), false)
    case .objects:
      return (try decodeList(&reader, isEdits: isEdits, arena: &arena), isEdits)
    case .day:
      let bits = UInt64(bitPattern: try reader.readZigzag())
      guard isDay(bits) else { throw .invalid(at: start, reason: noDay) }
      return (ValueCell(tag: .day, bits: bits), false)
    case .decimal:
      let bytes = try reader.readSizedBytes()
      guard RawDecimal(bytes: bytes) != nil else { throw .invalid(at: start, reason: noDecimal) }
      return (keep(bytes, upTo: reader.offset, base, tag: tag, in: &arena), false)
    case .null, .int, .double, .string, .date, .uuid, .url, .data, .json:
      let bytes = try reader.readSizedBytes()
      return (keep(bytes, upTo: reader.offset, base, tag: tag, in: &arena), false)
    }
  }

  /// The cell of a value whose bytes, which end in the reader at `end`, are in the arena already if
  /// there is a `base`, and else are appended to it.
  @inline(__always)
  private static func keep(
    _ bytes: UnsafeRawBufferPointer, upTo end: Int, _ base: Int?, tag: ValueTag,
    isLarge: Bool = false, in arena: inout ContiguousArray<UInt8>
  ) -> ValueCell {
    let start: Int
    if let base {
      start = base + end - bytes.count
    } else {
      start = arena.count
      arena.append(contentsOf: bytes)
    }
    return ValueCell(
      tag: tag, bits: UInt64(start), length: UInt32(bytes.count), isLarge: isLarge)
  }

  private static func decodeList(
    _ reader: inout ByteReader, isEdits: Bool, arena: inout ContiguousArray<UInt8>
  ) throws(DecodeFault) -> ValueCell {
    let count = try reader.readCount(
      limit: FormatLimits.maximumReferences, minimumLength: isEdits ? 3 : 2)
    let start = UInt64(arena.count)
    var last: UInt32?
    for _ in 0..<count {
      if isEdits {
        let position = try reader.readVarUInt32()
        guard position < FormatLimits.maximumReferences else {
          throw .tooLarge(at: reader.offset, limit: UInt64(FormatLimits.maximumReferences))
        }
        if let last, position <= last { throw reader.invalid("edits out of order") }
        last = position
        arena.append(fixed: position)
      }
      try readReference(&reader).append(to: &arena)
    }
    return ValueCell(
      tag: .objects, bits: start, length: UInt32(truncatingIfNeeded: UInt64(arena.count) - start))
  }

  private static func readReference(
    _ reader: inout ByteReader
  ) throws(DecodeFault) -> ObjectReference {
    ObjectReference(entity: try reader.readVarUInt32(), row: try reader.readVarInt64())
  }

  /// Appends a value.
  package static func encode(_ value: Value, into bytes: inout ContiguousArray<UInt8>) {
    var arena: ContiguousArray<UInt8> = []
    let cell = ValueCell(value, appendingTo: &arena)
    arena.withUnsafeBytes { encode(cell, in: $0, into: &bytes) }
  }

  /// Reads a value of a transaction's details or a definition; text among it must be UTF-8, and all
  /// of it here.
  package static func decode(_ reader: inout ByteReader) throws(DecodeFault) -> Value {
    let start = reader.offset
    var arena: ContiguousArray<UInt8> = []
    let (cell, isEdits) = try decode(&reader, arena: &arena)
    guard !isEdits else { throw .invalid(at: start, reason: "edits where a value belongs") }
    guard !cell.isLarge else {
      throw .invalid(at: start, reason: "a large value that no object has")
    }
    guard cell.tag != .erased else {
      throw .invalid(at: start, reason: "an erased value that no object has")
    }
    if cell.tag.isBytes, cell.tag != .data,
      String(validating: arena, as: UTF8.self) == nil
    {
      throw .invalid(at: start, reason: "text that is not UTF-8")
    }
    return arena.withUnsafeBytes { cell.value(in: $0) }
  }
}
