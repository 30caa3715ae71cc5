/// The schema of a store: its entities with their attributes, relationships and indexes.
///
/// The same type describes what a program needs (numbers 0: not yet assigned) and what a store has
/// (every entity and property with its stable number).
public struct Schema: Hashable, Sendable {
  /// The entities, ordered by number once numbers are assigned.
  public var entities: [Entity]

  /// The schema of these entities.
  public init(entities: [Entity] = []) {
    self.entities = entities
  }

  /// The entities that are not removed.
  package var liveEntities: [Entity] { entities.filter { !$0.isRemoved } }

  /// The entity of this name that is not removed.
  public func entity(named name: String) -> Entity? {
    place(ofEntity: name).map { entities[$0] }
  }

  /// The place of the entity of this name that is not removed.
  func place(ofEntity name: String) -> Int? {
    DefinitionProbe.count(entities.count)
    // By index: a closure would be given a copy of each definition.
    return entities.indices.first {
      entities[$0].name.hasSameBytes(as: name) && !entities[$0].isRemoved
    }
  }

  /// The entity with this number, removed or not.
  public func entity(numbered number: EntityNumber) -> Entity? {
    // Numbers are dense in a store's schema; the search is for schemas written by a program.
    let index = Int(number) - 1
    if entities.indices.contains(index), entities[index].number == number { return entities[index] }
    return entities.first { $0.number == number }
  }
}

/// A kind of object: a name and its properties.
public struct Entity: Hashable, Sendable {
  /// The stable number, from 1; 0 until a store assigns it.
  public var number: EntityNumber = 0
  /// The name; it may change, the number may not.
  public var name: String
  /// The attributes, including removed ones, ordered by number once numbers are assigned.
  public var attributes: [Attribute]
  /// The relationships, including removed ones.
  public var relationships: [Relationship]
  /// The indexes, besides those of unique attributes.
  public var indexes: [IndexDescription]
  /// The name of the attribute printed beside an object's key in logs and diffs.
  public var displayName: String?
  /// Whether the entity was removed, with its objects; the definition stays, as history names it.
  public var isRemoved = false
  /// The next number for a property. Numbers are never reused.
  package var nextPropertyNumber: PropertyNumber = 1
  /// The edits that were made to the entity and its properties, in their order; see `SchemaEdit`.
  package var madeEdits: [SchemaEdit] = []
  /// The items of the definition's extension area that later versions may fill; kept unchanged by
  /// every other change.
  package var extensions: ContiguousArray<UInt8> = []

  /// Creates an entity with these properties.
  public init(
    _ name: String, attributes: [Attribute] = [], relationships: [Relationship] = [],
    indexes: [IndexDescription] = [], displayName: String? = nil
  ) {
    self.name = name
    self.attributes = attributes
    self.relationships = relationships
    self.indexes = indexes
    self.displayName = displayName
  }

  /// The attribute of this name that is not removed.
  public func attribute(named name: String) -> Attribute? {
    place(ofAttribute: name).map { attributes[$0] }
  }

  /// The index of the attribute of this name that is not removed; looks at `likely` first. Copies
  /// no definition, unlike a search by a closure.
  package func place(ofAttribute name: String, likely: Int = 0) -> Int? {
    func isNamed(_ place: Int) -> Bool {
      attributes[place].name.hasSameBytes(as: name) && !attributes[place].isRemoved
    }
    if likely < attributes.count, isNamed(likely) { return likely }
    DefinitionProbe.count(attributes.count)
    return attributes.indices.first(where: isNamed)
  }

  /// The relationship of this name that is not removed.
  public func relationship(named name: String) -> Relationship? {
    DefinitionProbe.count(relationships.count)
    let place = relationships.indices.first {
      relationships[$0].name.hasSameBytes(as: name) && !relationships[$0].isRemoved
    }
    return place.map { relationships[$0] }
  }

  /// The attribute whose value names an object in text: the unique one named `id`, otherwise the
  /// first unique one; nil if there is none.
  public var keyAttribute: Attribute? {
    DefinitionProbe.count(attributes.count)
    let unique = attributes.filter { $0.isUnique && !$0.isRemoved }
    return unique.first { $0.name.hasSameBytes(as: "id") } ?? unique.first
  }

  /// The name of the property with this number, removed or not.
  public func propertyName(_ number: PropertyNumber) -> String? {
    DefinitionProbe.count(attributes.count + relationships.count)
    for index in attributes.indices where attributes[index].number == number {
      return attributes[index].name
    }
    for index in relationships.indices where relationships[index].number == number {
      return relationships[index].name
    }
    return nil
  }

  /// The number of the property of this name that is not removed.
  package func propertyNumber(named name: String) -> PropertyNumber? {
    attribute(named: name)?.number ?? relationship(named: name)?.number
  }

  /// The uniqueness rules: one for each unique attribute and each unique index.
  package var uniqueRules: [UniqueRule] {
    DefinitionProbe.count(attributes.count)
    let ofAttributes = attributes.filter { $0.isUnique && !$0.isRemoved }
      .map { UniqueRule(number: $0.number, properties: [$0.number]) }
    let ofIndexes = indexes.filter { $0.isUnique }
      .map { UniqueRule(number: $0.number, properties: $0.elements.map(\.property)) }
    return ofAttributes + ofIndexes
  }
}

/// A uniqueness rule: no two objects of an entity have the same values of these properties. Nil
/// never collides.
package struct UniqueRule: Hashable, Sendable {
  /// The number of the attribute or index that has the rule.
  package var number: PropertyNumber
  /// The properties of the key, in order.
  package var properties: [PropertyNumber]

  package init(number: PropertyNumber, properties: [PropertyNumber]) {
    self.number = number
    self.properties = properties
  }
}

extension Entity {
  /// Attributes and relationships, including removed ones. O(properties).
  package var properties: [(number: PropertyNumber, name: String, isRemoved: Bool)] {
    attributes.map { ($0.number, $0.name, $0.isRemoved) }
      + relationships.map { ($0.number, $0.name, $0.isRemoved) }
  }

  /// The highest number of the entity's properties and indexes; 0 if none has one.
  package var highestPropertyNumber: PropertyNumber {
    (properties.map(\.number) + indexes.map(\.number)).max() ?? 0
  }

  /// The numbers of the properties that were removed.
  package var removedProperties: Set<PropertyNumber> {
    var result: Set<PropertyNumber> = []
    for attribute in attributes where attribute.isRemoved { result.insert(attribute.number) }
    for relationship in relationships where relationship.isRemoved {
      result.insert(relationship.number)
    }
    return result
  }

  /// Whether properties were removed from the entity.
  package var hasRemovedProperties: Bool {
    attributes.contains(where: \.isRemoved) || relationships.contains(where: \.isRemoved)
  }

  /// The numbers of the removed properties that have this name.
  package func removedProperties(named name: String) -> [PropertyNumber] {
    DefinitionProbe.count(attributes.count + relationships.count)
    return properties.filter { $0.isRemoved && $0.name.hasSameBytes(as: name) }.map(\.number)
  }

  /// Whether this definition removes or renames the entity, or properties, of the one before.
  package func removesOrRenames(_ before: Entity) -> Bool {
    removesAnything(of: before) || !name.hasSameBytes(as: before.name)
      || before.properties.contains { propertyName($0.number)?.hasSameBytes(as: $0.name) != true }
  }

  /// Whether this definition removes the entity, or properties, of the one before.
  package func removesAnything(of before: Entity) -> Bool {
    isRemoved && !before.isRemoved || !removedProperties.isSubset(of: before.removedProperties)
  }
}
