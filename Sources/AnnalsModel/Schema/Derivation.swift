/// How the value of a derived attribute is computed:
/// `Attribute("eventCount", .int64, derived: .count("events"))`.
///
/// The store computes the value when a transaction ends, and records it like any other.
public struct Derivation: Hashable, Sendable {
  /// The kinds of derivations.
  ///
  /// Stored in files: never renumber. FORMAT.md, "Derived attributes", lists them.
  package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
    /// In a declaration: the attribute is no longer derived. Never stored.
    case removed = 0
    case count = 1
    case sum = 2
    case minimum = 3
    case maximum = 4
    case average = 5
    case normalized = 6
    case function = 7
  }

  /// A property that a derivation reads.
  package struct Input: Hashable, Sendable {
    /// The name; empty once the number is known.
    package var name: String
    /// The number; 0 until a store assigns it.
    package var number: PropertyNumber = 0

    package init(_ name: String, number: PropertyNumber = 0) {
      self.name = name
      self.number = number
    }
  }

  /// What it computes.
  package var kind: Kind
  /// The name of the to-many relationship or inverse of whose objects it is a function; empty for
  /// none, and once the numbers are known.
  package var sourceName = ""
  /// The entity whose relationship leads to the derived object; 0 for a relationship of its own.
  package var sourceEntity: EntityNumber = 0
  /// The number of the relationship; 0 for none, and until a store assigns it.
  package var source: PropertyNumber = 0
  /// The property of each of those objects; or those of the derived object itself.
  package var inputs: [Input] = []
  /// The version of a program's function; 0 for other kinds.
  package var version: Int64 = 0

  package init(_ kind: Kind) { self.kind = kind }

  private init(_ kind: Kind, over source: String, _ values: String? = nil) {
    self.kind = kind
    sourceName = source
    inputs = values.map { [Input($0)] } ?? []
  }

  /// How many objects a to-many relationship has, or refer to this one by the relationship with
  /// this inverse. Deleted objects do not count.
  public static func count(_ relationship: String) -> Derivation {
    Derivation(.count, over: relationship)
  }

  /// The sum of one attribute of these objects; 0 for none. Null does not count.
  public static func sum(_ relationship: String, of attribute: String) -> Derivation {
    Derivation(.sum, over: relationship, attribute)
  }

  /// The least value of one attribute of these objects, of numbers or dates; null for none.
  public static func minimum(_ relationship: String, of attribute: String) -> Derivation {
    Derivation(.minimum, over: relationship, attribute)
  }

  /// The greatest value of one attribute of these objects; null for none.
  public static func maximum(_ relationship: String, of attribute: String) -> Derivation {
    Derivation(.maximum, over: relationship, attribute)
  }

  /// The mean of one attribute of these objects, a double; null for none.
  public static func average(_ relationship: String, of attribute: String) -> Derivation {
    Derivation(.average, over: relationship, attribute)
  }

  /// A text of the object itself without case and accents, as comparisons with `[cd]` see it; null
  /// for null.
  public static func normalized(_ attribute: String) -> Derivation {
    var derivation = Derivation(.normalized)
    derivation.inputs = [Input(attribute)]
    return derivation
  }

  /// What a program's function makes of properties of the object itself. The store keeps the
  /// version and the names of the properties; a record type has the function.
  package static func function(version: Int64, from properties: [String]) -> Derivation {
    var derivation = Derivation(.function)
    derivation.version = version
    derivation.inputs = properties.map { Input($0) }
    return derivation
  }

  /// Declares that the attribute is no longer derived: it keeps its values, and can be set. A
  /// declaration without any derivation changes none.
  public static let removed = Derivation(.removed)
}

extension Derivation {
  /// The function of several objects; nil if it is one of the object's own properties.
  package var aggregate: Aggregate.Function? {
    switch kind {
    case .count: .count
    case .sum: .sum
    case .minimum: .minimum
    case .maximum: .maximum
    case .average: .average
    case .removed, .normalized, .function: nil
    }
  }

  /// Whether all that it reads is named by number.
  package var isNumbered: Bool {
    (aggregate == nil || source > 0) && inputs.allSatisfy { $0.number > 0 }
  }

  /// Leaves numbers alone.
  package mutating func dropNames() {
    sourceName = ""
    for place in inputs.indices { inputs[place].name = "" }
  }

  /// The word for what it computes.
  package var word: String { "\(kind)" }
}

extension Derivation: CustomStringConvertible {
  /// `count(events)`, `sum(events.amount)`, `normalized(title)`, `function 2(first, last)`.
  public var description: String {
    let names = inputs.map(\.name)
    let inner =
      aggregate == nil
      ? names.joined(separator: ", ") : ([sourceName] + names).joined(separator: ".")
    return kind == .function ? "function \(version)(\(inner))" : "\(word)(\(inner))"
  }
}

extension Derivation: Definition {
  package static let title = "derivation"

  package static let fields: [DefinitionField<Derivation>] = [
    .word("function", \.storedKind, refusal: "is none of the functions of derived attributes")
      .needed(
        "has no `function`: " + StoredKind.allCases.map { "\($0)" }.joined(separator: ", ")),
    DefinitionField("of", .text) {
      $0.aggregate == nil ? nil : .text($0.sourceName)
    } set: {
      if case .text(let name) = $1 { $0.sourceName = name }
    },
    .number("ofEntity", \.sourceEntity),
    .number("ofNumber", \.source),
    .list("inputs", \.inputs),
    DefinitionField("version", .whole) {
      $0.kind == .function ? .whole($0.version) : nil
    } set: {
      if case .whole(let version) = $1 { $0.version = version }
    },
  ]

  package init() { self.init(.removed) }

  /// The kinds that a store has, as JSON names them.
  fileprivate enum StoredKind: UInt8, Hashable, Sendable, CaseIterable {
    case count = 1
    case sum, minimum, maximum, average, normalized, function
  }

  fileprivate var storedKind: StoredKind {
    get { StoredKind(rawValue: kind.rawValue) ?? .count }
    set { kind = Kind(rawValue: newValue.rawValue) ?? .removed }
  }
}

extension Derivation.Input: Definition {
  package static let title = "derivation's property"

  package static let fields: [DefinitionField<Derivation.Input>] = [
    .text("property", \.name),
    .number("number", \.number),
  ]

  package init() { self.init("") }
}
