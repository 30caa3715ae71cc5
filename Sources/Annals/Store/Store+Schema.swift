import AnnalsEngine
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

  /// Renames or removes entities and properties, in this order. Skips edits that are already done,
  /// and those of names that the store never had.
  ///
  /// Removed data stays readable in the past, under its old name, until history before the removal
  /// is pruned. Throws `.invalidSchema` if a new name is taken or invalid, or if a relationship
  /// still leads to an entity to be removed.
  public func edit(_ edits: SchemaEdit...) throws(AnnalsError) {
    try change(schema: Schema(), edits: edits)
  }

  func change(schema: Schema, edits: [SchemaEdit]) throws(AnnalsError) {
    let version = version
    let state = version.state
    let change: SchemaChange
    do throws(AnnalsError) {
      change = try AnnalsError.schema(state.schema, adding: schema, edits: edits, in: state)
    } catch {
      throw error.tellingOfFormerNames(state.schema, schema, version.view.schemaHistory)
    }
    guard !change.isEmpty else { return }
    guard !options.isReadOnly else {
      // A store opened for reading accepts a missing definition, which reads as nil or as its
      // default.
      // So it does with edits that there is nothing to do for.
      guard try AnnalsError.schema(state.schema, adding: Schema(), edits: edits, in: state).isEmpty
      else { throw .readOnlyStore(writer.log.path) }
      return
    }
    try AnnalsError.narrowing {
      _ = try commitTransaction(TransactionOrigin(context: "schema")) {
        try $0.require(schema, edits: edits)
      }
    }
  }
}

extension WriteTransaction {
  /// Adds to the schema what it lacks of `schema`, in this transaction; first applies the given
  /// renames and removals.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ schema: Schema, edits: [SchemaEdit] = []) throws(AnnalsError) {
    checkOpen()
    let change = try AnnalsError.schema(
      self.schema, adding: schema, edits: edits, in: reader.state)
    guard !change.isEmpty else { return }
    for backfill in change.backfills { try fill(backfill) }
    // New uniqueness rules are checked with all others at the end of the transaction.
    define(change.changed)
  }

  /// Replaces the definitions with the same numbers by these complete ones.
  package func define(_ entities: [Entity]) {
    reader.state.changeSchema(entities)
    changedEntities.formUnion(entities.lazy.map(\.number))
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
    _ schema: Schema, adding required: Schema, edits: [SchemaEdit], in state: State
  ) throws(AnnalsError) -> SchemaChange {
    do throws(SchemaError) {
      return try schema.adding(required, edits: edits) { state.count(of: $0) }
    } catch {
      throw .invalidSchema(error)
    }
  }
}
