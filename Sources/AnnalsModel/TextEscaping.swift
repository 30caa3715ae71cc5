/// Writes text so that nothing in it is hidden from the reader, or acts on a terminal: hidden
/// characters become escapes as in JSON (`\n`, `\u202e`, a surrogate pair), and bytes that are not
/// UTF-8 become U+FFFD.
package struct TextEscaping: Sendable {
  /// Whether quotation marks get a backslash.
  private var escapesQuotes = false
  private var escapesBackslashes = false
  private var keepsLineFeeds = false
  /// Whether only the characters below U+0020 are escaped, as JSON demands.
  private var keepsHidden = false

  /// For text on one line.
  package static let line = TextEscaping()
  /// For lines of text, and for JSON: outside of its strings JSON has no hidden characters but
  /// white space.
  package static let lines = TextEscaping(keepsLineFeeds: true)
  /// For text between quotation marks, for people.
  package static let quoted = TextEscaping(escapesQuotes: true)
  /// For text between the quotation marks of JSON.
  package static let json = TextEscaping(escapesQuotes: true, escapesBackslashes: true)
  /// As `json`, and no more than JSON demands.
  package static let leastJSON = TextEscaping(
    escapesQuotes: true, escapesBackslashes: true, keepsHidden: true)

  /// Appends UTF-8 text, escaped.
  package func append(_ text: UnsafeRawBufferPointer, to bytes: inout ContiguousArray<UInt8>) {
    var plain = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        index += 1
        continue
      }
      let next = HiddenCharacters.scan(text, at: index)
      if needsEscape(next) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[plain..<index]))
        plain = index + next.length
        TextEscaping.append(escapeOf: next, to: &bytes)
      }
      index += next.length
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[plain...]))
  }

  /// The text, escaped.
  package func text(_ text: String) -> String {
    var text = text
    return text.withUTF8 { utf8 in
      var bytes: ContiguousArray<UInt8> = []
      append(UnsafeRawBufferPointer(utf8), to: &bytes)
      // Most texts have nothing to escape.
      return bytes.count == utf8.count ? nil : String(decoding: bytes, as: UTF8.self)
    } ?? text
  }

  private func needsEscape(_ character: HiddenCharacters.Scanned) -> Bool {
    switch character.scalar {
    case 0x22: escapesQuotes
    case 0x5C: escapesBackslashes
    case 0x0A: !keepsLineFeeds
    case ..<0x20: true
    default: character.isMalformed || character.isHidden && !keepsHidden
    }
  }

  private static func append(
    escapeOf character: HiddenCharacters.Scanned, to bytes: inout ContiguousArray<UInt8>
  ) {
    guard !character.isMalformed else { return bytes.append(contentsOf: "\u{FFFD}".utf8) }
    let scalar = character.scalar
    let letter: Unicode.Scalar
    switch scalar {
    case 0x08: letter = "b"
    case 0x09: letter = "t"
    case 0x0A: letter = "n"
    case 0x0C: letter = "f"
    case 0x0D: letter = "r"
    case 0x22, 0x5C: letter = scalar == 0x22 ? "\"" : "\\"
    case 0x10000...:
      append(unit: 0xD7C0 + (scalar >> 10), to: &bytes)
      return append(unit: 0xDC00 | (scalar & 0x3FF), to: &bytes)
    default: return append(unit: scalar, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\\"))
    bytes.append(UInt8(ascii: letter))
  }

  private static func append(unit: UInt32, to bytes: inout ContiguousArray<UInt8>) {
    bytes.append(contentsOf: "\\u".utf8)
    for shift in [12, 8, 4, 0] as [UInt32] {
      let digit = UInt8(unit >> shift & 15)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}
