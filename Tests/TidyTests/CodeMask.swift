/// Finds comments and string literals, so that rules about code do not stumble over prose.
///
/// It knows line and block comments (nested), string literals with any number of `#`, of one or
/// more lines, and interpolation, whose contents it masks too.
struct CodeMask {
  private let text: [Character]
  private var result: [Character]
  private var position = 0

  /// `text` with every character of comments and string literals made a space; line ends stay.
  static func mask(_ text: String) -> String {
    var mask = CodeMask(text)
    while mask.position < mask.text.count { mask.step() }
    return String(mask.result)
  }

  private init(_ text: String) {
    self.text = Array(text)
    result = self.text
  }

  private func has(_ string: String, at offset: Int = 0) -> Bool {
    text[min(position + offset, text.count)...].starts(with: Array(string))
  }

  private mutating func blank(_ count: Int) {
    for _ in 0..<count where position < text.count {
      if text[position] != "\n" { result[position] = " " }
      position += 1
    }
  }

  private mutating func step() {
    if has("//") {
      while position < text.count && text[position] != "\n" { blank(1) }
    } else if has("/*") {
      maskBlockComment()
    } else if text[position] == "\"" || text[position] == "#" {
      maskString()
    } else {
      position += 1
    }
  }

  private mutating func maskBlockComment() {
    var depth = 0
    repeat {
      if has("/*") {
        depth += 1
        blank(2)
      } else if has("*/") {
        depth -= 1
        blank(2)
      } else {
        blank(1)
      }
    } while depth > 0 && position < text.count
  }

  /// Masks the string literal here; passes over a `#` that begins none.
  private mutating func maskString() {
    var pounds = 0
    while position + pounds < text.count && text[position + pounds] == "#" { pounds += 1 }
    guard has("\"", at: pounds) else {
      position += max(1, pounds)
      return
    }
    let hashes = String(repeating: "#", count: pounds)
    let quotes = has("\"\"\"", at: pounds) ? "\"\"\"" : "\""
    blank(pounds + quotes.count)
    while position < text.count {
      if has(quotes + hashes) {
        blank(quotes.count + pounds)
        return
      } else if has("\\" + hashes + "(") {
        blank(2 + pounds)
        maskInterpolation()
      } else if has("\\" + hashes) {
        blank(2 + pounds)
      } else if quotes.count == 1 && text[position] == "\n" {
        // Not closed: some other use of the character, as in a regular expression.
        return
      } else {
        blank(1)
      }
    }
  }

  private mutating func maskInterpolation() {
    var depth = 1
    while position < text.count && depth > 0 {
      switch text[position] {
      case "(": depth += 1
      case ")": depth -= 1
      case "\"", "#":
        let start = position
        maskString()
        for index in start..<position where text[index] != "\n" { result[index] = " " }
        continue
      default: break
      }
      blank(1)
    }
  }
}
