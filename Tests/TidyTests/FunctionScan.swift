/// Finds where functions begin and end, by counting braces.
struct FunctionScan {
  /// The lines, counted from 0, of each function, initialiser, deinitialiser and subscript that has
  /// a body: from the one with the keyword to the one with the closing brace.
  static func bodies(in code: [String]) -> [Range<Int>] {
    let keyword = /(^|[\s;{}])(func\s+\S|init[?(<]|deinit\b|subscript[(<])/
    return code.indices.compactMap { line in
      guard ["func", "init", "subscript"].contains(where: code[line].contains) else { return nil }
      guard let match = code[line].firstMatch(of: keyword) else { return nil }
      // A call of an initialiser stands behind a point, `self.init`, and does not match.
      let column = code[line].distance(from: code[line].startIndex, to: match.range.lowerBound)
      return body(in: code, line: line, column: column)
    }
  }

  private static func body(in code: [String], line: Int, column: Int) -> Range<Int>? {
    var parentheses = 0
    var braces = 0
    for index in line..<code.count {
      let characters = Array(code[index])
      for character in characters[(index == line ? min(column + 1, characters.count) : 0)...] {
        switch character {
        case "(", "[": parentheses += 1
        case ")", "]": parentheses -= 1
        case "{" where parentheses == 0 || braces > 0: braces += 1
        case "}" where parentheses <= 0 || braces > 0:
          braces -= 1
          if braces == 0 { return line..<index + 1 }
          // The end of a protocol: a requirement has no body.
          if braces < 0 { return nil }
        default: break
        }
      }
      if braces == 0 && parentheses == 0 && index + 1 < code.count {
        if beginsDeclaration(code[index + 1]) { return nil }
      }
    }
    return nil
  }

  /// Whether the function before `line` was a requirement, without a body.
  private static func beginsDeclaration(_ line: String) -> Bool {
    let first = line.drop { $0 == " " }.prefix { $0.isLetter || $0 == "@" }
    return first.hasPrefix("@")
      || [
        "func", "init", "deinit", "subscript", "var", "let", "static", "mutating", "associatedtype",
        "case", "package", "public", "private",
      ].contains(first)
  }
}
