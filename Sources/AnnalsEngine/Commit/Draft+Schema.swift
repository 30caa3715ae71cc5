import AnnalsFormat
import AnnalsModel
import AnnalsState

// Changes of the schema, as parts of a draft.

extension Draft {
  /// Adds to the schema what it lacks of `schema`; first makes the given renames and removals, each
  /// as often as it was declared more than made. Returns the edits that changed something.
  ///
  /// A migration, which tolerates something, has new delete rules checked at its end.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  package mutating func require(
    _ schema: Schema, _ edits: [SchemaEdit], timesDeclared: (SchemaEdit) -> Int,
    tolerating tolerance: SchemaTolerance = .nothing
  ) throws(AnnalsError) -> [SchemaEdit] {
    let change = try AnnalsError.schema(
      reader.state, adding: schema, edits, timesDeclared: timesDeclared, records.history,
      tolerating: tolerance)
    records.bindings.declarations.note(schema, hasEffect: !change.isEmpty)
    guard !change.isEmpty else { return [] }
    for backfill in change.backfills { try fill(backfill) }
    // New uniqueness rules are checked with all others at the end of the transaction.
    define(change.changed)
    if tolerance.isEmpty { try followNewRules(of: change.changed, as: schema) }
    return change.edits
  }

  /// Replaces the definitions with the same numbers by these complete ones. Clears the values of
  /// properties and deletes the objects of entities that these remove: changes as any others.
  package mutating func define(_ entities: [Entity]) {
    let removing = entities.filter { entity in
      schema.entity(numbered: entity.number).map(entity.removesAnything) ?? false
    }
    redefine(entities)
    for entity in removing {
      reader.state.dropRemoved(of: entity)
      touched.insertAll(of: entity.number)
    }
  }

  /// As `define`, and leaves values and objects as they are.
  package mutating func redefine(_ entities: [Entity]) {
    redefine(entities.map(EntityChange.init))
  }

  /// As the other form, with what changed of each.
  package mutating func redefine(_ changes: [EntityChange]) {
    reader.state.changeSchema(changes)
    changedEntities.formUnion(changes.lazy.map(\.number))
    definitionCount += 1
  }

  /// Drops from the definitions that the draft changes the items that do not outlast a change by a
  /// writer that does not know them. O(properties of changed entities).
  mutating func dropPassingItems() {
    if changedEntities.isEmpty { return }
    let kept = changedEntities.sorted().compactMap { number -> Entity? in
      guard let new = schema.entity(numbered: number) else { return nil }
      return base.schema.entity(numbered: number).flatMap(new.withoutPassingItems)
    }
    if !kept.isEmpty { redefine(kept) }
  }

  /// Adds an entity with a new name, and returns it with its numbers. O(what is added).
  ///
  /// Throws `.invalidSchema` for an invalid name, or if there are too many entities.
  package mutating func append(_ entity: Entity) throws(AnnalsError) -> Entity {
    do throws(SchemaError) {
      let added = try reader.state.append(entity)
      changedEntities.insert(added.number)
      definitionCount += 1
      return added
    } catch {
      throw .invalidSchema(error)
    }
  }

  /// Adds an attribute with a new name to the entity, and returns it with its number. O(what is
  /// added).
  ///
  /// Throws `.invalidSchema` for an invalid name, or if there are too many attributes.
  package mutating func append(
    _ attribute: Attribute, to entity: EntityNumber
  ) throws(AnnalsError) -> Attribute {
    do throws(SchemaError) {
      let added = try reader.state.append(attribute, to: entity)
      changedEntities.insert(entity)
      definitionCount += 1
      return added
    } catch {
      throw .invalidSchema(error)
    }
  }

  /// Widens an attribute that is not unique to any type.
  package mutating func widen(_ attribute: PropertyNumber, of entity: EntityNumber) {
    reader.state.widen(attribute, of: entity)
    changedEntities.insert(entity)
    definitionCount += 1
  }

  /// Stores a default explicitly where a null stood for it so far.
  private mutating func fill(_ backfill: SchemaChange.Backfill) throws(AnnalsError) {
    var rows = reader.state.rows(of: backfill.entity)
    while let row = try AnnalsError.translating({ try rows.next() }) {
      let object = ObjectReference(entity: backfill.entity, row: row)
      guard try reader.state.value(of: object, backfill.property).isNull else { continue }
      try store(backfill.value, in: backfill.property, row: row, of: backfill.entity)
      touch(backfill.entity, row)
    }
  }
}

extension AnnalsError {
  /// The changes to a store's schema; throws `.invalidSchema` if they are impossible.
  package static func schema(
    _ state: State, adding required: Schema, _ edits: [SchemaEdit],
    timesDeclared: (SchemaEdit) -> Int, _ history: [SchemaHistoryEntry],
    tolerating tolerance: SchemaTolerance = .nothing
  ) throws(AnnalsError) -> SchemaChange {
    do throws(SchemaError) {
      return try state.schema.adding(
        required, edits: edits, timesDeclared: timesDeclared, wasNamed: history.wasNamed,
        objectCount: { state.count(of: $0) }, tolerating: tolerance)
    } catch {
      throw .invalidSchema(error)
    }
  }
}

extension [SchemaHistoryEntry] {
  /// Whether an entity, or a property of it, had this name. O(changes).
  fileprivate func wasNamed(
    _ entity: EntityNumber, _ property: PropertyNumber?, _ name: String
  ) -> Bool {
    contains { entry in
      entry.change.contains { change in
        guard change.number == entity else { return false }
        let known = property.map { change.definition.propertyName($0) } ?? change.definition.name
        return known?.hasSameBytes(as: name) == true
      }
    }
  }
}
