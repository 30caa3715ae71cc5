/// Finds comments and string literals, so that rules about code do not stumble over prose.
///
/// It knows line and block comments (nested), string literals with any number of `#`, of one or
/// more lines, and interpolation, whose contents it masks too.
struct CodeMask {
  private let text: [UInt8]
  private var result: [UInt8]
  private var position = 0

  /// `text` with every byte of comments and string literals made a space; line ends stay.
  static func mask(_ text: String) -> String {
    var mask = CodeMask(text)
    while mask.position < mask.text.count { mask.step() }
    return String(decoding: mask.result, as: UTF8.self)
  }

  private init(_ text: String) {
    self.text = Array(text.utf8)
    result = self.text
  }

  private func has(_ string: StaticString, at offset: Int = 0) -> Bool {
    guard position + offset + string.utf8CodeUnitCount <= text.count else { return false }
    for index in 0..<string.utf8CodeUnitCount
    where text[position + offset + index] != string.utf8Start[index] {
      return false
    }
    return true
  }

  private mutating func blank(_ count: Int) {
    for _ in 0..<count where position < text.count {
      if text[position] != UInt8(ascii: "\n") { result[position] = UInt8(ascii: " ") }
      position += 1
    }
  }

  private mutating func step() {
    switch text[position] {
    case UInt8(ascii: "/"):
      if has("//") {
        while position < text.count && text[position] != UInt8(ascii: "\n") { blank(1) }
      } else if has("/*") {
        maskBlockComment()
      } else {
        position += 1
      }
    case UInt8(ascii: "\""), UInt8(ascii: "#"): maskString()
    default: position += 1
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
    let pounds = poundCount(at: position)
    guard has("\"", at: pounds) else {
      position += max(1, pounds)
      return
    }
    let quotes = has("\"\"\"", at: pounds) ? 3 : 1
    blank(pounds + quotes)
    while position < text.count {
      let ends = quotes == 3 ? has("\"\"\"") : has("\"")
      if ends && poundCount(at: position + quotes) >= pounds {
        blank(quotes + pounds)
        return
      } else if has("\\") && poundCount(at: position + 1) >= pounds {
        let isInterpolation = has("(", at: 1 + pounds)
        blank(2 + pounds)
        if isInterpolation { maskInterpolation() }
      } else if quotes == 1 && has("\n") {
        // Not closed: some other use of the character, as in a regular expression.
        return
      } else {
        blank(1)
      }
    }
  }

  private func poundCount(at start: Int) -> Int {
    var end = start
    while end < text.count && text[end] == UInt8(ascii: "#") { end += 1 }
    return end - start
  }

  private mutating func maskInterpolation() {
    var depth = 1
    while position < text.count && depth > 0 {
      switch text[position] {
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      case UInt8(ascii: "\""), UInt8(ascii: "#"):
        let start = position
        maskString()
        let end = position
        position = start
        blank(end - start)
        continue
      default: break
      }
      blank(1)
    }
  }
}
