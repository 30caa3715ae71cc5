import AnnalsModel

/// Formats text in quotation marks, on one line.
package enum QuotedText {
  /// The greatest number of Unicode scalars in a line of a dump.
  private static let maximumShort = 80

  /// The text with hidden characters, quotation marks and backslashes escaped as in JSON. Text over
  /// `maximumLength` scalars is cut, and followed by its length in bytes.
  package static func text(_ text: String, maximumLength: Int = .max) -> String {
    let scalars = text.unicodeScalars
    let end =
      scalars.index(
        scalars.startIndex, offsetBy: maximumLength, limitedBy: scalars.endIndex)
      ?? scalars.endIndex
    let shown = TextEscaping.json.text(String(scalars[..<end]))
    return end == scalars.endIndex ? "\"\(shown)\"" : "\"\(shown)…\" (\(text.utf8.count) bytes)"
  }

  /// The text, cut to what a line of a dump shows.
  package static func short(_ text: String) -> String {
    self.text(text, maximumLength: maximumShort)
  }
}
