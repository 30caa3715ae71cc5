/// Formats bytes and checksums in hexadecimal.
package enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two digits for each byte, without spaces.
  package static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return bytes.count * 2
    }
  }

  /// Eight digits.
  package static func text(_ checksum: UInt32) -> String {
    withUnsafeBytes(of: checksum.bigEndian) { text($0) }
  }
}

extension UInt8 {
  /// What this character stands for as a hexadecimal digit of either case; nil for others.
  @inlinable package var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension [UInt8] {
  /// Reads two digits for each byte; nil for anything else.
  package init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap(\.hexDigit)
    guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
