/// A rule that a value must meet to be stored.
public enum ValidationRule: Hashable, Sendable {
  /// The value has the attribute's type.
  case type(AttributeType)
  /// A whole number lies within the range of its type, int16 or int32.
  case range(ClosedRange<Int64>)
  /// A floating-point number is neither infinite nor NaN.
  case finite
  /// A required attribute has a value, a required relationship an object.
  case required
  /// A number or date is not less than this.
  case minimum(Value)
  /// A number or date is not greater than this.
  case maximum(Value)
  /// Text or data is at least this long.
  case minimumLength(Int64)
  /// Text or data is at most this long.
  case maximumLength(Int64)
  /// The value is one of these.
  case oneOf([Value])
  /// JSON text is valid; the payload is the offset of the first byte that is not.
  case json(offset: Int)
  /// A URL is not empty.
  case url
  /// A value that must be unique is at most this many bytes long.
  case uniqueLength(Int)
  /// No other object has the value; the payload is the one that does.
  case unique(ObjectReference)
  /// A relationship is given an object, or for to-many a list of objects.
  case relationship(isToMany: Bool)
  /// The objects of a relationship are of its destination entity.
  case destination(String)
  /// The objects of a relationship exist; the payload is one that does not.
  case existing(ObjectReference)
  /// No object refers to a deleted one, by a relationship whose delete rule denies that; the
  /// payload is the deleted one.
  case noReference(to: ObjectReference)
  /// A to-many relationship has at least so many objects.
  case minimumCount(Int64)
  /// A to-many relationship has at most so many objects.
  case maximumCount(Int64)
  /// A derived attribute is not set: the store computes it; the payload says how.
  case derived(String)
  /// The entity has a property with the given name.
  case knownProperty
}

/// A value that must not be stored, and the rule that it breaks.
public struct ValidationViolation: Hashable, Sendable {
  /// The name of the entity.
  public var entity: String
  /// The object's key as text, if it is known.
  public var key: String?
  /// The object, if it has an id already.
  public var object: ObjectReference?
  /// The other object that the rule or the value refers to, if any: `Entity/KEY`, or `Entity#ROW`
  /// if its key does not distinguish it from `object`.
  public var other: String?
  /// The name of the property; for a uniqueness rule over several, their names joined by commas.
  public var property: String
  /// The rule broken.
  public var rule: ValidationRule
  /// The value that was to be stored.
  public var value: Value

  /// Creates a violation from its parts.
  public init(
    entity: String, key: String? = nil, object: ObjectReference? = nil, other: String? = nil,
    property: String, rule: ValidationRule, value: Value
  ) {
    self.entity = entity
    self.key = key
    self.object = object
    self.other = other
    self.property = property
    self.rule = rule
    self.value = value
  }
}

extension ValidationViolation: CustomStringConvertible {
  /// The object and property, the value, and what it should be.
  public var description: String {
    var place = entity
    if let key {
      place += "/\(key)"
    } else if let object {
      place += "#\(object.row)"
    }
    return "\(place).\(property): \(rule.sentence(about: value, other: other))"
  }
}

extension ValidationRule {
  /// What is wrong with `value`, which breaks this rule; `other` names the other object if it is
  /// known.
  func sentence(about value: Value, other: String? = nil) -> String {
    let given = value.shortDescription
    return switch self {
    case .type(.date) where value.isOutsideDates: Timestamp.rangeText
    case .type(.decimal) where value.isUnusableDecimal: RawDecimal.rangeText
    case .type(let type): "\(given) is not of type \(type)"
    case .range(let range): "\(given) is not within \(range.lowerBound)...\(range.upperBound)"
    case .finite: "\(given) cannot be stored; numbers are finite"
    case .required: "a value is required; give it one, or declare it optional"
    case .minimum(let least): "\(given) is less than \(least.shortDescription)"
    case .maximum(let greatest): "\(given) is greater than \(greatest.shortDescription)"
    case .minimumLength(let length): "\(given) is shorter than \(length)"
    case .maximumLength(let length): "\(given) is longer than \(length)"
    case .oneOf(let values):
      "\(given) is not one of \(values.map(\.shortDescription).joined(separator: ", "))"
    case .json(let offset): "not valid JSON at byte \(offset): \(given)"
    case .url: "a URL cannot be empty"
    case .uniqueLength(let limit): "a unique value is at most \(limit) bytes long"
    case .unique(let object): "\(given) is taken by \(other ?? "#\(object.row)")"
    case .relationship(let isToMany):
      isToMany ? "\(given) is not a list of objects" : "\(given) is not an object"
    case .destination(let name): "\(other ?? given) is not of entity \(name)"
    case .existing(let object): "there is no object \(other ?? "#\(object.row)")"
    case .noReference(let object):
      "it refers to \(other ?? "#\(object.row)"), which cannot be deleted as long as it does"
    case .minimumCount(let least): "it has \(given), fewer than \(least)"
    case .maximumCount(let most): "it has \(given), more than \(most)"
    case .derived(let derivation):
      "\(given) cannot be set: it is derived, \(derivation). Set what it is derived from"
    case .knownProperty: "there is no such property"
    }
  }
}

extension Value {
  /// Whether it is a number of seconds that stands for no date.
  fileprivate var isOutsideDates: Bool {
    if case .double(let number) = self { !Timestamp.holds(secondsSince2001: number) } else { false }
  }

  /// Whether it stands for a decimal that cannot be stored.
  fileprivate var isUnusableDecimal: Bool {
    if case .double(let number) = self { !number.isFinite } else { false }
  }

  /// The value in a message, with its kind, on one line; long ones are cut.
  package var shortDescription: String {
    switch self {
    case .null: "null"
    case .erased, .bool, .int, .date, .uuid, .decimal, .day: plainText
    case .double(let x): "\(x)"
    case .string(let x): quoted(x)
    case .url(let x): "URL " + quoted(x)
    case .data(let x): "\(x.count) bytes"
    case .json(let x): "JSON " + quoted(x)
    case .object(let x): "object #\(x.row)"
    case .objects(let x): "\(x.count) \(x.count == 1 ? "object" : "objects")"
    case .large(let x): "\(x.tag) of \(x.length) bytes"
    }
  }

  /// The text in quotes, on one line.
  private func quoted(_ text: String) -> String {
    let limit = 60
    // Cutting by scalars is enough for a message, and costs no more than the limit.
    let head = text.unicodeScalars.prefix(limit)
    let isCut = head.endIndex != text.unicodeScalars.endIndex
    var result = "\""
    for scalar in head {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.properties.generalCategory == .control, "\u{2028}", "\u{2029}":
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + (isCut ? "…\"" : "\"")
  }
}
