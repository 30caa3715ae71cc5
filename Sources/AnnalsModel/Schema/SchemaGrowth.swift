// Adding single entities and attributes, for tools that discover them: without visiting existing
// ones, as `Schema.adding` does.

extension Schema {
  /// Adds an entity with a new name, and returns it with its numbers. O(1).
  ///
  /// - Throws: `SchemaError` for an invalid name, or if there are too many entities.
  package mutating func append(_ entity: Entity) throws(SchemaError) -> Entity {
    var problem = entity.name.entityNameProblem.map {
      SchemaConflict(.invalidName, entity.name, nil, $0)
    }
    if entities.count >= SchemaLimits.entities {
      problem = SchemaConflict.tooManyEntities(entity.name)
    }
    if let problem { throw SchemaError([problem]) }
    var added = entity
    added.number = (entities.last?.number ?? 0) + 1
    for place in added.attributes.indices {
      added.attributes[place].number = added.nextPropertyNumber
      added.nextPropertyNumber += 1
    }
    entities.append(added)
    return added
  }

  /// Adds an attribute with a new name to the entity at this index, and returns it with its number.
  /// The entity's objects have no value for it. O(1) while nobody else holds the schema.
  ///
  /// - Throws: `SchemaError` for an invalid name, or if there are too many attributes.
  package mutating func append(
    _ attribute: Attribute, toEntityAt place: Int
  ) throws(SchemaError) -> Attribute {
    precondition(attribute.isOptional && !attribute.isUnique, "objects may lack it")
    let entity = entities[place].name
    if let reason = attribute.name.nameProblem {
      throw SchemaError([SchemaConflict(.invalidName, entity, attribute.name, reason)])
    }
    var added = attribute
    added.number = entities[place].nextPropertyNumber
    guard added.number <= SchemaLimits.properties else {
      throw SchemaError([.tooManyProperties(entity, attribute.name)])
    }
    entities[place].nextPropertyNumber += 1
    entities[place].attributes.append(added)
    return added
  }

  /// Widens an attribute to any type. O(log attributes) while nobody else holds the schema.
  package mutating func widen(_ number: PropertyNumber, ofEntityAt place: Int) {
    guard let position = entities[place].attributes.place(numbered: number) else { return }
    entities[place].attributes[position].type = .any
  }
}

extension Entity {
  /// The attribute with this number, removed or not, of an entity that a store has: there numbers
  /// rise. O(log attributes).
  package func attribute(numbered number: PropertyNumber) -> Attribute? {
    attributes.place(numbered: number).map { attributes[$0] }
  }
}

extension SchemaConflict {
  static func tooManyEntities(_ name: String) -> SchemaConflict {
    SchemaConflict(
      .tooMany, name, nil, "a store has at most \(SchemaLimits.entities) entities")
  }

  static func tooManyProperties(_ entity: String, _ name: String) -> SchemaConflict {
    SchemaConflict(
      .tooMany, entity, name,
      "an entity has at most \(SchemaLimits.properties) properties and indexes")
  }
}
