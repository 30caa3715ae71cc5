extension Double {
  /// The double nearest to the number in the text; nil if the text is no number, or one beyond the
  /// range of doubles: so great that it would be infinite, or so small that it would be 0.
  package init?(inRange text: String) {
    guard let value = Double(text), value.isFinite else { return nil }
    if value == 0 {
      // Only a 0 may become one. What follows the mark of the exponent is no digit of the number.
      let digits = text.utf8.prefix { byte in
        byte | 0x20 != UInt8(ascii: "e") && byte | 0x20 != UInt8(ascii: "p")
      }
      guard !digits.contains(where: { $0 >= UInt8(ascii: "1") && $0 <= UInt8(ascii: "9") }) else {
        return nil
      }
    }
    self = value
  }
}
