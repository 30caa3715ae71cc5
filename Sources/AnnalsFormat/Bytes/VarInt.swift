/// Variable-length integers: LEB128, seven bits a byte, least significant first, the high bit set
/// on all bytes but the last. Only the shortest form is valid. Signed values go through zigzag.
@usableFromInline @frozen
package enum VarInt {
  /// The greatest count of bytes of one.
  package static let maximumLength = 10

  /// The unsigned number that stands for a signed one: 0, -1, 1, -2 … become 0, 1, 2, 3 …
  @inlinable
  package static func zigzag(_ value: Int64) -> UInt64 {
    UInt64(bitPattern: value << 1) ^ UInt64(bitPattern: value >> 63)
  }

  /// The signed number that an unsigned one stands for.
  @inlinable
  package static func unzigzag(_ value: UInt64) -> Int64 {
    Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  /// How many bytes the number takes.
  @inlinable
  package static func length(_ value: UInt64) -> Int {
    // Seven bits a byte; `| 1` makes 0 take one.
    (70 - (value | 1).leadingZeroBitCount) / 7
  }
}
