import AnnalsModel

// The counterpart of ByteReader: appends encoded values to an array of bytes.

extension ContiguousArray<UInt8> {
  /// The bytes that `write` appends.
  static func made(_ write: (inout Self) -> Void) -> Self {
    var bytes: Self = []
    write(&bytes)
    return bytes
  }

  /// Appends a little-endian integer of fixed width.
  @inlinable
  package mutating func append<T: FixedWidthInteger & BitwiseCopyable>(fixed value: T) {
    Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
  }

  /// Appends a variable-length integer.
  @inlinable
  package mutating func append(varInt value: UInt64) {
    if value < 0x80 { return append(UInt8(truncatingIfNeeded: value)) }
    // At once: each `append` looks again at who else holds the memory, and how much there is.
    var bytes: (UInt64, UInt64) = (0, 0)
    Swift.withUnsafeMutableBytes(of: &bytes) { bytes in
      var rest = value
      var count = 0
      while rest >= 0x80 {
        bytes[count] = UInt8(truncatingIfNeeded: rest) | 0x80
        rest >>= 7
        count += 1
      }
      bytes[count] = UInt8(truncatingIfNeeded: rest)
      append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[...count]))
    }
  }

  /// Appends a count or length, which is not negative.
  @inlinable
  package mutating func append(count value: Int) {
    append(varInt: UInt64(value))
  }

  /// Appends a signed integer in zigzag form.
  @inlinable
  package mutating func append(zigzag value: Int64) {
    append(varInt: UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63))
  }

  /// Appends a length and the text's UTF-8 bytes.
  package mutating func append(string text: String) {
    append(count: text.utf8.count)
    append(contentsOf: text.utf8)
  }

  /// Appends a length and the bytes.
  @inlinable
  package mutating func append(sized bytes: UnsafeRawBufferPointer) {
    append(count: bytes.count)
    append(contentsOf: bytes)
  }

  /// Appends zeros up to `count` bytes in all.
  package mutating func append(zerosUpTo count: Int) {
    // A few one by one; more are copied, which without optimisation is a hundred times faster.
    if count - self.count < 16 {
      while self.count < count { append(0) }
    } else {
      while self.count < count { append(contentsOf: zeros.prefix(count - self.count)) }
    }
  }
}

private let zeros = ContiguousArray<UInt8>(repeating: 0, count: FormatLimits.blockLength)
