/// A property that refers to other objects.
public struct Relationship: Hashable, Sendable {
  /// The stable number within the entity, from 1; 0 until a store assigns it.
  public var number: PropertyNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The name of the destination entity; empty once its number is known.
  public var destinationName: String
  /// The number of the destination entity; 0 until a store assigns it.
  public var destination: EntityNumber = 0
  /// Whether it may lead to no object; always true of a to-many relationship.
  public var isOptional: Bool
  /// Whether it refers to any number of objects instead of at most one.
  public var isToMany: Bool
  /// Whether the objects of a to-many relationship keep their given order.
  public var isOrdered: Bool
  /// Whether the relationship was removed, with its values; the definition stays.
  public var isRemoved = false
  /// What happens to an object when one that it refers to is deleted; nil in a declaration that
  /// leaves the rule as it is in the store.
  public var deleteRule: DeleteRule?
  /// What a declaration says besides the rule; never stored.
  package var deleteRuleOptions: DeleteRuleOptions = []
  /// The least number of objects in a to-many relationship; nil for none, and in a declaration that
  /// has neither limit.
  public var minimumCount: Int64?
  /// The greatest number of objects in a to-many relationship; nil for none.
  public var maximumCount: Int64?
  /// The name under which the destination has the objects that refer to it; nil for none.
  public var inverseName: String?
  /// Whether the store keeps who refers to each object for derived attributes.
  package var isCounted = false
  /// The items of the definition's extension area; see `Entity.extensions`.
  package var extensions: ContiguousArray<UInt8> = []

  /// Creates a relationship to the entity of this name; optional unless specified otherwise.
  ///
  /// Every object has one that is not optional: a transaction that leaves it empty is refused.
  ///
  /// `onDelete` is what happens to an object when one that it refers to is deleted. Without it, a
  /// relationship that is new in a store gets `.deny` if it is required, else `.nullify`; one that
  /// the store has keeps its rule, `.keep` in stores made before there were rules. Where it gets a
  /// rule that it had not, references to deleted objects are an error, unless the options clear
  /// them. `inverse` is the name under which the destination has the objects that refer to it.
  ///
  /// `count` limits the number of objects in a to-many relationship: `1...5`, `2...`, `...9`. The
  /// end of a transaction counts, after delete rules. Without it, one that the store has keeps its
  /// limits; `0...` removes them.
  public init(
    _ name: String, to destinationName: String, isOptional: Bool = true, isToMany: Bool = false,
    isOrdered: Bool = false, onDelete deleteRule: DeleteRule? = nil,
    _ deleteRuleOptions: DeleteRuleOptions = [], inverse: String? = nil,
    count: (any RangeExpression<Int>)? = nil
  ) {
    self.name = name
    self.destinationName = destinationName
    self.isOptional = isOptional
    self.isToMany = isToMany
    self.isOrdered = isOrdered
    self.deleteRule = deleteRule
    self.deleteRuleOptions = deleteRuleOptions
    inverseName = inverse
    if let count { limitCount(to: count) }
  }
}

extension Relationship {
  /// Whether every object must have one: a to-one relationship that is not optional.
  package var isRequired: Bool { !isOptional && !isToMany && !isRemoved }

  /// The rule of a relationship that is new in a store and does not say.
  package var usualDeleteRule: DeleteRule { isRequired ? .deny : .nullify }

  /// Whether a deletion has an effect on what refers to the object.
  package var hasDeleteRule: Bool { !isRemoved && (deleteRule ?? .keep) != .keep }

  /// Limits the number of objects; `0...` states that there is no limit. Traps for an empty range.
  package mutating func limitCount(to range: some RangeExpression<Int>) {
    let range = range.relative(to: 0..<Int.max)
    precondition(!range.isEmpty, "a relationship's limits leave no count")
    maximumCount = range.upperBound == .max ? nil : Int64(range.upperBound - 1)
    minimumCount = range.lowerBound > 0 || maximumCount == nil ? Int64(range.lowerBound) : nil
  }

  /// Whether the number of its objects is limited.
  package var hasCountLimit: Bool {
    !isRemoved && ((minimumCount ?? 0) > 0 || maximumCount != nil)
  }

  /// The limit that so many objects are beyond; nil if they are within both.
  package func countViolation(_ count: Int) -> ValidationRule? {
    if let minimumCount, count < minimumCount { return .minimumCount(minimumCount) }
    if let maximumCount, count > maximumCount { return .maximumCount(maximumCount) }
    return nil
  }

  /// Why the limits are impossible; nil if they are not.
  package var countProblem: String? {
    if minimumCount == nil, maximumCount == nil { return nil }
    if !isToMany { return "only a to-many relationship has limits of its count" }
    let least = minimumCount ?? 0
    if least < 0 { return "the least number of objects cannot be negative" }
    if let most = maximumCount, most < least { return "its limits leave no number of objects" }
    return nil
  }

  /// Whether a file that has it has an optional feature: one with a reference index or a limit.
  package var hasStoredRule: Bool { isIndexed || minimumCount != nil || maximumCount != nil }

  /// Whether the store keeps who refers to each object: for a delete rule, an inverse, or a derived
  /// attribute.
  package var isIndexed: Bool {
    hasDeleteRule || !isRemoved && (inverseName != nil || isCounted)
  }
}

/// An index: a stored order of an entity's objects.
public struct IndexDescription: Hashable, Sendable {
  /// The stable number within the entity, from the same sequence as properties; 0 until a store
  /// assigns it.
  public var number: PropertyNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The properties of the key, in order.
  public var elements: [IndexElement]
  /// What its keys say, and what they are good for.
  package var kind = IndexKind.ordered
  /// Whether no two objects may have the same key; a key with a nil never collides.
  public var isUnique: Bool
  /// The comparisons of a partial index: all of its objects meet them.
  package var tests: [IndexTest] = []
  /// Why the given condition cannot be stored; nil if it can.
  package var conditionProblem: String?
  /// The collation: 0, UTF-8 bytes, the only one.
  package var collation: UInt8 = 0
  /// The items of the definition's extension area; see `Entity.extensions`.
  package var extensions: ContiguousArray<UInt8> = []
  /// The content of a definition that only later versions know, kept unchanged. Then there are no
  /// elements, and the index is not used. Empty if the index is known.
  package var laterDefinition: ContiguousArray<UInt8> = []

  /// Creates an index over these elements; with a condition, a partial index.
  ///
  /// The condition compares the object's own attributes with values, joined by AND: `==` and `!=`
  /// with any value of up to 256 bytes, the other comparisons with numbers, dates, UUIDs and
  /// Booleans. Opening a store refuses any other condition.
  public init(
    _ name: String, _ elements: [IndexElement], isUnique: Bool = false,
    where condition: Condition? = nil
  ) {
    self.name = name
    self.elements = elements
    self.isUnique = isUnique
    keep(condition)
  }

  /// Creates an index as records have it: named after its properties.
  package init(
    over elements: [IndexElement], _ isUnique: Bool = false, as kind: IndexKind = .ordered
  ) {
    self.init("", elements, isUnique: isUnique)
    self.kind = kind
    name = recordName(over: elements.map(\.propertyName))
  }

  /// The partial index of this name over the same properties.
  package func named(_ name: String, where condition: Condition) -> IndexDescription {
    var index = self
    index.name = name
    index.keep(condition)
    return index
  }

  /// The name that records give to an index like this over properties of these names.
  package func recordName(over names: [String]) -> String {
    // By hand: `joined` searches all conformances of the process when it is first used.
    var joined = ""
    for name in names { joined += joined.isEmpty ? name : ", " + name }
    guard kind.word == nil else { return kind.prefix + joined }
    return elements.count == 1 && elements[0].isDescending ? joined + " descending" : joined
  }

  /// Makes it a partial index of the objects that meet the condition.
  private mutating func keep(_ condition: Condition?) {
    guard let condition else { return }
    do throws(IndexTest.Misfit) {
      tests = try condition.indexTests()
    } catch {
      conditionProblem = error.reason
    }
  }

  /// Whether this version knows the definition.
  package var isKnown: Bool { laterDefinition.isEmpty }

  /// Calls `body` with the name and the number of each property that it refers to, and whether that
  /// is in its condition.
  package mutating func updateReferences<E: Error>(
    _ body: (inout String, inout PropertyNumber, _ isTested: Bool) throws(E) -> Void
  ) throws(E) {
    for place in elements.indices {
      var element = elements[place]
      try body(&element.propertyName, &element.property, false)
      elements[place] = element
    }
    for place in tests.indices {
      var test = tests[place]
      try body(&test.propertyName, &test.property, true)
      tests[place] = test
    }
  }

  /// Whether the key or the condition uses this property.
  func names(_ property: PropertyNumber) -> Bool {
    elements.contains { $0.property == property } || tests.contains { $0.property == property }
  }
}

/// One property of an index's key.
public struct IndexElement: Hashable, Sendable {
  /// The name of the property; empty once its number is known.
  public var propertyName: String
  /// The number of the property; 0 until a store assigns it.
  public var property: PropertyNumber = 0
  /// Whether greater values come first.
  public var isDescending: Bool
  /// Whether null counts as greater than all values.
  package var countsNullAsGreatest = false

  /// Creates an element over the property of this name.
  ///
  /// Objects without a value come where small values come (first if ascending, last if descending),
  /// unless `nullsFirst` says otherwise.
  public init(_ propertyName: String, isDescending: Bool = false, nullsFirst: Bool? = nil) {
    self.propertyName = propertyName
    self.isDescending = isDescending
    if let nullsFirst { self.nullsFirst = nullsFirst }
  }

  /// Whether objects without a value come before all others.
  public var nullsFirst: Bool {
    get { isDescending == countsNullAsGreatest }
    set { countsNullAsGreatest = newValue == isDescending }
  }
}
