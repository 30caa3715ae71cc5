import AnnalsModel

/// A property of a record: its name in the store, where it is in the record, and its rules.
///
/// Whether a property is optional, and the type of its attribute, follow from its Swift type.
public struct Property<R, V: AttributeValue>: Sendable {
  package var definition: PropertyDefinition
  let keyPath: any KeyPath<R, V> & Sendable

  /// An attribute; or, where the type is `Reference<D>?` or `[Reference<D>]`, a relationship to the
  /// entity of `D`, unordered.
  ///
  /// A property of type `ObjectID?` or `[ObjectID]` does not say to which entity it leads: give it
  /// `to:`. Opening a store refuses one without, by its name, with `.invalidSchema`.
  ///
  /// - Parameters:
  ///   - name: the name in the store.
  ///   - keyPath: the record's property.
  public init(_ name: String, _ keyPath: any KeyPath<R, V> & Sendable) {
    definition = PropertyDefinition(
      attribute: Attribute(name, V.attributeType, isOptional: V._isOptional))
    if V._isRelationship {
      definition.relationship =
        (V.self as? any RelationshipForm.Type)?.relationship
        ?? RelationshipDefinition(destination: { "" })
    }
    self.keyPath = keyPath
  }
}

extension Property where V == ObjectID? {
  /// A relationship to at most one object of another record's entity.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: D.Type
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(destination: { D.entity.name })
  }

  /// A relationship to at most one object of the entity of this name.
  public init(_ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: String) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(destination: { destination })
  }
}

extension Property where V == [ObjectID] {
  /// A relationship to any number of objects of another record's entity.
  ///
  /// With `isOrdered`, the objects keep the order they are given. Without, each is stored once, and
  /// the order of reading is that of their ids.
  public init<D: Record>(
    _ name: String, _ keyPath: any KeyPath<R, V> & Sendable, to destination: D.Type,
    isOrdered: Bool = false
  ) {
    self.init(name, keyPath)
    definition.relationship = RelationshipDefinition(
      destination: { D.entity.name }, isToMany: true, isOrdered: isOrdered)
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
  /// With `isOrdered`, the objects keep the order they are given. Without, each is stored once, and
  /// the order of reading is that of their ids.
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

/// What a property states, whatever its types.
package struct PropertyDefinition: Sendable {
  /// The attribute; of a relationship, only its name counts.
  package var attribute: Attribute
  /// The relationship's part, if it is one.
  package var relationship: RelationshipDefinition?
  /// Earlier names of the property, oldest first.
  package var formerNames: [String] = []
  /// The indexes over this property alone.
  package var indexed: [SortDirection] = []
  /// Whether logs and diffs print the property beside an object's key.
  package var isDisplayName = false
  /// What an erased value reads as; nil if that was not said.
  package var valueWhenErased: ErasedValue?

  package init(attribute: Attribute) {
    self.attribute = attribute
  }

  package var name: String { attribute.name }
}

/// What an erased value reads as.
package struct ErasedValue: Sendable {
  /// The value, of an attribute.
  package var value: Value
  /// The objects, of a relationship.
  package var objects: [ObjectID]
}

/// What a relationship states beside its name.
package struct RelationshipDefinition: Sendable {
  /// The destination's name; asked for late, since two entities may name each other.
  package var destination: @Sendable () -> String
  package var isToMany = false
  package var isOrdered = false

  package init(
    destination: @escaping @Sendable () -> String, isToMany: Bool = false, isOrdered: Bool = false
  ) {
    self.destination = destination
    self.isToMany = isToMany
    self.isOrdered = isOrdered
  }
}
