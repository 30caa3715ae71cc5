/// What is asked of an object: a value that is made, combined and kept without any store.
///
/// Conditions are two-valued: each is true or false of an object, and `negated` is the opposite.
///
/// - nil equals nothing but nil; so `!=` is true of a nil and a value. Order comparisons with nil
///   are false, on either side.
/// - Integers and doubles compare by their exact numbers. Texts compare by UTF-8 bytes. Values of
///   other kinds than each other are unequal, and neither is less.
/// - A to-one relationship whose object is gone reads as nil, and so does what lies behind it.
///
/// Names and kinds are checked when a condition meets an entity. `description` is the text form.
public struct Condition: Hashable, Sendable {
  /// What the condition is made of.
  package let form: Form

  private init(_ form: Form) {
    self.form = form
  }

  /// The parts of a condition; made by the members of `Condition` alone, which keep these rules:
  ///
  /// - `all` and `any` have at least two parts, none of them of the same case;
  /// - `not` is of neither a `not` nor a `constant`;
  /// - `comparison` with nil is for order alone, and `text` is no `equals` without options.
  package enum Form: Hashable, Sendable {
    /// True or false of every object.
    case constant(Bool)
    case isNil(PropertyPath)
    case comparison(PropertyPath, Comparison, Value)
    case isIn(PropertyPath, [Value])
    /// Both ends are in it.
    case isBetween(PropertyPath, Value, Value)
    case text(PropertyPath, TextTest)
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
    /// It is this text: for use with options.
    case equals
    /// It begins with this text.
    case begins
    /// It ends with this text.
    case ends
    /// This text is somewhere in it.
    case contains
    /// The whole text matches a pattern: `*` stands for any text, `?` for one Unicode scalar, and
    /// `\` makes the next character stand for itself.
    case like
  }

  /// What a text match leaves out of account.
  public struct TextOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt8

    /// The options of these bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Upper and lower case are the same: `[c]`.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Letters with and without accents are the same: `[d]`.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
  }

  /// A text match with its text; equal byte by byte.
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
  /// True of every object.
  public static let always = Condition(.constant(true))
  /// True of no object.
  public static let never = Condition(.constant(false))

  /// The value at the path compared with this one.
  public static func compare(
    _ path: PropertyPath, _ comparison: Comparison, _ value: Value
  ) -> Condition {
    switch (comparison, value) {
    case (.equal, .null): .isNil(path)
    case (.notEqual, .null): .isNil(path).negated
    default: Condition(.comparison(path, comparison, value))
    }
  }

  /// There is no value at the path.
  public static func isNil(_ path: PropertyPath) -> Condition { Condition(.isNil(path)) }

  /// The value at the path equals one of these; nil equals a nil among them.
  public static func isIn(_ path: PropertyPath, _ values: [Value]) -> Condition {
    Condition(.isIn(path, values))
  }

  /// The value at the path is neither less than `low` nor greater than `high`.
  public static func isBetween(_ path: PropertyPath, _ low: Value, _ high: Value) -> Condition {
    Condition(.isBetween(path, low, high))
  }

  /// The text at the path matches this one; what is no text does not.
  public static func text(
    _ path: PropertyPath, _ match: TextMatch, _ text: String, _ options: TextOptions = []
  ) -> Condition {
    if match == .equals, options.isEmpty { return .compare(path, .equal, .string(text)) }
    return Condition(.text(path, TextTest(match: match, text: text, options: options)))
  }
}

extension Condition {
  /// All of these are true; of none, always.
  public static func all(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      if case .all(let inner) = condition.form { parts += inner } else { parts.append(condition) }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .always : Condition(.all(parts))
  }

  /// At least one of these is true; of none, never.
  public static func any(_ conditions: [Condition]) -> Condition {
    var parts: [Condition] = []
    for condition in conditions {
      if case .any(let inner) = condition.form { parts += inner } else { parts.append(condition) }
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .never : Condition(.any(parts))
  }

  /// All of these that are there are true; nil, no condition, if none is there.
  public static func all(_ conditions: [Condition?]) -> Condition? {
    let parts = conditions.compactMap(\.self)
    return parts.isEmpty ? nil : all(parts)
  }

  /// At least one of these that are there is true; nil, no condition, if none is there.
  public static func any(_ conditions: [Condition?]) -> Condition? {
    let parts = conditions.compactMap(\.self)
    return parts.isEmpty ? nil : any(parts)
  }

  /// This one and the other are true; this one alone where there is no other.
  public func and(_ other: Condition?) -> Condition {
    other.map { .all([self, $0]) } ?? self
  }

  /// This one or the other is true; this one alone where there is no other.
  public func or(_ other: Condition?) -> Condition {
    other.map { .any([self, $0]) } ?? self
  }

  /// The opposite: true of just the objects of which this is false.
  public var negated: Condition {
    switch form {
    case .not(let condition): condition
    case .constant(let flag): flag ? .never : .always
    default: Condition(.not(self))
    }
  }
}
