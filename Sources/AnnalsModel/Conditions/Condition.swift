/// A condition on an object: a value that is made, combined and kept without a store.
///
/// Conditions are two-valued: an object meets a condition or does not, and `negated` is the
/// opposite.
///
/// - nil equals only nil, so `!=` is true for nil and a value. Order comparisons with nil are
///   false, on either side.
/// - Integers and doubles compare by their exact numbers. Texts compare by UTF-8 bytes. Values of
///   different kinds are unequal, and neither is less.
/// - A to-one relationship to a deleted object reads as nil, and so do all properties beyond it.
/// - A to-many relationship contains an object as long as it lists it, deleted or not; `any` skips
///   deleted objects.
///
/// Names and kinds are checked when a condition is used with an entity. `description` is the text
/// form.
public struct Condition: Hashable, Sendable {
  /// The parts of the condition.
  package let form: Form
  /// How many conditions are nested in each other, this one counted.
  package let depth: Int

  /// The greatest depth of a condition that can be used.
  package static let deepest = 250

  private init(_ form: Form, around parts: [Condition] = []) {
    self.form = form
    depth = 1 + (parts.lazy.map(\.depth).max() ?? 0)
  }

  /// The parts of a condition; made by the members of `Condition` alone, which keep these rules:
  ///
  /// - `all` and `any` have at least two parts, none of them of the same case;
  /// - `not` is of neither a `not` nor a `constant`;
  /// - `comparison` with nil is for order alone, and `text` is no `equals` without options.
  package enum Form: Hashable, Sendable {
    /// Met by every object, or by none.
    case constant(Bool)
    case isNil(PropertyPath)
    case comparison(PropertyPath, Comparison, Value)
    case isIn(PropertyPath, [Value])
    /// Includes both ends.
    case isBetween(PropertyPath, Value, Value)
    case text(PropertyPath, TextTest)
    /// The to-many relationship at the path lists the object, which may be deleted.
    case contains(PropertyPath, ObjectReference)
    /// An object that the to-many relationship at the path leads to meets the condition, whose
    /// paths start at that object.
    indirect case some(PropertyPath, Condition)
    /// The number of objects that the to-many relationship at the path leads to.
    case count(PropertyPath, Comparison, Int64)
    case all([Condition])
    case any([Condition])
    indirect case not(Condition)
  }
}

extension Condition {
  /// How a value is compared with another.
  public enum Comparison: Hashable, Sendable, CaseIterable {
    case equal
    case notEqual
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual
  }

  /// How a text is matched.
  public enum TextMatch: Hashable, Sendable, CaseIterable {
    /// The whole text equals this one; for use with options.
    case equals
    /// The text begins with this one.
    case begins
    /// The text ends with this one.
    case ends
    /// The text contains this one.
    case contains
    /// The whole text matches a pattern: `*` matches any text, `?` one Unicode scalar, and `\`
    /// makes the next character match itself.
    case like
  }

  /// What a text match ignores.
  public struct TextOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt8

    /// Creates options from bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Ignores case: `[c]`.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Ignores accents: `[d]`.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
  }

  /// A text match and its text; compared byte by byte.
  package struct TextTest: Hashable, Sendable {
    package let match: TextMatch
    package let text: String
    package let options: TextOptions

    package static func == (a: TextTest, b: TextTest) -> Bool {
      a.match == b.match && a.options == b.options && a.text.hasSameBytes(as: b.text)
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(match)
      hasher.combine(options)
      hasher.combine(bytesOf: text)
    }
  }
}

extension Condition {
  /// Met by every object.
  public static let always = Condition(.constant(true))
  /// Met by no object.
  public static let never = Condition(.constant(false))

  /// Compares the value at the path with this one.
  public static func compare(
    _ path: PropertyPath, _ comparison: Comparison, _ value: Value
  ) -> Condition {
    switch (comparison, value) {
    case (.equal, .null): .isNil(path)
    case (.notEqual, .null): .isNil(path).negated
    case (_, .int(let number)) where path.names.last == "@count" && path.names.count > 1:
      Condition(.count(PropertyPath(path.names.dropLast()), comparison, number))
    default: Condition(.comparison(path, comparison, value))
    }
  }

  /// The value at the path is nil.
  public static func isNil(_ path: PropertyPath) -> Condition { Condition(.isNil(path)) }

  /// The value at the path equals one of these; nil counts if it is among them.
  public static func isIn(_ path: PropertyPath, _ values: [Value]) -> Condition {
    Condition(.isIn(path, values))
  }

  /// The value at the path is at least `low` and at most `high`.
  public static func isBetween(_ path: PropertyPath, _ low: Value, _ high: Value) -> Condition {
    Condition(.isBetween(path, low, high))
  }

  /// The text at the path matches this one. Values that are not text never match.
  public static func text(
    _ path: PropertyPath, _ match: TextMatch, _ text: String, _ options: TextOptions = []
  ) -> Condition {
    if match == .equals, options.isEmpty { return .compare(path, .equal, .string(text)) }
    return Condition(.text(path, TextTest(match: match, text: text, options: options)))
  }

  /// The to-many relationship at the path lists the object, whether that exists or was deleted;
  /// false for an empty one.
  ///
  /// An object of another entity than the relationship's makes a fetch throw `.invalidArgument`.
  public static func contains(_ path: PropertyPath, _ object: ObjectReference) -> Condition {
    Condition(.contains(path, object))
  }

  /// At least one object that the to-many relationship or inverse at the path leads to meets the
  /// condition, whose paths start at that object: `.any("tags", .compare("name", .equal, "food"))`.
  /// Deleted objects meet none.
  public static func any(_ path: PropertyPath, _ condition: Condition) -> Condition {
    Condition(.some(path, condition), around: [condition])
  }

  /// All objects that the to-many relationship or inverse at the path leads to meet the condition,
  /// also if there are none.
  public static func every(_ path: PropertyPath, _ condition: Condition) -> Condition {
    any(path, condition.negated).negated
  }

  /// No object that the to-many relationship or inverse at the path leads to meets the condition.
  public static func none(_ path: PropertyPath, _ condition: Condition) -> Condition {
    any(path, condition).negated
  }

  /// The number of objects that the to-many relationship or inverse at the path leads to compares
  /// so: `.count("tags", .greater, 3)`. Each counts as often as it is listed; deleted ones do not.
  public static func count(
    _ path: PropertyPath, _ comparison: Comparison, _ count: Int
  ) -> Condition { Condition(.count(path, comparison, Int64(count))) }
}

extension Condition {
  /// All of these conditions are met; always met if there are none.
  public static func all(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      if case .all(let inner) = condition.form { parts += inner } else { parts.append(condition) }
    }
    if parts.count == 1 { return parts[0] }
    return parts.isEmpty ? .always : Condition(.all(parts), around: parts)
  }

  /// At least one of these conditions is met; never met if there are none.
  public static func any(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      if case .any(let inner) = condition.form { parts += inner } else { parts.append(condition) }
    }
    if parts.count == 1 { return parts[0] }
    return parts.isEmpty ? .never : Condition(.any(parts), around: parts)
  }

  /// All of these conditions that are not nil are met; nil if all are nil.
  public static func all(_ conditions: [Condition?]) -> Condition? {
    let parts = conditions.compactMap(\.self)
    return parts.isEmpty ? nil : all(parts)
  }

  /// At least one of these conditions that are not nil is met; nil if all are nil.
  public static func any(_ conditions: [Condition?]) -> Condition? {
    let parts = conditions.compactMap(\.self)
    return parts.isEmpty ? nil : any(parts)
  }

  /// This condition and the other; this one alone if the other is nil.
  public func and(_ other: Condition?) -> Condition {
    other.map { .all([self, $0]) } ?? self
  }

  /// This condition or the other; this one alone if the other is nil.
  public func or(_ other: Condition?) -> Condition {
    other.map { .any([self, $0]) } ?? self
  }

  /// The opposite: met by exactly the objects that do not meet this one.
  public var negated: Condition {
    switch form {
    case .not(let condition): condition
    case .constant(let flag): flag ? .never : .always
    default: Condition(.not(self), around: [self])
    }
  }
}
