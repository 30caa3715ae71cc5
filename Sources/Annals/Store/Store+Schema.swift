import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Store {
  /// Adds to the store's schema what it lacks of `schema`, as a transaction of its own. Does
  /// nothing if it lacks nothing.
  ///
  /// Only adds and widens: what the store has beyond `schema` stays. Throws `.invalidSchema` with
  /// every reason if the two contradict each other; then nothing has changed.
  public func require(_ schema: Schema) throws(AnnalsError) {
    try change(schema: schema, edits: [])
  }

  /// Renames or removes entities and properties, in this order, each once: the store remembers
  /// which were made. So declare them in every run; those of names that the store never had do
  /// nothing.
  ///
  /// A removal clears the values, or deletes the objects, as ordinary changes of its transaction:
  /// histories, differences and consumers see them. Earlier states have what was removed, under its
  /// old name, until they are pruned. Costs what is cleared.
  ///
  /// - Returns: the edits that changed the store's schema now. An edit counts as made if the store
  ///   has made it as often as this run has declared it; declare it twice to make it twice.
  /// - Throws: `.invalidSchema` if both names of a rename are in use, a new name is invalid, or a
  ///   relationship still leads to an entity to be removed; then nothing has changed.
  @discardableResult
  public func edit(_ edits: SchemaEdit...) throws(AnnalsError) -> [SchemaEdit] {
    let declarations = version.records.bindings.declarations
    let made = try change(
      schema: Schema(), edits: edits, timesDeclared: declarations.timesDeclared)
    declarations.note(edits)
    return made
  }

  /// Makes edits and adds what is missing; returns the edits that changed something.
  @discardableResult
  func change(
    schema: Schema, edits: [SchemaEdit], timesDeclared: (SchemaEdit) -> Int = { _ in 0 }
  ) throws(AnnalsError) -> [SchemaEdit] {
    let version = version
    let state = version.state
    let history = version.view.schemaHistory
    let change: SchemaChange
    do throws(AnnalsError) {
      change = try AnnalsError.schema(
        state, adding: schema, edits, timesDeclared: timesDeclared, history)
    } catch {
      throw error.tellingOfFormerNames(state.schema, schema, history)
    }
    guard !change.isEmpty else {
      version.records.bindings.declarations.note(schema, hasEffect: false)
      return []
    }
    guard !options.isReadOnly else {
      // A store opened for reading accepts a missing definition, which reads as nil or as its
      // default.
      // So it does with edits that there is nothing to do for.
      guard change.edits.isEmpty else { throw .readOnlyStore(writer.log.path) }
      return []
    }
    var made: [SchemaEdit] = []
    try AnnalsError.narrowing {
      _ = try commitTransaction(TransactionOrigin(context: "schema")) {
        made = try $0.require(schema, edits, timesDeclared: timesDeclared)
      }
    }
    return made
  }
}

extension WriteTransaction {
  /// Adds to the schema what it lacks of `schema`, in this transaction; first makes the given
  /// renames and removals, each once, as `Store.edit` does.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ schema: Schema, edits: [SchemaEdit] = []) throws(AnnalsError) {
    let declarations = boundRecords.bindings.declarations
    _ = try require(schema, edits, timesDeclared: declarations.timesDeclared)
    declarations.note(edits)
  }

  fileprivate func require(
    _ schema: Schema, _ edits: [SchemaEdit], timesDeclared: (SchemaEdit) -> Int
  ) throws(AnnalsError) -> [SchemaEdit] {
    checkOpen()
    let change = try AnnalsError.schema(
      reader.state, adding: schema, edits, timesDeclared: timesDeclared, boundRecords.history)
    boundRecords.bindings.declarations.note(schema, hasEffect: !change.isEmpty)
    guard !change.isEmpty else { return [] }
    for backfill in change.backfills { try fill(backfill) }
    // New uniqueness rules are checked with all others at the end of the transaction.
    define(change.changed)
    return change.edits
  }

  /// Replaces the definitions with the same numbers by these complete ones. Clears the values of
  /// properties and deletes the objects of entities that these remove: changes as any others.
  package func define(_ entities: [Entity]) {
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
  package func redefine(_ entities: [Entity]) {
    redefine(entities.map(EntityChange.init))
  }

  /// As the other form, with what changed of each.
  package func redefine(_ changes: [EntityChange]) {
    reader.state.changeSchema(changes)
    changedEntities.formUnion(changes.lazy.map(\.number))
  }

  /// Stores a default explicitly where a null stood for it so far.
  private func fill(_ backfill: SchemaChange.Backfill) throws(AnnalsError) {
    var rows = reader.state.rows(of: backfill.entity)
    while let row = try AnnalsError.translating({ () throws(StateFault) in try rows.next() }) {
      let value = try AnnalsError.translating { () throws(StateFault) in
        try reader.state.value(backfill.entity, row, backfill.property)
      }
      guard value.isNull else { continue }
      try store(backfill.value, in: backfill.property, row: row, of: backfill.entity)
      touch(backfill.entity, row)
    }
  }
}

extension AnnalsError {
  /// The changes to a store's schema; throws `.invalidSchema` if they are impossible.
  fileprivate static func schema(
    _ state: State, adding required: Schema, _ edits: [SchemaEdit],
    timesDeclared: (SchemaEdit) -> Int, _ history: [SchemaHistoryEntry]
  ) throws(AnnalsError) -> SchemaChange {
    do throws(SchemaError) {
      return try state.schema.adding(
        required, edits: edits, timesDeclared: timesDeclared, wasNamed: history.wasNamed
      ) { state.count(of: $0) }
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
