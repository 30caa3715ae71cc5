import AnnalsModel

/// Reads conditions as text, a subset of the NSPredicate format.
///
///     condition   = conjunction { (OR | "||") conjunction }
///     conjunction = negation { (AND | "&&") negation }
///     negation    = { NOT | "!" }
///                   ( "(" condition ")" | TRUEPREDICATE | FALSEPREDICATE | any | test )
///     any         = (ANY | ALL | NONE) path ( "(" condition ")" | "." test | comparison value )
///     test        = path ( comparison value | [NOT] IN "{" [value {"," value}] "}"
///                        | [NOT] BETWEEN "{" value "," value "}" | [NOT] match [options] text
///                        | [NOT] CONTAINS entity "#" row )
///     comparison  = "==" | "=" | "!=" | "<>" | "<" | "<=" | "=<" | ">" | ">=" | "=>"
///     match       = "==" | "!=" | BEGINSWITH | ENDSWITH | CONTAINS | LIKE
///     options     = "[c]" | "[d]" | "[cd]"
///     path        = SELF | name { "." name } [ "." "@" ( count | function "." path ) ]
///     function    = max | min | sum | avg
///     value       = nil | NULL | TRUE | FALSE | YES | NO | number | text | date | UUID
///                 | now | today | yesterday | age
///                 | entity "#" row [ "@" UUID ] | kind "(" text ")"
///     kind        = URL | JSON | DATA | DOUBLE | DECIMAL | DAY
///
/// The paths of `any` and before `@` end at a to-many relationship or an inverse; what follows is
/// of its objects. Keywords are of any case. A name with other than letters, digits and `_` stands
/// in backquotes. A dotted name is an attribute of that name if there is one, else a path. Values
/// take the type of the property they meet. Time and depth are bounded by `longestText` and
/// `deepest`.
package struct ConditionParser {
  /// The most bytes of a text.
  package static let longestText = 65_536
  /// How deep parentheses and NOTs may be nested.
  package static let deepest = 100

  let schema: Schema
  /// The entity whose objects are tested at the token; nil if that is not checked.
  var entity: Entity?
  /// How many seconds clocks are ahead of UTC at a moment, where a date has no offset of its own.
  let zone: (Timestamp) -> Int
  /// What `now`, `today`, `yesterday` and ages are read against; nil if they are not read.
  private(set) var now: Timestamp?
  private var lexer: ConditionLexer
  private(set) var token = ConditionToken(kind: .end, column: 1, isAttached: false)
  private var depth = 0

  /// Reads the text as a condition over objects of the entity; without one, names and types are
  /// not checked. O(length × properties).
  ///
  /// With `now`, dates in relation to it are read where a date is compared, also in quotes: as the
  /// first moment that they stand for. The condition has that moment.
  package static func parse(
    _ text: String, over entity: Entity? = nil, in schema: Schema = Schema(),
    now: Timestamp? = nil, zone: (Timestamp) -> Int = { _ in 0 }
  ) throws(ConditionTextError) -> Condition {
    guard text.utf8.count <= longestText else {
      throw ConditionTextError(column: 1, reason: "a condition is at most \(longestText) bytes")
    }
    return try withoutActuallyEscaping(zone) { (zone) throws(ConditionTextError) in
      var parser = ConditionParser(text, entity, schema, zone)
      parser.now = now
      try parser.advance()
      let condition = try parser.condition()
      guard parser.token.kind == .end else { throw parser.expected("AND, OR or the end") }
      return condition
    }
  }

  init(
    _ text: String, _ entity: Entity?, _ schema: Schema, _ zone: @escaping (Timestamp) -> Int
  ) {
    lexer = ConditionLexer(text)
    self.entity = entity
    self.schema = schema
    self.zone = zone
  }

  mutating func advance() throws(ConditionTextError) { token = try lexer.next() }

  func expected(_ what: String) -> ConditionTextError {
    ConditionTextError(column: token.column, reason: "expected \(what)")
  }

  /// Whether the token is this word or symbol.
  func isAt(_ text: String) -> Bool {
    switch token.kind {
    case .word(let word): word.utf8.count == text.utf8.count && word.uppercased() == text
    case .symbol(let symbol): symbol == text
    default: false
    }
  }

  /// Consumes a word or a symbol if it is next; returns whether it was.
  mutating func consume(_ texts: String...) throws(ConditionTextError) -> Bool {
    for text in texts where isAt(text) {
      try advance()
      return true
    }
    return false
  }

  mutating func require(_ symbol: String) throws(ConditionTextError) {
    guard try consume(symbol) else { throw expected("\"\(symbol)\"") }
  }

  mutating func condition() throws(ConditionTextError) -> Condition {
    var parts = [try conjunction()]
    while try consume("OR", "||") { parts.append(try conjunction()) }
    return .any(parts)
  }

  private mutating func conjunction() throws(ConditionTextError) -> Condition {
    var parts = [try negation()]
    while try consume("AND", "&&") { parts.append(try negation()) }
    return .all(parts)
  }

  private mutating func negation() throws(ConditionTextError) -> Condition {
    depth += 1
    defer { depth -= 1 }
    guard depth <= ConditionParser.deepest else {
      throw ConditionTextError(
        column: token.column, reason: "nested deeper than \(ConditionParser.deepest)")
    }
    if try consume("NOT", "!") { return try negation().negated }
    if try consume("(") {
      let inner = try condition()
      try require(")")
      return inner
    }
    if try consume("TRUEPREDICATE") { return .always }
    if try consume("FALSEPREDICATE") { return .never }
    if try consume("ANY") { return try anyTest() }
    if try consume("NONE") { return try anyTest().negated }
    if try consume("ALL") {
      guard case .some(let path, let inner) = try anyTest().form else { throw expected("a path") }
      return .every(path, inner)
    }
    let (path, kind) = try path(toMany: .end)
    return try test(of: path, kind)
  }

  /// Reads what stands behind a path, of this kind of values.
  mutating func test(
    of path: PropertyPath, _ kind: PropertyKind
  ) throws(ConditionTextError) -> Condition {
    if try consume("NOT") {
      guard isAt("IN") || isAt("BETWEEN") || matchAtToken != nil else {
        throw expected("IN, BETWEEN, BEGINSWITH, ENDSWITH, CONTAINS or LIKE")
      }
      return try test(path, kind).negated
    }
    return try test(path, kind)
  }

  private var isAtText: Bool {
    if case .string = token.kind { true } else { false }
  }

  private var matchAtToken: Condition.TextMatch? {
    [.begins, .ends, .contains, .like].first { isAt($0.description) }
  }

  private mutating func test(
    _ path: PropertyPath, _ kind: PropertyKind
  ) throws(ConditionTextError) -> Condition {
    if try consume("@") {
      let (whole, result) = try function(path, kind)
      return try test(of: whole, result)
    }
    if case .objects(let target) = kind { return try membership(path, to: target) }
    if try consume("IN") {
      return .isIn(path, try list(kind))
    }
    if isAt("BETWEEN") {
      let column = token.column
      try advance()
      guard isAt("{") || isAt("(") else { throw unbracedRange() }
      let values = try list(kind)
      guard values.count == 2 else {
        throw ConditionTextError(
          column: column, reason: "BETWEEN takes two values, {low, high}; there are \(values.count)"
        )
      }
      return .isBetween(path, values[0], values[1])
    }
    if let match = matchAtToken {
      try advance()
      let options = try options()
      if case .unknown = kind, match == .contains, options.isEmpty, !isAtText {
        return try membership(path, to: nil)
      }
      return try textMatch(path, kind, match, options)
    }
    guard let comparison = try comparison() else {
      if isAt("IS") { throw try nilTest(path) }
      throw expected("an operator such as ==, <, IN, BETWEEN, CONTAINS or LIKE")
    }
    let column = token.column
    let options = try options()
    guard !options.isEmpty else { return .compare(path, comparison, try value(kind)) }
    guard comparison == .equal || comparison == .notEqual else {
      throw ConditionTextError(column: column, reason: "\(comparison) takes no options")
    }
    let condition = try textMatch(path, kind, .equals, options)
    return comparison == .equal ? condition : condition.negated
  }

  /// The error for `IS NULL`, as SQL has it.
  private mutating func nilTest(
    _ path: PropertyPath
  ) throws(ConditionTextError) -> ConditionTextError {
    let column = token.column
    try advance()
    let sign = isAt("NOT") ? "!=" : "=="
    return ConditionTextError(column: column, reason: "write \(path) \(sign) nil")
  }

  /// The error for `BETWEEN 1 AND 3`, as SQL has it.
  private mutating func unbracedRange() -> ConditionTextError {
    let column = token.column
    var values = ["low", "high"]
    if let low = writtenValue, (try? advance()) != nil, isAt("AND"), (try? advance()) != nil,
      let high = writtenValue
    {
      values = [low, high]
    }
    return ConditionTextError(
      column: column, reason: "expected \"{\"; write BETWEEN {\(values.joined(separator: ", "))}")
  }

  /// The value at the token as it was written; nil if it is of another kind.
  private var writtenValue: String? {
    if case .string(let text) = token.kind { return Value.string(text).conditionText }
    return token.bareText
  }

  private mutating func textMatch(
    _ path: PropertyPath, _ kind: PropertyKind, _ match: Condition.TextMatch,
    _ options: Condition.TextOptions
  ) throws(ConditionTextError) -> Condition {
    guard kind.mayBeText else {
      throw ConditionTextError(
        column: token.column, reason: "\(match) asks for text, and \(path) is of type \(kind)")
    }
    guard case .string(let text) = token.kind else { throw expected("a text in quotes") }
    try advance()
    return .text(path, match, text, options)
  }

  mutating func comparison() throws(ConditionTextError) -> Condition.Comparison? {
    if try consume("==", "=") { return .equal }
    if try consume("!=", "<>") { return .notEqual }
    if try consume("<=", "=<") { return .lessOrEqual }
    if try consume(">=", "=>") { return .greaterOrEqual }
    if try consume("<") { return .less }
    return try consume(">") ? .greater : nil
  }

  private mutating func options() throws(ConditionTextError) -> Condition.TextOptions {
    guard try consume("[") else { return [] }
    var options: Condition.TextOptions = []
    guard case .word(let letters) = token.kind, letters.utf8.count <= 2 else {
      throw expected("c, d or cd")
    }
    for letter in letters.lowercased().unicodeScalars {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      default: throw expected("c, d or cd")
      }
    }
    try advance()
    try require("]")
    return options
  }

  private mutating func list(_ kind: PropertyKind) throws(ConditionTextError) -> [Value] {
    guard isAt("{") || isAt("(") else { throw expected("\"{\"") }
    let end = isAt("{") ? "}" : ")"
    try advance()
    var values: [Value] = []
    while !isAt(end) {
      if !values.isEmpty { try require(",") }
      values.append(try value(kind))
    }
    try advance()
    return values
  }
}
