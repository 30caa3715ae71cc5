import Annals
import AnnalsInspector

/// Formats values and names for people, with hidden characters escaped.
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

  /// The value, of which a text that is still in the file is read as far as it is shown.
  func beginning(of value: Value, in state: StateReader) throws -> Value {
    guard case .large(let large) = value, large.tag.isText else { return value }
    if limit == .max { return try state.largeValues.complete(value) ?? value }
    var bytes: ContiguousArray<UInt8> = []
    let count = min(large.length, UInt64(ValueText.mostBytesShown))
    do throws(AnnalsError) {
      try state.largeValues.withPieces(of: large, in: 0..<count) { bytes.append(contentsOf: $0) }
    } catch {
      guard error.code == .lost else { throw error }
      return value
    }
    let cut = bytes.withUnsafeBytes { HiddenCharacters.incompleteEnd(of: $0) }
    bytes.removeLast(cut)
    return Value(bytes: bytes, tag: large.tag)
  }

  /// More than any text that is shortened has, whatever its characters are made of.
  private static let mostBytesShown = 64 << 10

  /// The lines of a text, which end in LF or CR LF.
  static func lines(of text: String) -> [String] {
    text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      String(Substring(line.last == 0x0D ? line.dropLast() : line))
    }
  }

  /// The text with its hidden characters escaped.
  static func plain(_ text: String, quoting: Bool = false) -> String {
    (quoting ? TextEscaping.quoted : .line).text(text)
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
