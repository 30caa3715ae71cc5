/// Base64 text with padding, without white space.
package enum Base64Text {
  private static let alphabet = ContiguousArray(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The text of these bytes.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: ContiguousArray<UInt8> = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var rest = bytes[...]
    while !rest.isEmpty {
      let group = rest.prefix(3)
      rest = rest.dropFirst(3)
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(3 - group.count) * 8
      for place in 0..<4 {
        let digit = Int(bits >> UInt32(18 - 6 * place) & 63)
        text.append(place <= group.count ? alphabet[digit] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Replaces the text by the bytes that it stands for: for large values, of which one copy is
  /// enough. Returns false, and leaves the text as it is, if it is something else.
  package static func decode(_ text: inout ContiguousArray<UInt8>) -> Bool {
    let count = text.count
    guard count > 0, count.isMultiple(of: 4) else { return count == 0 }
    var padding = 0
    while padding < 2, text[count - 1 - padding] == UInt8(ascii: "=") { padding += 1 }
    for index in 0..<count - padding where digits[Int(text[index])] > 63 { return false }
    text.withUnsafeMutableBufferPointer { text in
      var end = 0
      for start in stride(from: 0, to: count, by: 4) {
        // Padding counts as zeros.
        var bits: UInt32 = 0
        for index in start..<start + 4 { bits = bits << 6 | UInt32(digits[Int(text[index])] & 63) }
        for shift in [16, 8, 0] as [UInt32] {
          text[end] = UInt8(truncatingIfNeeded: bits >> shift)
          end += 1
        }
      }
    }
    text.removeLast(count - (count / 4 * 3 - padding))
    return true
  }

  /// The value of each digit; 64 for `=`, whose low bits are zero, and for what is none.
  private static let digits: ContiguousArray<UInt8> = {
    var table = ContiguousArray<UInt8>(repeating: 64, count: 256)
    for (value, digit) in alphabet.enumerated() { table[Int(digit)] = UInt8(value) }
    return table
  }()
}
