/// Base64 text, decoded where it stands: for large values, of which one copy is enough.
enum Base64Text {
  /// Replaces base64 text, with its padding and without white space, by the bytes it stands for.
  /// Returns false, and leaves the text as it is, if it is something else.
  static func decode(_ text: inout ContiguousArray<UInt8>) -> Bool {
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
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, digit) in alphabet.utf8.enumerated() { table[Int(digit)] = UInt8(value) }
    return table
  }()
}
