import AnnalsModel

// Changes of the schema: each costs what it changes, not what the schema has.

extension State {
  /// Applies a change of the schema: adds entities and properties, widens types, renames, hides
  /// what is removed. Values stay as they are.
  ///
  /// A unique rule that is new is built over the objects there are by the next `checkUniqueness`,
  /// which returns those that break it.
  package mutating func changeSchema(_ changes: [EntityChange]) {
    for change in changes {
      let place = place(for: change.number)
      if place < tables.count, tables[place].number == change.number {
        let leavesRules = change.leavesRules(of: schema.entities[place])
        schema.entities[place].apply(change)
        let table = writableTable(at: place)
        table.define(change.definition)
        if !leavesRules { table.defineIndexes(schema.entities[place]) }
      } else {
        schema.entities.insert(change.definition, at: place)
        tables.insert(Table(change.definition), at: place)
      }
    }
  }

  /// Puts these whole definitions in place of those with the same numbers.
  package mutating func changeSchema(_ entities: [Entity]) {
    changeSchema(entities.map(EntityChange.init))
  }

  /// Adds an entity of a name that the schema does not have, and returns it with its numbers. O(1).
  ///
  /// - Throws: `SchemaError` for a bad name, or if there are too many.
  package mutating func append(_ entity: Entity) throws(SchemaError) -> Entity {
    let added = try schema.append(entity)
    tables.append(Table(added))
    return added
  }

  /// Adds an attribute of a name that the entity does not have, and returns it with its number.
  /// O(1) as long as nobody else holds the state.
  ///
  /// - Throws: `SchemaError` for a bad name, or if there are too many.
  package mutating func append(
    _ attribute: Attribute, to entity: EntityNumber
  ) throws(SchemaError) -> Attribute {
    guard let place = index(of: entity) else { preconditionFailure("no entity \(entity)") }
    let added = try schema.append(attribute, toEntityAt: place)
    writableTable(at: place).define(added)
    return added
  }

  /// Makes an attribute that is not unique one of any type. O(log attributes) as long as nobody
  /// else holds the state.
  package mutating func widen(_ attribute: PropertyNumber, of entity: EntityNumber) {
    guard let place = index(of: entity) else { return }
    schema.widen(attribute, ofEntityAt: place)
    guard let found = schema.entities[place].attribute(numbered: attribute) else { return }
    writableTable(at: place).define(found)
  }

  /// Takes over another schema of the same store: the one of the past, for a state in the past.
  ///
  /// Objects and values that this schema does not know stay, and are not shown. Unique rules stay
  /// as they are: a past state has the indexes of the present. Costs what both schemas have.
  package mutating func setSchema(_ schema: Schema) {
    var entities = schema.entities
    // An entity unknown to the other schema keeps its table, behind a definition that hides it;
    // without objects it goes, so that the past looks the same whichever way led to it.
    let known = Set(entities.lazy.map(\.number))
    for old in self.schema.entities where count(of: old.number) > 0 && !known.contains(old.number) {
      var hidden = old
      hidden.isRemoved = true
      entities.append(hidden)
    }
    entities.sort { $0.number < $1.number }
    tables = ContiguousArray(
      entities.map { entity in
        guard let index = self.index(of: entity.number) else { return Table(entity) }
        let table = Table(copying: tables[index])
        table.define(entity)
        return table
      })
    self.schema = Schema(entities: entities)
  }
}
