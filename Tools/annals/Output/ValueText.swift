import Annals

/// Formats values and names for people. Control characters are escaped, so that stored text cannot
/// control the terminal or change the reading direction of a line.
struct ValueText {
  let zone: LocalZone
  /// The greatest number of characters of a text that is shown.
  var limit = 60

  /// A value: text in quotes, dates in local time, `none` for no value.
  func text(_ value: Value) -> String {
    switch value {
    case .null: "none"
    case .erased: "(erased)"
    case .string(let text): "\"" + ValueText.plain(text.shortened(to: limit), quoting: true) + "\""
    case .url(let text), .json(let text): ValueText.plain(text.shortened(to: limit))
    case .date(let moment): zone.exactText(moment)
    case .data(let bytes): "(\(Numerals.counted(bytes.count, "byte")))"
    case .large(let large): "(\(Numerals.counted(large.length, "byte")))"
    default: value.plainText
    }
  }

  /// A value with the names of the objects that it refers to.
  func text(_ value: Value, _ name: (ObjectReference) throws -> String) rethrows -> String {
    switch value {
    case .object(let target): return try name(target)
    case .objects(let targets):
      let shown = try targets.prefix(10).map(name)
      let more = targets.count > 10 ? ["… \(Numerals.grouped(targets.count - 10)) more"] : []
      return "[" + (shown + more).joined(separator: ", ") + "]"
    default: return text(value)
    }
  }

  /// The lines of a text, which end in LF or CR LF.
  static func lines(of text: String) -> [String] {
    text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      String(Substring(line.last == 0x0D ? line.dropLast() : line))
    }
  }

  /// The text with control characters, and those that change the direction of writing, escaped.
  static func plain(_ text: String, quoting: Bool = false) -> String {
    let isPlain = text.utf8.allSatisfy {
      // Escaped scalars beyond ASCII begin with C2 or E2 in UTF-8.
      $0 >= 0x20 && $0 != 0x7F && $0 != 0xC2 && $0 != 0xE2
        && (!quoting || $0 != UInt8(ascii: "\""))
    }
    if isPlain { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case "\"" where quoting: result += "\\\""
      case "\u{0}"..<" ", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
