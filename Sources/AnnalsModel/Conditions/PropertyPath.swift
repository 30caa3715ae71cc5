/// The path from an object to a value: names of to-one relationships, then that of an attribute, of
/// a to-one relationship, or `id`.
///
/// `["place", "name"]` is the name of the object's place. A final `id` is the object's own id,
/// unless its entity has a property of that name. The empty path is the object itself. Names
/// compare as UTF-8 bytes. Whether the properties exist is checked when a path is used with a
/// schema.
///
/// Behind a to-many relationship or an inverse, a function of its objects makes one value of them:
/// `["events", "@max", "start"]`; see `PropertyPath.of(_:_:over:)`.
public struct PropertyPath: Sendable {
  /// The names, starting at the object.
  public let names: [String]
  /// What stands for missing values at the path; nil if values are read as stored.
  package private(set) var replacement: ValueReplacement?

  /// The path of these names; the object itself if there are none.
  public init(_ names: [String] = []) {
    self.names = names
  }

  /// The path of one name, which may contain any character.
  public init(_ name: String) {
    names = [name]
  }
}

extension PropertyPath {
  /// The path with what stands for missing values at it.
  package func replacing(_ replacement: ValueReplacement?) -> PropertyPath {
    changing(self) { $0.replacement = replacement }
  }

  /// The path from the object that the first name leads to.
  package var next: PropertyPath {
    PropertyPath(Array(names.dropFirst())).replacing(replacement)
  }
}

/// What a record type reads where an attribute has no value, or an erased one. A class, so that
/// paths stay small.
package final class ValueReplacement: Hashable, Sendable {
  /// Stands for nil, unless the schema has a default of its own; null if nil is read as nil.
  package let missing: Value
  /// Stands for an erased value; null if that is not replaced.
  package let erased: Value
  /// The type of the attribute, as its raw value, where a past state does not have the attribute,
  /// so that every object lacks a value; nil if the state has it.
  package let lackedType: UInt8?

  package init(missing: Value, erased: Value = .null, lackedType: UInt8? = nil) {
    self.missing = missing
    self.erased = erased
    self.lackedType = lackedType
  }

  package static func == (a: ValueReplacement, b: ValueReplacement) -> Bool {
    a.missing == b.missing && a.erased == b.erased && a.lackedType == b.lackedType
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(missing)
    hasher.combine(erased)
  }
}

extension PropertyPath: Hashable {
  /// Whether both have the same names, byte by byte.
  public static func == (a: PropertyPath, b: PropertyPath) -> Bool {
    a.names.count == b.names.count && zip(a.names, b.names).allSatisfy { $0.hasSameBytes(as: $1) }
      && a.replacement == b.replacement
  }

  /// Feeds the bytes of the names to the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(names.count)
    for name in names { hasher.combine(bytesOf: name) }
  }
}

extension PropertyPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
  /// The path of one name, which may contain any character: `"place.name"` is one name.
  public init(stringLiteral name: String) {
    names = [name]
  }

  /// The path of these names.
  public init(arrayLiteral names: String...) {
    self.names = names
  }
}

extension PropertyPath: CustomStringConvertible {
  /// The path as it is written in a condition: `place.name`, with backquotes around names that
  /// contain anything but letters, digits and `_`; `SELF` for the object itself.
  public var description: String {
    if names.isEmpty { return "SELF" }
    let words = names.indices.map { place in
      isFunction(at: place) ? names[place] : ConditionWords.quoted(names[place])
    }
    return words.joined(separator: ".")
  }
}

extension Hasher {
  /// Feeds a text's length and bytes.
  mutating func combine(bytesOf text: String) {
    var text = text
    text.withUTF8 { bytes in
      combine(bytes.count)
      combine(bytes: UnsafeRawBufferPointer(bytes))
    }
  }
}

/// The reserved words and the names in conditions as text.
package enum ConditionWords {
  /// The words that are names only in backquotes, in capitals.
  package static let reserved: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "NIL",
    "NULL",
    "TRUE", "FALSE", "YES", "NO", "SELF", "TRUEPREDICATE", "FALSEPREDICATE", "MATCHES", "ANY",
    "ALL",
    "SOME", "NONE",
  ]

  /// Whether a name without backquotes may contain this character.
  package static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: !scalar.isASCII && scalar.properties.isAlphabetic
    }
  }

  /// A name as it is written in a condition: in backquotes if it contains anything but letters,
  /// digits and `_`, begins with a digit, or is a reserved word. A backquote within is doubled.
  package static func quoted(_ name: String) -> String {
    let scalars = name.unicodeScalars
    if let first = scalars.first, !("0"..."9").contains(first), scalars.allSatisfy(isNameScalar),
      !reserved.contains(name.uppercased())
    {
      return name
    }
    var text = "`"
    for scalar in scalars {
      if scalar == "`" { text += "`" }
      text.unicodeScalars.append(scalar)
    }
    return text + "`"
  }
}
