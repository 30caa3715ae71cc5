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
      throw telling(error, of: schema)
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
    try AnnalsError.translating {
      _ = try commitTransaction(TransactionOrigin(context: "schema")) {
        made = try $0.draft.require(schema, edits, timesDeclared: timesDeclared)
      }
    }
    return made
  }
}

extension WriteTransaction {
  /// Adds to the schema what it lacks of `schema`, in this transaction; first makes the given
  /// renames and removals, each once, as `Store.edit` does.
  ///
  /// In a migration, an attribute without any value gives way to one of another type.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ schema: Schema, edits: [SchemaEdit] = []) throws(AnnalsError) {
    if draft.origin.isMigration { try draft.dropUnused(contradicting: schema) }
    let declarations = draft.records.bindings.declarations
    _ = try draft.require(schema, edits, timesDeclared: declarations.timesDeclared)
    declarations.note(edits)
  }
}
