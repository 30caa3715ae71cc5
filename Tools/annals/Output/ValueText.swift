import Annals
import AnnalsInspector

/// Formats values and names for people, with hidden characters escaped.
struct ValueText {
  let zone: LocalZone
  /// The greatest number of characters of a text that is shown.
  var limit = 60
  /// More bytes than any text that is shortened has, whatever its characters are made of.
  static let mostBytesShown: UInt64 = 64 << 10

  /// A value: text in quotes, dates in local time, `none` for no value, objects by their names. Of
  /// bytes, and of a large text that was not read, how many there are.
  func text(_ value: ShownValue) -> String {
    if value.isCut == true, value.text.isEmpty, let length = value.length {
      return "(\(Numerals.counted(length, "byte")))"
    }
    switch value.kind {
    case .null: return "none"
    case .string:
      return "\"" + ValueText.plain(value.text.shortened(to: limit), quoting: true) + "\""
    case .url, .json: return ValueText.plain(value.text.shortened(to: limit))
    case .date: return value.us.map { zone.exactText(Timestamp(microseconds: $0)) } ?? value.text
    case .object: return ValueText.plain(value.text)
    case .objects:
      guard let objects = value.objects else { return ValueText.plain(value.text) }
      let shown = objects.map { ValueText.plain($0.name) }
      let left = (value.count ?? 0) - shown.count
      let more = left > 0 ? ["… \(Numerals.grouped(left)) more"] : []
      return "[" + (shown + more).joined(separator: ", ") + "]"
    case .erased, .bool, .int, .double, .decimal, .day, .uuid, .data: return value.text
    }
  }

  /// The lines of a text, which end in LF or CR LF.
  static func lines(of text: String) -> [String] {
    text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      String(Substring(line.last == 0x0D ? line.dropLast() : line))
    }
  }

  /// The text with its hidden characters escaped.
  static func plain(_ text: String, quoting: Bool = false) -> String {
    let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.allSatisfy {
        $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
      }
    }
    if isPlain == true { return text }
    return (quoting ? TextEscaping.quoted : .line).text(text)
  }

  /// A line of a message with long words cut, and itself if it is long in spite of that: names may
  /// have millions of characters.
  static func shortMessage(_ line: String) -> String {
    guard line.utf8.count > longestWord else { return line }
    var result = ""
    var length = 0
    for scalar in line.unicodeScalars {
      length = scalar == " " ? 0 : length + 1
      if length < longestWord {
        result.unicodeScalars.append(scalar)
      } else if length == longestWord {
        result += "…"
      }
    }
    let scalars = result.unicodeScalars
    guard scalars.count > 3 * longestLinePart else { return result }
    return String(scalars.prefix(2 * longestLinePart)) + " … "
      + String(scalars.suffix(longestLinePart))
  }

  private static let longestWord = 500
  private static let longestLinePart = 1_000
}
