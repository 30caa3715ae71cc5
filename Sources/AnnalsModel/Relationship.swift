/// A property that names other objects.
public struct Relationship: Hashable, Sendable {
  /// The stable number within the entity, from 1; 0 until a store assigns it.
  public var number: PropertyNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The name of the entity whose objects it names; empty once the number is known.
  public var destinationName: String
  /// The number of that entity; 0 until a store assigns it.
  public var destination: EntityNumber = 0
  /// Whether it names any number of objects rather than at most one.
  public var isToMany: Bool
  /// Whether the objects of a to-many relationship keep the order they were given.
  public var isOrdered: Bool
  /// Whether the relationship was removed and is kept hidden for the past.
  public var isRemoved = false
  /// The items of the definition's extension area; see `Entity.extensions`.
  package var extensions: ContiguousArray<UInt8> = []

  /// A relationship to the entity of this name.
  public init(
    _ name: String, to destinationName: String, isToMany: Bool = false, isOrdered: Bool = false
  ) {
    self.name = name
    self.destinationName = destinationName
    self.isToMany = isToMany
    self.isOrdered = isOrdered
  }
}

/// A stored order of an entity's objects.
public struct IndexDescription: Hashable, Sendable {
  /// The stable number within the entity, from the same sequence as properties; 0 until a store
  /// assigns it.
  public var number: PropertyNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The properties that make the key, in order.
  public var elements: [IndexElement]
  /// Whether it is a box index: for ranges of several numbers or dates at once, in no order.
  public var isBox = false
  /// Whether no two objects may have the same key; a key with a nil never collides.
  public var isUnique: Bool
  /// What the objects in a partial index have in common: all of these are true of them.
  package var tests: [IndexTest] = []
  /// Why the condition that was given cannot be kept in a store; nil if it can.
  package var conditionProblem: String?
  /// The collation: 0, UTF-8 bytes, the only one.
  package var collation: UInt8 = 0
  /// The items of the definition's extension area; see `Entity.extensions`.
  package var extensions: ContiguousArray<UInt8> = []
  /// What a definition that only later versions know says behind the name, kept as it is: then
  /// there are no elements, and nothing is done with the index. Empty if the index is known.
  package var laterDefinition: ContiguousArray<UInt8> = []

  /// An index over these elements: of all objects, or of those alone of which a condition is true.
  ///
  /// The condition compares the object's own attributes with values, joined by AND: `==` and `!=`
  /// with any value of up to 256 bytes, the others with numbers, dates, UUIDs and Booleans. Opening
  /// a store refuses another one.
  public init(
    _ name: String, _ elements: [IndexElement], isUnique: Bool = false,
    where condition: Condition? = nil
  ) {
    self.name = name
    self.elements = elements
    self.isUnique = isUnique
    keep(condition)
  }

  /// A box index over two to eight attributes that are numbers or dates: it serves conditions such
  /// as `latitude > 47 AND latitude < 48 AND longitude > 7 AND longitude < 9`.
  ///
  /// It has no order, and no objects that lack one of the values. The condition is as that of
  /// another index. Opening a store refuses other attributes, fewer and more.
  public init(_ name: String, box properties: [String], where condition: Condition? = nil) {
    self.name = name
    elements = properties.map { IndexElement($0) }
    isUnique = false
    isBox = true
    keep(condition)
  }

  /// Makes it an index of the objects alone of which the condition is true.
  private mutating func keep(_ condition: Condition?) {
    guard let condition else { return }
    do throws(IndexTest.Misfit) {
      tests = try condition.indexTests()
    } catch {
      conditionProblem = error.reason
    }
  }

  /// Whether this version knows what the definition says.
  package var isKnown: Bool { laterDefinition.isEmpty }

  /// Whether the key or the condition is of this property.
  func names(_ property: PropertyNumber) -> Bool {
    elements.contains { $0.property == property } || tests.contains { $0.property == property }
  }
}

/// One property of an index's key.
public struct IndexElement: Hashable, Sendable {
  /// The name of the property; empty once the number is known.
  public var propertyName: String
  /// The number of the property; 0 until a store assigns it.
  public var property: PropertyNumber = 0
  /// Whether greater values come first.
  public var isDescending: Bool
  /// Whether objects without a value are at the end where greater values are.
  package var countsNullAsGreatest = false

  /// An element over the property of this name.
  ///
  /// Objects without a value come before those with small values (so first, or last if descending)
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
