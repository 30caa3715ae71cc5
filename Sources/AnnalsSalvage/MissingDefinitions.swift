import AnnalsModel

/// Makes up definitions of entities and properties that records refer to and whose own definitions
/// were lost, so that their values can be kept. Their names say so; their types admit everything,
/// or are what the next definition says: a type only ever becomes wider. Its default is theirs,
/// too.
struct MissingDefinitions {
  private struct Property {
    var isRelationship = false
    var isToMany = false
    var destination: EntityNumber = 0
    /// The kinds of its values.
    var tags: Set<ValueTag> = []

    /// The type of the attribute: that of a later definition, unless it does not admit the values.
    func type(by later: Attribute?) -> AttributeType {
      guard let later, tags.allSatisfy(later.type.admits) else { return .any }
      return later.type
    }
  }

  private var properties: [EntityNumber: [PropertyNumber: Property]] = [:]
  /// The definition of an entity in later records. It may have been new there, or repeated.
  private struct Learnt {
    var properties: Set<PropertyNumber> = []
    /// The attributes as they are first defined there.
    var attributes: [PropertyNumber: Attribute] = [:]
    /// Whether a record defines the whole entity. Then there were no other properties.
    var isWhole = false
  }

  private var learnt: [EntityNumber: Learnt] = [:]
  /// The entities that relationships lead to which are defined there.
  private var destinations: Set<EntityNumber> = []

  /// Learns that a record defines an entity, or changes one that `schema` should have.
  mutating func learn(_ change: EntityChange, schema: Schema) {
    destinations.formUnion(change.definition.relationships.lazy.map(\.destination))
    var known = learnt[change.number] ?? Learnt()
    if known.isWhole { return }
    known.isWhole = !change.isPartial
    known.properties.formUnion(change.definition.attributes.lazy.map(\.number))
    known.properties.formUnion(change.definition.relationships.lazy.map(\.number))
    for attribute in change.definition.attributes where known.attributes[attribute.number] == nil {
      known.attributes[attribute.number] = attribute
    }
    learnt[change.number] = known
    if change.isPartial, schema.entity(numbered: change.number) == nil {
      properties[change.number] = properties[change.number] ?? [:]
    }
  }

  /// Notes what a change needs and the schema lacks. `isNew` is whether a record behind the gap
  /// inserted the object.
  mutating func note(
    _ change: ChangeEntry, in batch: ChangeBatch, schema: Schema, isNew: Bool
  ) {
    let learnt = learnt[change.entity]
    if learnt?.isWhole == true, isNew || change.kind == .insert { return }
    let entity = schema.entity(numbered: change.entity)
    if entity == nil, properties[change.entity] == nil { properties[change.entity] = [:] }
    for index in change.propertyRange {
      let property = batch.properties[index]
      if let learnt, learnt.isWhole || learnt.properties.contains(property.property) {
        if isNew || change.kind == .insert { continue }
        // A property with a value before the change may have been defined in the gap.
        let hadValue = property.isEdits || property.before.tag != .null
        let isDefined = entity.map { admits($0, property.property, []) } ?? false
        guard hadValue, !isDefined, learnt.properties.contains(property.property) else { continue }
      }
      let tags = [property.before.tag, property.after.tag]
      if let entity, admits(entity, property.property, tags) { continue }
      var made = properties[change.entity]?[property.property] ?? Property()
      made.tags.formUnion(tags.filter { $0 != .null && $0 != .erased })
      if tags.contains(.objects) || property.isEdits { made.isToMany = true }
      for cell in [property.before, property.after] where cell.tag == .object {
        made.isRelationship = true
        made.destination = EntityNumber(cell.length)
      }
      if made.isToMany {
        made.isRelationship = true
        for cell in [property.before, property.after] where cell.length >= 12 {
          let offset = Int(cell.bits) + (property.isEdits ? 4 : 0)
          batch.arena.withUnsafeBytes {
            let raw = $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            made.destination = EntityNumber(littleEndian: raw)
          }
        }
      }
      properties[change.entity, default: [:]][property.property] = made
    }
  }

  private func admits(
    _ entity: Entity, _ property: PropertyNumber, _ tags: [ValueTag]
  ) -> Bool {
    if let attribute = entity.attributes.first(where: { $0.number == property }) {
      guard let tag = attribute.type.tag else { return true }
      return tags.allSatisfy { $0 == .null || $0 == .erased || $0 == tag }
    }
    return entity.relationships.contains { $0.number == property }
  }

  /// The missing definitions, with the destination entities of relationships.
  private func complete(besides schema: Schema) -> [EntityNumber: [PropertyNumber: Property]] {
    var result = properties
    for entity in destinations where learnt[entity]?.isWhole != true {
      if result[entity] == nil, schema.entity(numbered: entity) == nil { result[entity] = [:] }
    }
    for (entity, wanted) in properties {
      for (number, property) in wanted where property.isRelationship {
        // An unknown destination becomes the relationship's own entity.
        let destination = property.destination == 0 ? entity : property.destination
        result[entity]?[number]?.destination = destination
        if result[destination] == nil, schema.entity(numbered: destination) == nil {
          result[destination] = [:]
        }
      }
    }
    return result
  }

  /// The made-up definitions, changed entities whole.
  func definitions(besides schema: Schema) -> [Entity] {
    complete(besides: schema).sorted { $0.key < $1.key }.map { number, wanted in
      var entity = schema.entity(numbered: number) ?? Entity("lost entity \(number)")
      entity.number = number
      let attributes = learnt[number]?.attributes ?? [:]
      for (number, property) in wanted.sorted(by: { $0.key < $1.key }) {
        let later = attributes[number]
        if let index = entity.attributes.firstIndex(where: { $0.number == number }) {
          // Widened in the gap.
          entity.attributes[index].type = property.type(by: later)
          continue
        }
        if property.isRelationship {
          var relationship = Relationship(
            "lost property \(number)", to: "", isToMany: property.isToMany, isOrdered: true)
          relationship.number = number
          relationship.destination = property.destination
          entity.relationships.append(relationship)
        } else {
          var attribute = Attribute("lost property \(number)", property.type(by: later))
          attribute.number = number
          if let later, later.defaultValue != nil {
            attribute.defaultValue = later.defaultValue
            attribute.isOptional = later.isOptional
          }
          entity.attributes.append(attribute)
        }
        entity.nextPropertyNumber = max(entity.nextPropertyNumber, number + 1)
      }
      entity.attributes.sort { $0.number < $1.number }
      entity.relationships.sort { $0.number < $1.number }
      return entity
    }
  }
}
