/// One value in sixteen bytes, its variable part elsewhere, in the cell's *arena*.
///
/// The engine's currency between records, columns and callers: no allocation, no reference count.
/// What `bits` and `length` mean depends on `tag`:
///
/// | tag | bits | length |
/// |---|---|---|
/// | null | 0 | 0 |
/// | bool | 0 or 1 | 0 |
/// | int, date | the Int64's bit pattern | 0 |
/// | double | the bit pattern | 0 |
/// | object | the row's bit pattern | the entity's number |
/// | string, url, data, json | offset in the arena | count of bytes |
/// | uuid | offset in the arena of its 16 bytes, in text order | 16 |
/// | objects | offset in the arena of 12 bytes each: entity UInt32, row Int64 | count of bytes |
///
/// Numbers in an arena are little-endian.
///
/// With `isLarge`, the tag is one of string, url, data, json, and the arena holds at `bits` 20
/// bytes: number UInt64, length UInt64, checksum UInt32, little-endian; `length` is 20.
@frozen
package struct ValueCell: Sendable {
  package var bits: UInt64
  package var length: UInt32
  package var tag: ValueTag
  package var isLarge: Bool

  @inlinable
  package init(tag: ValueTag, bits: UInt64 = 0, length: UInt32 = 0, isLarge: Bool = false) {
    self.bits = bits
    self.length = length
    self.tag = tag
    self.isLarge = isLarge
  }

  /// No value.
  @inlinable package static var null: ValueCell { ValueCell(tag: .null) }

  /// Whether this is the absence of a value.
  @inlinable package var isNull: Bool { tag == .null }

  /// Whether the value's bytes are in the arena.
  @inlinable package var usesArena: Bool {
    switch tag {
    case .string, .url, .data, .json, .uuid, .objects: true
    default: false
    }
  }

  /// Where in the arena the value's bytes are; empty for kinds that need none.
  @inlinable package var arenaRange: Range<Int> {
    usesArena ? Int(bits)..<Int(bits) + Int(length) : 0..<0
  }

  /// The count of bytes that describe a large value in the arena.
  @inlinable package static var largeDescriptionLength: Int { 20 }
}

extension ValueCell {
  /// Whether two cells hold the same value: the same kind and the same bytes.
  @inlinable
  package static func areEqual(
    _ a: ValueCell, in arenaA: UnsafeRawBufferPointer,
    _ b: ValueCell, in arenaB: UnsafeRawBufferPointer
  ) -> Bool {
    guard a.tag == b.tag, a.isLarge == b.isLarge, a.length == b.length else { return false }
    guard a.usesArena else { return a.bits == b.bits }
    let x = UnsafeRawBufferPointer(rebasing: arenaA[a.arenaRange])
    let y = UnsafeRawBufferPointer(rebasing: arenaB[b.arenaRange])
    return x.hasSameBytes(as: y)
  }

  /// The value that the cell stands for, read out of its arena.
  package func value(in arena: UnsafeRawBufferPointer) -> Value {
    let bytes = UnsafeRawBufferPointer(rebasing: arena[arenaRange])
    if isLarge { return .large(LargeValue(tag: tag, description: bytes)) }
    switch tag {
    case .null: return .null
    case .bool: return .bool(bits != 0)
    case .int: return .int(Int64(bitPattern: bits))
    case .double: return .double(Double(bitPattern: bits))
    case .string: return .string(String(decoding: bytes, as: UTF8.self))
    case .date: return .date(Timestamp(microseconds: Int64(bitPattern: bits)))
    case .uuid: return .uuid(RawUUID(bytes: bytes))
    case .url: return .url(String(decoding: bytes, as: UTF8.self))
    case .data: return .data(Array(bytes))
    case .json: return .json(String(decoding: bytes, as: UTF8.self))
    case .object: return .object(ObjectReference(entity: length, row: Int64(bitPattern: bits)))
    case .objects: return .objects(ObjectReference.list(in: bytes))
    }
  }

  /// The cell for a value, its bytes appended to `arena`.
  package init(_ value: Value, appendingTo arena: inout ContiguousArray<UInt8>) {
    let start = UInt64(arena.count)
    switch value {
    case .null: self = .null
    case .bool(let x): self.init(tag: .bool, bits: x ? 1 : 0)
    case .int(let x): self.init(tag: .int, bits: UInt64(bitPattern: x))
    case .double(let x): self.init(tag: .double, bits: x.bitPattern)
    case .date(let x): self.init(tag: .date, bits: UInt64(bitPattern: x.microseconds))
    case .object(let x):
      self.init(tag: .object, bits: UInt64(bitPattern: x.row), length: x.entity)
    case .string(let x), .url(let x), .json(let x):
      arena.append(contentsOf: x.utf8)
      self.init(tag: value.tag, bits: start, length: UInt32(UInt64(arena.count) - start))
    case .data(let x):
      arena.append(contentsOf: x)
      self.init(tag: .data, bits: start, length: UInt32(x.count))
    case .uuid(let x):
      x.append(to: &arena)
      self.init(tag: .uuid, bits: start, length: 16)
    case .objects(let list):
      for reference in list { reference.append(to: &arena) }
      self.init(tag: .objects, bits: start, length: UInt32(list.count * ObjectReference.byteCount))
    case .large(let x):
      x.append(to: &arena)
      self.init(
        tag: x.tag, bits: start, length: UInt32(ValueCell.largeDescriptionLength), isLarge: true)
    }
  }
}
