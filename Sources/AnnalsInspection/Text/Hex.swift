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
