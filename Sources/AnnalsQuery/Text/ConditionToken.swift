import AnnalsModel

/// A token of a condition's text.
struct ConditionToken {
  enum Kind: Equatable {
    /// A name or a keyword.
    case word(String)
    /// A name in backquotes.
    case name(String)
    case string(String)
    case number(String)
    /// A date, and a time if there is one, as written.
    case date(String)
    /// Digits and the letter of a length of time, as written.
    case age(String)
    case uuid(RawUUID)
    /// An operator or a bracket.
    case symbol(String)
    case end
  }

  let kind: Kind
  /// The position of its first character, from 1.
  let column: Int
  /// Whether nothing separates it from the token before.
  let isAttached: Bool

  /// A number or a date as it was written; nil for other tokens.
  var bareText: String? {
    switch kind {
    case .number(let text), .date(let text): text
    default: nil
    }
  }
}

/// Splits a condition's text into tokens.
struct ConditionLexer {
  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  private var column: Int { position + 1 }

  private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
    let index = position + offset
    return index < scalars.count ? scalars[index] : nil
  }

  private func fail(_ reason: String, at column: Int? = nil) -> ConditionTextError {
    ConditionTextError(column: column ?? self.column, reason: reason)
  }

  /// The next token; `end` at the end, repeatedly.
  mutating func next() throws(ConditionTextError) -> ConditionToken {
    let before = position
    while let scalar = scalar(), scalar.properties.isWhitespace { position += 1 }
    let isAttached = position == before && position > 0
    let column = column
    return ConditionToken(kind: try kind(), column: column, isAttached: isAttached)
  }

  private mutating func kind() throws(ConditionTextError) -> ConditionToken.Kind {
    guard let first = scalar() else { return .end }
    if let uuid = uuid() { return .uuid(uuid) }
    let isSigned = first == "-" || first == "+"
    if isDigit(first) || isSigned && scalar(1).map(isDigit) ?? false { return try number() }
    switch first {
    case "\"", "'": return .string(try string(first))
    case "`": return .name(try quotedName())
    default: break
    }
    if ConditionWords.isNameScalar(first) {
      return .word(consume { ConditionWords.isNameScalar($0) })
    }
    let pairs = ["==", "=<", "=>", "!=", "<>", "<=", ">=", "&&", "||"]
    if let second = scalar(1) {
      let pair = String(String.UnicodeScalarView([first, second]))
      if pairs.contains(pair) {
        position += 2
        return .symbol(pair)
      }
    }
    guard "=!<>(){}[],.#@-".unicodeScalars.contains(first) else {
      throw fail("\"\(first)\" has no meaning here")
    }
    position += 1
    return .symbol(String(first))
  }

  private mutating func consume(while isWanted: (Unicode.Scalar) -> Bool) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = scalar(), isWanted(scalar) {
      text.append(scalar)
      position += 1
    }
    return String(text)
  }

  private mutating func uuid() -> RawUUID? {
    guard position + 36 <= scalars.count, scalar(8) == "-", scalar(36).map(isNamePart) != true
    else {
      return nil
    }
    let text = String(String.UnicodeScalarView(scalars[position..<position + 36]))
    guard let uuid = RawUUID(text) else { return nil }
    position += 36
    return uuid
  }

  private func isNamePart(_ scalar: Unicode.Scalar) -> Bool { ConditionWords.isNameScalar(scalar) }

  /// A number or a date.
  private mutating func number() throws(ConditionTextError) -> ConditionToken.Kind {
    let start = position
    position += 1
    _ = consume(while: isDigit)
    if scalar() == "-", scalar(1).map(isDigit) ?? false {
      consumeDate()
      return .date(text(from: start))
    }
    if scalar() == ".", scalar(1).map(isDigit) ?? false {
      position += 1
      _ = consume(while: isDigit)
    }
    if scalar() == "e" || scalar() == "E" {
      let isSigned = scalar(1) == "-" || scalar(1) == "+"
      if scalar(isSigned ? 2 : 1).map(isDigit) ?? false {
        position += isSigned ? 2 : 1
        _ = consume(while: isDigit)
      }
    }
    if let next = scalar(), ConditionWords.isNameScalar(next) {
      let isWhole = scalars[start..<position].allSatisfy(isDigit)
      if isWhole, RelativeDate.isUnit(Character(next)), scalar(1).map(isNamePart) != true {
        position += 1
        return .age(text(from: start))
      }
      throw fail("a name that begins with a digit stands in backquotes", at: start + 1)
    }
    return .number(text(from: start))
  }

  private func text(from start: Int) -> String {
    String(String.UnicodeScalarView(scalars[start..<position]))
  }

  /// Consumes the characters of a date, and of a time after one space if there is one.
  private mutating func consumeDate() {
    _ = consume { isDigit($0) || $0 == "-" }
    let isTime =
      scalar() == "T" || scalar() == "t"
      || scalar() == " " && scalar(1).map(isDigit) ?? false && scalar(2).map(isDigit) ?? false
        && scalar(3) == ":"
    guard isTime else { return }
    position += 1
    _ = consume { isDigit($0) || [":", ".", "+", "-", "Z", "z"].contains($0) }
  }

  private mutating func quotedName() throws(ConditionTextError) -> String {
    let start = column
    var name = String.UnicodeScalarView()
    position += 1
    while let scalar = scalar() {
      position += 1
      if scalar == "`" {
        guard self.scalar() == "`" else { return String(name) }
        position += 1
      }
      name.append(scalar)
    }
    throw fail("the backquote has no end", at: start)
  }

  private mutating func string(_ quote: Unicode.Scalar) throws(ConditionTextError) -> String {
    let start = column
    var text = String.UnicodeScalarView()
    position += 1
    while let scalar = scalar() {
      position += 1
      if scalar == quote { return String(text) }
      if scalar == "\\" { try escape(into: &text) } else { text.append(scalar) }
    }
    throw fail("the text has no closing \(quote)", at: start)
  }

  private mutating func escape(into text: inout String.UnicodeScalarView) throws(ConditionTextError)
  {
    let start = column - 1
    let next = scalar()
    position += 1
    switch next {
    case "\"", "'", "\\": text.append(next ?? "\\")
    case "n": text.append("\n")
    case "r": text.append("\r")
    case "t": text.append("\t")
    // As patterns have them.
    case "*", "?": text.append(contentsOf: ["\\", next ?? "*"])
    case "u":
      guard scalar() == "{" else { throw fail("write \\u{…} with a hexadecimal number", at: start) }
      position += 1
      let digits = consume { $0.properties.isASCIIHexDigit }
      guard digits.utf8.count <= 8, let number = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(number), self.scalar() == "}"
      else { throw fail("write \\u{…} with the number of a character", at: start) }
      position += 1
      text.append(scalar)
    default:
      throw fail("after \\ comes \", ', \\, n, r, t, u{…}, * or ?", at: start)
    }
  }
}

private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
