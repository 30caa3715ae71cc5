/// One value in sixteen bytes, its variable part elsewhere, in the cell's *arena*.
///
/// The engine's currency between records, columns and callers: no allocation, no reference count.
/// What `bits` and `length` mean depends on `tag`:
///
/// | tag | bits | length |
/// |---|---|---|
/// | null, erased | 0 | 0 |
/// | bool | 0 or 1 | 0 |
/// | int, date, day | the Int64's bit pattern; of a day, the days since 1970-01-01 | 0 |
/// | double | the bit pattern | 0 |
/// | object | the row's bit pattern | the entity's number |
/// | string, url, data, json | offset in the arena | count of bytes |
/// | decimal | offset in the arena of its bytes (`RawDecimal`) | count of bytes |
/// | uuid | offset in the arena of its 16 bytes, in text order | 16 |
/// | objects | offset in the arena of 12 bytes each: entity UInt32, row Int64 | count of bytes |
///
/// Numbers in an arena are little-endian.
///
/// With `isLarge`, the tag is one of string, url, data, json, and the arena holds at `bits` 20
/// bytes: number UInt64, length UInt64, checksum UInt32, little-endian; `length` is 20.
///
/// Two words, which are copied as such: the one that is not `bits` holds, from its lowest bit, the
/// length (32), the tag (8), whether the value is large (8) and `shared` (16).
@usableFromInline @frozen
package struct ValueCell: Sendable {
  @usableFromInline package var bits: UInt64
  @usableFromInline var word: UInt64

  @inlinable @inline(__always)
  package init(tag: ValueTag, bits: UInt64 = 0, length: UInt32 = 0, isLarge: Bool = false) {
    self.bits = bits
    word = UInt64(length) | UInt64(tag.place) << 32 | (isLarge ? 1 << 40 : 0)
  }

  /// The count of bytes in the arena, or an entity's number; see the table.
  @inlinable package var length: UInt32 {
    @inline(__always) get { UInt32(truncatingIfNeeded: word) }
    @inline(__always) set { word = word & ~0xFFFF_FFFF | UInt64(newValue) }
  }

  /// The kind of the value.
  @inlinable package var tag: ValueTag {
    // A tag's place among the cases is how the language keeps it.
    @inline(__always) get {
      unsafeBitCast(UInt8(truncatingIfNeeded: word >> 32), to: ValueTag.self)
    }
    @inline(__always) set { word = word & ~(0xFF << 32) | UInt64(newValue.place) << 32 }
  }

  /// Whether the arena holds the description of a large value.
  @inlinable package var isLarge: Bool {
    @inline(__always) get { word & 1 << 40 != 0 }
    @inline(__always) set { word = word & ~(1 << 40) | (newValue ? 1 << 40 : 0) }
  }

  /// The index of the value in its batch's `sharedTexts`, from 1; 0 if it has none. Not a part of
  /// the value but a hint, which readers check.
  @inlinable package var shared: UInt16 {
    @inline(__always) get { UInt16(truncatingIfNeeded: word >> 48) }
    @inline(__always) set { word = word & ~(0xFFFF << 48) | UInt64(newValue) << 48 }
  }

  /// No value.
  @inlinable package static var null: ValueCell {
    @inline(__always) get { ValueCell(tag: .null) }
  }

  /// An erased value.
  @inlinable package static var erased: ValueCell {
    @inline(__always) get { ValueCell(tag: .erased) }
  }

  /// The tag's place, if the bits or the arena hold the value itself; 0 for null. Greater than any
  /// tag for a large value.
  @inlinable package var plainTag: UInt32 {
    @inline(__always) get { UInt32(truncatingIfNeeded: word >> 32) & 0xFFFF }
  }

  /// Whether this is null.
  @inlinable package var isNull: Bool {
    @inline(__always) get { word & 0xFF << 32 == 0 }
  }

  /// Whether the value has bytes in the arena.
  @inlinable package var usesArena: Bool {
    @inline(__always) get {
      switch tag {
      case .string, .url, .data, .json, .uuid, .objects, .decimal: true
      default: false
      }
    }
  }

  /// The range of the value's bytes in the arena; empty for kinds without any.
  @inlinable package var arenaRange: Range<Int> {
    @inline(__always) get { usesArena ? Int(bits)..<Int(bits) + Int(length) : 0..<0 }
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

  /// The value of the cell, read from its arena.
  @inlinable
  package func value(in arena: UnsafeRawBufferPointer) -> Value {
    switch tag {
    case .null: .null
    case .erased: .erased
    case .bool: .bool(bits != 0)
    case .int: .int(Int64(bitPattern: bits))
    case .double: .double(Double(bitPattern: bits))
    case .date: .date(Timestamp(microseconds: Int64(bitPattern: bits)))
    case .object: .object(ObjectReference(entity: length, row: Int64(bitPattern: bits)))
    case .uuid: .uuid(RawUUID(bytes: bytes(in: arena)))
    case .day: .day(CalendarDay(nearestTo: Int64(bitPattern: bits)))
    case .decimal: .decimal(RawDecimal(validBytes: bytes(in: arena)))
    case .string, .url, .data, .json, .objects: variableValue(in: arena)
    }
  }

  /// The same value, its bytes appended to another arena.
  @inlinable @inline(__always)
  package func copied(
    from source: UnsafeRawBufferPointer, to arena: inout ContiguousArray<UInt8>
  ) -> ValueCell {
    guard usesArena else { return self }
    var copy = self
    copy.bits = UInt64(arena.count)
    // Bytes of a known type are copied at once, raw ones each by itself.
    bytes(in: source).withMemoryRebound(to: UInt8.self) { arena.append(contentsOf: $0) }
    return copy
  }

  /// The value's bytes in its arena.
  @inlinable @inline(__always)
  package func bytes(in arena: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: arena[arenaRange])
  }

  /// The value of a cell of a kind whose values have any length.
  @usableFromInline
  package func variableValue(in arena: UnsafeRawBufferPointer) -> Value {
    let bytes = bytes(in: arena)
    if isLarge { return .large(LargeValue(tag: tag, description: bytes)) }
    switch tag {
    case .string: return .string(String(decoding: bytes, as: UTF8.self))
    case .url: return .url(String(decoding: bytes, as: UTF8.self))
    case .json: return .json(String(decoding: bytes, as: UTF8.self))
    case .data: return .data(Array(bytes))
    default: return .objects(ObjectReference.list(in: bytes))
    }
  }

  /// Creates a cell for a value and appends its bytes to `arena`.
  package init(_ value: Value, appendingTo arena: inout ContiguousArray<UInt8>) {
    let start = UInt64(arena.count)
    switch value {
    case .null: self = .null
    case .erased: self = .erased
    case .bool(let x): self.init(tag: .bool, bits: x ? 1 : 0)
    case .int(let x): self.init(tag: .int, bits: UInt64(bitPattern: x))
    case .double(let x): self.init(tag: .double, bits: x.bitPattern)
    case .date(let x): self.init(tag: .date, bits: UInt64(bitPattern: x.microseconds))
    case .day(let x): self.init(tag: .day, bits: UInt64(bitPattern: x.daysSince1970))
    case .decimal(let x):
      x.append(to: &arena)
      self.init(tag: .decimal, bits: start, length: UInt32(UInt64(arena.count) - start))
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
