import AnnalsModel
import AnnalsState

/// Conditions over boxed values, as plainly as they can be said.
struct NaiveCondition {
  let state: State
  let largeValues: [UInt64: String]
  let removingDiacritics: (String) -> String

  func holds(_ condition: Condition, _ entity: EntityNumber, _ row: Int64) throws -> Bool {
    switch condition.form {
    case .constant(let flag): return flag
    case .not(let inner): return try !holds(inner, entity, row)
    case .all(let parts): return try parts.allSatisfy { try holds($0, entity, row) }
    case .any(let parts): return try parts.contains { try holds($0, entity, row) }
    case .contains(let path, let object):
      return try targets(path, entity, row).contains(object)
    case .some(let path, let inner):
      return try targets(path, entity, row).contains { target in
        try state.contains(target.entity, target.row)
          && holds(inner, target.entity, target.row)
      }
    case .count(let path, let comparison, let count):
      let there = try targets(path, entity, row).filter {
        try state.contains($0.entity, $0.row)
      }
      return comparison.isTrue(Int64(there.count), count)
    case .isNil(let path): return try value(path, entity, row).isNull
    case .isIn(let path, let values):
      let value = try value(path, entity, row)
      return values.contains { value.isNull && $0.isNull || order(value, $0) == 0 }
    case .isBetween(let path, let low, let high):
      let value = try value(path, entity, row)
      guard let a = order(value, low), let b = order(value, high) else { return false }
      return a >= 0 && b <= 0
    case .comparison(let path, let comparison, let other):
      let order = order(try value(path, entity, row), other)
      switch comparison {
      case .equal: return order == 0
      case .notEqual: return order != 0
      case .less: return order.map { $0 < 0 } ?? false
      case .lessOrEqual: return order.map { $0 <= 0 } ?? false
      case .greater: return order.map { $0 > 0 } ?? false
      case .greaterOrEqual: return order.map { $0 >= 0 } ?? false
      }
    case .text(let path, let test):
      switch try value(path, entity, row) {
      case .string(let text), .url(let text), .json(let text): return matches(text, test)
      default: return false
      }
    }
  }

  /// The objects that the to-many relationship at the path lists.
  func targets(
    _ path: PropertyPath, _ entity: EntityNumber, _ row: Int64
  ) throws -> [ObjectReference] {
    guard case .objects(let list) = try value(path, entity, row) else { return [] }
    return list
  }

  /// The value at the path, read and with defaults.
  func value(_ path: PropertyPath, _ entity: EntityNumber, _ row: Int64) throws -> Value {
    var object = ObjectReference(entity: entity, row: row)
    for name in path.names {
      let entity = state.schema.entity(numbered: object.entity)
      guard let number = entity?.propertyNumber(named: name) else { break }
      var value = try state.value(object.entity, object.row, number)
      if let attribute = entity?.attribute(named: name), value.isNull, !attribute.isOptional {
        value = attribute.defaultValue ?? .null
      }
      if case .large(let large) = value {
        let text = largeValues[large.number] ?? ""
        return large.tag == .json ? .json(text) : .data(Array(text.utf8))
      }
      guard case .object(let next) = value else { return value }
      guard try state.contains(next.entity, next.row) else { return .null }
      object = next
    }
    return .object(object)
  }

  func order(_ a: Value, _ b: Value) -> Int? {
    func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
    func bytes(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
      a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }
    switch (a, b) {
    case (.bool(let x), .bool(let y)): return sign(x ? 1 : 0, y ? 1 : 0)
    case (.int(let x), .int(let y)): return sign(x, y)
    case (.double(let x), .double(let y)): return x.isNaN || y.isNaN ? nil : sign(x, y)
    case (.int(let x), .double(let y)): return y.isNaN ? nil : compare(x, y)
    case (.double, .int): return order(b, a).map { -$0 }
    case (.decimal(let x), .decimal(let y)): return sign(x, y)
    case (.decimal(let x), .int(let y)): return sign(x, RawDecimal(y))
    case (.decimal(let x), .double(let y)): return y.isNaN ? nil : compare(x, y)
    case (.int, .decimal), (.double, .decimal): return order(b, a).map { -$0 }
    case (.day(let x), .day(let y)): return sign(x, y)
    case (.date(let x), .date(let y)): return sign(x, y)
    case (.uuid(let x), .uuid(let y)): return sign(x, y)
    case (.object(let x), .object(let y)): return sign(x, y)
    case (.string(let x), .string(let y)), (.url(let x), .url(let y)), (.json(let x), .json(let y)):
      return bytes(x.utf8, y.utf8)
    case (.data(let x), .data(let y)): return bytes(x, y)
    default: return nil
    }
  }

  /// A decimal against a double: by the decimal that the double is, of those of the tests, or by
  /// size.
  private func compare(_ x: RawDecimal, _ y: Double) -> Int {
    let whole = y == y.rounded() && y.magnitude < 1e30
    let exact = whole ? RawDecimal(significand: Int128(y), exponent: 0) : RawDecimal("\(y)")
    if y.magnitude < 1e30, let exact { return x < exact ? -1 : exact < x ? 1 : 0 }
    return x.nearestDouble < y ? -1 : 1
  }

  /// A whole number against a double: by what lies between its neighbours.
  private func compare(_ x: Int64, _ y: Double) -> Int {
    let floor = y.rounded(.down)
    guard let whole = Int64(exactly: floor) else { return y > 0 ? -1 : 1 }
    return x > whole ? 1 : x < whole ? -1 : (y > floor ? -1 : 0)
  }

  func matches(_ text: String, _ test: Condition.TextTest) -> Bool {
    let text = Array(folded(text, test.options).unicodeScalars)
    if test.match == .like {
      return like(ArraySlice(text), ArraySlice(test.text.unicodeScalars), test.options)
    }
    let other = Array(folded(test.text, test.options).unicodeScalars)
    switch test.match {
    case .equals: return text == other
    case .begins: return text.starts(with: other)
    case .ends: return text.reversed().starts(with: other.reversed())
    default:
      return (0...text.count).contains { text[$0...].starts(with: other) }
    }
  }

  private func folded(_ text: String, _ options: Condition.TextOptions) -> String {
    var text = text
    if options.contains(.diacriticInsensitive) { text = removingDiacritics(text) }
    return options.contains(.caseInsensitive) ? text.lowercased() : text
  }

  private func like(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>,
    _ options: Condition.TextOptions
  ) -> Bool {
    guard var first = pattern.first else { return text.isEmpty }
    var rest = pattern.dropFirst()
    if first == "*" {
      return like(text, rest, options) || !text.isEmpty && like(text.dropFirst(), pattern, options)
    }
    if first == "?" { return !text.isEmpty && like(text.dropFirst(), rest, options) }
    if first == "\\", let escaped = rest.first {
      first = escaped
      rest = rest.dropFirst()
    }
    let literal = Array(folded(String(first), options).unicodeScalars)
    return text.starts(with: literal) && like(text.dropFirst(literal.count), rest, options)
  }
}
