import AnnalsEngine
import AnnalsModel

/// A property of a record: its name in the store, its key path, and its rules.
///
/// The Swift type, one of those of `AttributeValue`, determines whether the property is optional,
/// and the attribute's type.
public struct Property<R, V>: Sendable {
  private var box: PropertyBox
  let keyPath: any KeyPath<R, V> & Sendable

  /// What the property is. O(1) to read; a change makes a new box.
  package var definition: PropertyDefinition {
    get { box.definition }
    set { box = PropertyBox(newValue) }
  }

  /// Not for this type; says what is.
  @available(
    *, unavailable,
    message: """
      a property is a Bool, Int, Int8 to Int64, UInt8 to UInt32, Double, Float, String, Date, \
      UUID, URL, Data, Decimal, CalendarDay or Value, an optional of these, or a Reference<R>, \
      Reference<R>? or [Reference<R>]; a type whose raw value is one of these conforms to \
      AttributeValue without further code, one that is Codable to JSONValue
      """
  )
  public init(_ name: String, _ keyPath: any KeyPath<R, V> & Sendable) { stop(name) }
}

extension Property where V: AttributeValue {
  /// An attribute; for the types `Reference<D>`, `Reference<D>?` and `[Reference<D>]`, an unordered
  /// relationship to the entity of `D`.
  ///
  /// A property of type `ObjectID?` or `[ObjectID]` does not say to which entity it leads: declare
  /// it with `to:`. Without that, opening a store throws `.invalidSchema`, which names the
  /// property.
  ///
  /// - Parameters:
  ///   - name: the name in the store.
  ///   - keyPath: the record's property.
  public init(_ name: String, _ keyPath: any KeyPath<R, V> & Sendable) {
    var definition = PropertyDefinition(
      attribute: Attribute(name, V.attributeType, isOptional: V._isOptional))
    if V._isRelationship {
      definition.relationship =
        (V.self as? any RelationshipForm.Type)?.relationship
        ?? RelationshipDefinition(destination: { "" })
    }
    box = PropertyBox(definition)
    self.keyPath = keyPath
  }
}

extension Property where V == ObjectID? {
  /// A relationship to at most one object of another record's entity.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: D.Type
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(to: D.self)
  }

  /// A relationship to at most one object of the entity of this name.
  public init(_ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: String) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(destination: { destination })
  }
}

extension Property where V == ObjectID {
  /// A relationship to exactly one object of another record's entity.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: D.Type
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(to: D.self)
    definition.relationship?.isRequired = true
  }
}

extension Property where V == [ObjectID] {
  /// A relationship to any number of objects of another record's entity.
  ///
  /// With `isOrdered`, the objects keep their given order. Otherwise each is stored once, and they
  /// are read in id order.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: D.Type,
    isOrdered: Bool = false
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(
      to: D.self, isToMany: true, isOrdered: isOrdered)
  }

  /// A relationship to any number of objects of the entity of this name; `isOrdered` as above.
  public init(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: String,
    isOrdered: Bool = false
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(
      destination: { destination }, isToMany: true, isOrdered: isOrdered)
  }
}

extension Property {
  /// A relationship to any number of objects of the entity of `D`.
  ///
  /// With `isOrdered`, the objects keep their given order. Otherwise each is stored once, and they
  /// are read in id order.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, isOrdered: Bool
  ) where V == [Reference<D>] {
    self.init(name, keyPath)
    definition.relationship?.isOrdered = isOrdered
  }
}

/// The direction of an order.
public enum SortDirection: Hashable, Sendable {
  case ascending
  case descending
}

/// A definition behind one reference. `RecordEntity` has initialisers for up to 16 properties, each
/// of another type; inline, each would copy the definition member by member, here and in programs.
private final class PropertyBox: Sendable {
  let definition: PropertyDefinition

  init(_ definition: PropertyDefinition) { self.definition = definition }
}

/// The definition of a property, without its types.
package struct PropertyDefinition: Sendable {
  /// The attribute; for a relationship, only its name is used.
  package var attribute: Attribute
  /// The relationship, if it is one.
  package var relationship: RelationshipDefinition?
  /// Earlier names of the property, oldest first.
  package var formerNames: [String] = []
  /// The directions of the indexes of this property alone.
  package var indexed: [SortDirection] = []
  /// Whether logs and diffs print the property beside an object's key.
  package var isDisplayName = false
  /// What an erased value reads as; nil if not specified.
  package var valueWhenErased: ErasedValue?
  /// How the store computes it, by names; nil if it does not say. Evaluated late, since two
  /// entities may refer to each other.
  package var derivation: (@Sendable () -> Derivation)?
  /// The function that computes it; nil for other derivations.
  package var function: DerivedFunction?

  package var name: String { attribute.name }
}

/// What an erased value reads as.
package struct ErasedValue: Sendable {
  /// The value, for an attribute.
  package var value: Value
  /// The objects, for a relationship.
  package var objects: [ObjectID]
}

/// The definition of a relationship, besides its name.
package struct RelationshipDefinition: Sendable {
  /// The destination's name; evaluated late, since two entities may refer to each other.
  package var destination: @Sendable () -> String
  /// The properties of the destination's record type; empty if only its name is known.
  var properties: @Sendable () -> ContiguousArray<PropertyDefinition> = { [] }
  package var isToMany = false
  package var isOrdered = false
  /// Whether it always leads to an object.
  package var isRequired = false
  /// What happens when an object that it leads to is deleted; nil if it does not say.
  package var deleteRule: DeleteRule?
  /// What it says besides the rule.
  package var deleteRuleOptions: DeleteRuleOptions = []
  /// The name of the inverse; nil for none.
  package var inverseName: String?
  /// The limits of the number of objects; nil if it does not say.
  package var count: Range<Int>?
}

extension RelationshipDefinition {
  init<D: Record>(to type: D.Type, isToMany: Bool = false, isOrdered: Bool = false) {
    self.init(
      destination: { D.entity.name }, isToMany: isToMany, isOrdered: isOrdered)
    properties = { D.entity.properties }
  }
}

extension PropertyDefinition {
  /// What records read in place of missing values; nil if they read what is stored.
  ///
  /// Nil, where the store's attribute is optional and this property is not, reads as its default.
  func replacement(over attribute: Attribute) -> ValueReplacement? {
    guard relationship == nil else { return nil }
    let isNarrower = attribute.isOptional && !self.attribute.isOptional
    let missing = isNarrower ? self.attribute.defaultValue ?? .null : .null
    let erased = valueWhenErased?.value ?? .null
    return missing.isNull && erased.isNull
      ? nil : ValueReplacement(missing: missing, erased: erased)
  }
}
