extension Condition: CustomStringConvertible {
  /// The condition as text, which parses to the same condition; except for values without a text
  /// form: those of to-many relationships, and large ones that were not read.
  public var description: String {
    switch form {
    case .constant(let flag): flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .isNil(let path): "\(path) == nil"
    case .comparison(let path, let comparison, let value):
      "\(path) \(comparison) \(value.conditionText)"
    case .isIn(let path, let values):
      "\(path) IN {\(values.map(\.conditionText).joined(separator: ", "))}"
    case .isBetween(let path, let low, let high):
      "\(path) BETWEEN {\(low.conditionText), \(high.conditionText)}"
    case .text(let path, let test):
      "\(path) \(test.match)\(test.options) \(Value.string(test.text).conditionText)"
    case .contains(let path, let object): "\(path) CONTAINS \(Value.object(object).conditionText)"
    case .some(let path, let condition): condition.description(ofAny: path)
    case .count(let path, let comparison, let count): "\(path).@count \(comparison) \(count)"
    case .all(let parts): parts.map(\.partOfAll).joined(separator: " AND ")
    case .any(let parts): parts.map(\.description).joined(separator: " OR ")
    case .not(let condition): condition.descriptionOfOpposite
    }
  }

  /// The text within a conjunction.
  private var partOfAll: String {
    if case .any = form { "(\(self))" } else { description }
  }

  /// The text of the condition on any object of a to-many relationship: `ANY tags.name == "food"`;
  /// for a condition with several parts, and behind another relationship, `ANY place.tags (…)`.
  private func description(ofAny path: PropertyPath) -> String {
    var test = self
    // Of these the text begins with the path.
    if case .not(let inner) = form, case .isNil = inner.form { test = inner }
    if path.names.count == 1, test.path?.names.isEmpty == false {
      if case .some = test.form {} else { return "ANY \(path).\(self)" }
    }
    return "ANY \(path) (\(self))"
  }

  private var descriptionOfOpposite: String {
    switch form {
    case .isNil(let path): "\(path) != nil"
    case .all, .any: "NOT (\(self))"
    default: "NOT \(self)"
    }
  }
}

extension Condition.Comparison {
  /// Whether it compares order.
  package var isOrder: Bool { self != .equal && self != .notEqual }

  /// Whether it is true of two numbers.
  @inlinable
  package func isTrue<Number: Comparable>(_ number: Number, _ other: Number) -> Bool {
    switch self {
    case .equal: number == other
    case .notEqual: number != other
    case .less: number < other
    case .lessOrEqual: number <= other
    case .greater: number > other
    case .greaterOrEqual: number >= other
    }
  }
}

extension Condition.Comparison: CustomStringConvertible {
  /// The operator: `==`, `!=`, `<`, `<=`, `>` or `>=`.
  public var description: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension Condition.TextMatch: CustomStringConvertible {
  /// The operator: `==`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS` or `LIKE`.
  public var description: String {
    switch self {
    case .equals: "=="
    case .begins: "BEGINSWITH"
    case .ends: "ENDSWITH"
    case .contains: "CONTAINS"
    case .like: "LIKE"
    }
  }
}

extension Condition.TextOptions: CustomStringConvertible {
  /// The options after an operator: `[c]`, `[d]`, `[cd]`, or nothing.
  public var description: String {
    let letters =
      (contains(.caseInsensitive) ? "c" : "")
      + (contains(.diacriticInsensitive) ? "d" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}

extension Value {
  /// The value in a condition's text: `"Fog"`, `12`, `2019-10-01T00:00:00Z`, `1#5` for row 5 of
  /// entity 1, `URL("…")`, `JSON("…")`, `DATA("0AFF")`,
  /// `DECIMAL("12.5")`, `DAY("2019-10-06")`.
  package var conditionText: String {
    switch self {
    case .null: "nil"
    case .erased, .int, .date, .uuid: plainText
    case .bool(let flag): flag ? "TRUE" : "FALSE"
    case .double(let number): number.isFinite ? "\(number)" : "DOUBLE(\"\(number)\")"
    case .string(let text): text.quotedForCondition
    case .decimal(let number): "DECIMAL(\"\(number)\")"
    case .day(let day): "DAY(\"\(day)\")"
    case .url(let text): "URL(\(text.quotedForCondition))"
    case .json(let text): "JSON(\(text.quotedForCondition))"
    case .data(let bytes): "DATA(\"\(bytes.hexadecimal)\")"
    case .object(let object): "\(object.entity)#\(object.row)"
    case .objects(let list): "{\(list.map { "\($0.entity)#\($0.row)" }.joined(separator: ", "))}"
    case .large(let large): "large(\(large.tag) of \(large.length) bytes)"
    }
  }
}

extension String {
  /// The text in double quotes, with `\"`, `\\`, `\n`, `\r`, `\t`, and `\u{…}` for other control
  /// characters.
  fileprivate var quotedForCondition: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case "\0"..."\u{1F}", "\u{7F}": result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension [UInt8] {
  fileprivate var hexadecimal: String {
    var text = ""
    text.reserveCapacity(2 * count)
    for byte in self {
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
