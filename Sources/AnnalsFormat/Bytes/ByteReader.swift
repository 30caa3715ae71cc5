import AnnalsModel

/// A cursor over untrusted bytes of a file: every read checks the bytes left, by subtraction,
/// before it touches any.
///
/// Borrows the bytes: its creator keeps them alive and unchanged while it is in use.
@usableFromInline @frozen
package struct ByteReader {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  /// Where the next read begins.
  @usableFromInline package internal(set) var offset: Int

  /// A reader at the beginning of `bytes`.
  @inlinable
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    offset = 0
  }

  /// How many bytes are left.
  @inlinable package var remaining: Int { bytes.count - offset }

  /// The bytes that are left; they are valid as long as the reader's own.
  @inlinable package var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[offset...])
  }

  /// Throws unless `count` bytes are left.
  @inlinable @inline(__always)
  package func require(_ count: Int) throws(DecodeFault) {
    guard count >= 0, count <= remaining else {
      throw .truncated(at: offset, needed: count &- remaining)
    }
  }

  /// Throws unless everything was read.
  @inlinable
  package func expectEnd() throws(DecodeFault) {
    guard remaining == 0 else { throw invalid("bytes follow the end of the record") }
  }

  /// The fault of a broken rule, here.
  @inlinable
  package func invalid(_ reason: DecodeFault.Reason) -> DecodeFault {
    .invalid(at: offset, reason: reason)
  }

  /// A fault at the current offset: a form that only later versions know.
  package func newer(_ form: DecodeFault.Reason) -> DecodeFault {
    .newer(at: offset, reason: form)
  }

  /// Reads one byte.
  @inlinable @inline(__always)
  package mutating func readUInt8() throws(DecodeFault) -> UInt8 {
    try require(1)
    defer { offset += 1 }
    return bytes[offset]
  }

  /// Reads a little-endian integer of fixed width.
  @inlinable @inline(__always)
  package mutating func read<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type
  ) throws(DecodeFault) -> T {
    try require(MemoryLayout<T>.size)
    defer { offset += MemoryLayout<T>.size }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// Reads sixteen bytes of a UUID.
  @inlinable
  package mutating func readUUID() throws(DecodeFault) -> RawUUID {
    RawUUID(bytes: try readBytes(16))
  }

  /// Reads `count` bytes; they are valid as long as the reader's own.
  @inlinable @inline(__always)
  package mutating func readBytes(_ count: Int) throws(DecodeFault) -> UnsafeRawBufferPointer {
    try require(count)
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Reads a variable-length integer; an overlong form is refused.
  @inlinable @inline(__always)
  package mutating func readVarInt() throws(DecodeFault) -> UInt64 {
    if offset < bytes.count, bytes[offset] < 0x80 {
      defer { offset += 1 }
      return UInt64(bytes[offset])
    }
    return try readLongVarInt()
  }

  @usableFromInline
  package mutating func readLongVarInt() throws(DecodeFault) -> UInt64 {
    if remaining >= 8 {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let ends = ~word & 0x8080_8080_8080_8080
      if ends != 0 { return try readVarInt(in: word, end: UInt64(ends.trailingZeroBitCount)) }
    }
    return try readVarIntByByte()
  }

  /// Reads a variable-length integer whose last byte's highest bit is bit `end` of the word that
  /// begins here.
  @inline(__always)
  private mutating func readVarInt(in word: UInt64, end: UInt64) throws(DecodeFault) -> UInt64 {
    guard end == 7 || word &>> (end &- 7) & 0xFF != 0 else {
      throw invalid("an overlong number")
    }
    // The sevens of bits are brought together in pairs, then in fours, then in eights.
    let shift = 63 &- end
    var value = (word &<< shift) &>> shift & 0x7F7F_7F7F_7F7F_7F7F
    value = value & 0x007F_007F_007F_007F | (value & 0x7F00_7F00_7F00_7F00) >> 1
    value = value & 0x0000_3FFF_0000_3FFF | (value & 0x3FFF_0000_3FFF_0000) >> 2
    value = value & 0x0000_0000_0FFF_FFFF | (value & 0x0FFF_FFFF_0000_0000) >> 4
    offset &+= Int(end &>> 3) &+ 1
    return value
  }

  private mutating func readVarIntByByte() throws(DecodeFault) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var position = offset
    while position < bytes.count {
      let byte = bytes[position]
      // The tenth byte holds the one bit that is left.
      guard shift < 63 || byte <= 1 else { throw invalid("a number of more than 64 bits") }
      value |= UInt64(byte & 0x7F) << shift
      position += 1
      if byte < 0x80 {
        guard byte != 0 || shift == 0 else { throw invalid("an overlong number") }
        offset = position
        return value
      }
      shift += 7
    }
    throw .truncated(at: offset, needed: 1)
  }

  /// Reads a zigzag variable-length integer.
  @inlinable @inline(__always)
  package mutating func readZigzag() throws(DecodeFault) -> Int64 {
    VarInt.unzigzag(try readVarInt())
  }

  /// Reads a variable-length integer of at most 32 bits.
  @inlinable
  package mutating func readVarUInt32() throws(DecodeFault) -> UInt32 {
    let start = offset
    guard let value = UInt32(exactly: try readVarInt()) else {
      throw .tooLarge(at: start, limit: UInt64(UInt32.max))
    }
    return value
  }

  /// Reads a variable-length integer that is a number of something: at most 2^62 - 1.
  @inlinable @inline(__always)
  package mutating func readVarInt64() throws(DecodeFault) -> Int64 {
    let start = offset
    let value = try readVarInt()
    guard value <= FormatLimits.maximumNumber else {
      throw .tooLarge(at: start, limit: FormatLimits.maximumNumber)
    }
    return Int64(truncatingIfNeeded: value)
  }

  /// As `readVarInt64`, of what has no sign: an offset, a length, a large value's number.
  package mutating func readVarUInt62() throws(DecodeFault) -> UInt64 {
    UInt64(try readVarInt64())
  }

  /// Reads a number of eight bytes: at most 2^62 - 1.
  package mutating func readNumber() throws(DecodeFault) -> UInt64 {
    let start = offset
    let value = try read(UInt64.self)
    guard value <= FormatLimits.maximumNumber else {
      throw .tooLarge(at: start, limit: FormatLimits.maximumNumber)
    }
    return value
  }

  /// Reads how many items follow, each of at least `minimumLength` bytes (0: they may take none,
  /// and only `limit` bounds them).
  @inlinable @inline(__always)
  package mutating func readCount(
    limit: Int, minimumLength: Int = 1
  ) throws(DecodeFault) -> Int {
    let start = offset
    let value = try readVarInt()
    guard value <= UInt64(limit) else { throw .tooLarge(at: start, limit: UInt64(limit)) }
    let count = Int(value)
    if minimumLength > 0, count > remaining / minimumLength {
      throw .truncated(at: start, needed: count &* minimumLength &- remaining)
    }
    return count
  }

  /// Reads a length and as many bytes.
  @inlinable @inline(__always)
  package mutating func readSizedBytes() throws(DecodeFault) -> UnsafeRawBufferPointer {
    try readBytes(try readCount(limit: FormatLimits.maximumDecodedLength))
  }

  /// Reads a length and as many bytes, all of which `read` must read.
  mutating func readSized<T>(
    _ read: (inout ByteReader) throws(DecodeFault) -> T
  ) throws(DecodeFault) -> T {
    let count = try readCount(limit: FormatLimits.maximumDecodedLength)
    // Within the bytes before their end, so that offsets in faults stay right.
    var inner = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<(offset + count)]))
    inner.offset = offset
    let result = try read(&inner)
    try inner.expectEnd()
    offset += count
    return result
  }

  /// Reads a length and as many bytes of UTF-8, which is checked.
  package mutating func readString() throws(DecodeFault) -> String {
    let start = offset
    let text = try readSizedBytes()
    guard let string = String(validating: text, as: UTF8.self) else {
      throw .invalid(at: start, reason: "text that is not UTF-8")
    }
    return string
  }

  /// Reads a byte of flags, of which only those in `known` may be set.
  @inlinable
  package mutating func readFlags(known: UInt8) throws(DecodeFault) -> UInt8 {
    let flags = try readUInt8()
    guard flags & ~known == 0 else {
      throw .newer(at: offset - 1, reason: "a flag")
    }
    return flags
  }

  /// Skips `count` bytes that must be zero.
  package mutating func skipZeros(_ count: Int) throws(DecodeFault) {
    let start = offset
    if let place = try readBytes(count).firstNonzero {
      throw .invalid(at: start + place, reason: "a reserved byte that is not zero")
    }
  }
}

extension UnsafeRawBufferPointer {
  /// The index of the first byte that is not zero; nil if all are. Looks at 32 at a time.
  package var firstNonzero: Int? {
    var index = 0
    while count - index >= 32 {
      let a = loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let b = loadUnaligned(fromByteOffset: index + 8, as: UInt64.self)
      let c = loadUnaligned(fromByteOffset: index + 16, as: UInt64.self)
      let d = loadUnaligned(fromByteOffset: index + 24, as: UInt64.self)
      if a | b | c | d != 0 { break }
      index += 32
    }
    return self[index...].firstIndex { $0 != 0 }
  }

  /// Whether all bytes are zero.
  package var isZero: Bool { firstNonzero == nil }
}

extension ContiguousArray<UInt8> {
  /// What `read` makes of all of the bytes.
  func decoded<R>(
    _ read: (inout ByteReader) throws(DecodeFault) -> R
  ) throws(DecodeFault) -> R {
    try withBytes { bytes throws(DecodeFault) in
      var reader = ByteReader(bytes)
      let result = try read(&reader)
      try reader.expectEnd()
      return result
    }
  }
}
