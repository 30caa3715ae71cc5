/// A large value: stored once in the file, beside the records that refer to it.
///
/// Two are equal if kind, length and crc32 are, so a value that was written twice is the same
/// value.
@frozen
public struct LargeValue: Sendable {
  /// The kind of the value: string, url, data or json.
  @usableFromInline package var tag: ValueTag
  /// The number under which the store keeps the bytes; never reused.
  @usableFromInline package var number: UInt64
  /// The number of bytes.
  public package(set) var length: UInt64
  /// zlib's crc32 of the bytes.
  @usableFromInline package var checksum: UInt32

  /// Creates a reference from its parts.
  package init(tag: ValueTag, number: UInt64, length: UInt64, checksum: UInt32) {
    self.tag = tag
    self.number = number
    self.length = length
    self.checksum = checksum
  }

  /// Values with more bytes than this are large.
  package static let threshold = 4_096
}

extension LargeValue: Hashable {
  /// Whether both have the same kind, length and crc32; their numbers may differ.
  public static func == (a: LargeValue, b: LargeValue) -> Bool {
    a.tag == b.tag && a.length == b.length && a.checksum == b.checksum
  }

  /// Feeds the compared parts into the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(tag)
    hashBytes(into: &hasher)
  }
}

extension LargeValue {
  /// Whether this refers to `value`: the same kind, length and crc32. O(length) if the first two
  /// are equal.
  func describes(_ value: Value) -> Bool {
    guard length > UInt64(LargeValue.threshold), value.tag == tag else { return false }
    switch value {
    case .string(let text), .url(let text), .json(let text): return hasChecksum(of: text.utf8)
    case .data(let bytes): return hasChecksum(of: bytes)
    default: return false
    }
  }

  private func hasChecksum(of bytes: some Collection<UInt8>) -> Bool {
    UInt64(bytes.count) == length && CRC32.checksum(of: bytes) == checksum
  }

  /// Feeds length and checksum into the hasher, as is done for the value where its bytes are read.
  func hashBytes(into hasher: inout Hasher) {
    hasher.combine(length)
    hasher.combine(checksum)
  }

  /// Feeds the bytes of a value into the hasher; above the threshold their length and checksum, so
  /// that a value hashes the same whether it was read or not.
  static func hash(_ bytes: some Collection<UInt8>, into hasher: inout Hasher) {
    let count = bytes.count
    if count > threshold {
      hasher.combine(UInt64(count))
      hasher.combine(CRC32.checksum(of: bytes))
    } else {
      for byte in bytes { hasher.combine(byte) }
    }
  }
}

/// zlib's crc32, for a module that has no zlib.
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    var remainder = UInt32(index)
    for _ in 0..<8 {
      remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
    }
    return remainder
  }

  /// The checksum of the bytes. O(n).
  static func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
    func add(_ bytes: some Collection<UInt8>) -> UInt32 {
      table.withUnsafeBufferPointer { table in
        var remainder: UInt32 = .max
        for byte in bytes {
          remainder = remainder >> 8 ^ table[Int(UInt8(truncatingIfNeeded: remainder) ^ byte)]
        }
        return ~remainder
      }
    }
    return bytes.withContiguousStorageIfAvailable { add($0) } ?? add(bytes)
  }
}
