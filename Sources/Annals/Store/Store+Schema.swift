import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Store {
  /// Adds to the store's schema what is missing of `schema`, as a transaction of its own; does
  /// nothing if nothing is.
  ///
  /// Adds and widens only: what the store has beyond it stays. Throws `.invalidSchema` with every
  /// reason if the two cannot go together; then nothing has changed.
  public func require(_ schema: Schema) throws(AnnalsError) {
    try change(schema: schema, edits: [])
  }

  /// Renames or removes entities and properties, in this order. What is done already is left alone,
  /// and so is what the store never had.
  ///
  /// The past keeps what is removed, under its old name, until history before the removal is
  /// pruned. Throws `.invalidSchema` if a new name is taken or cannot be one, or if a relationship
  /// still leads to an entity that is to go.
  public func edit(_ edits: SchemaEdit...) throws(AnnalsError) {
    try change(schema: Schema(), edits: edits)
  }

  func change(schema: Schema, edits: [SchemaEdit]) throws(AnnalsError) {
    let state = version.state
    let change: SchemaChange
    do throws(AnnalsError) {
      change = try AnnalsError.schema(state.schema, adding: schema, edits: edits, in: state)
    } catch {
      throw tellingOfFormerNames(error)
    }
    guard !change.isEmpty else { return }
    guard !options.isReadOnly else {
      // A reader makes do with what there is: what is missing reads as nil or as its default.
      guard edits.isEmpty else { throw .readOnlyStore(writer.log.path) }
      return
    }
    try AnnalsError.narrowing {
      _ = try commitTransaction(TransactionOrigin(context: "schema")) {
        try $0.require(schema, edits: edits)
      }
    }
  }
}

extension Store {
  /// The error with the names that attributes have now which a program demands by an older one.
  private func tellingOfFormerNames(_ error: AnnalsError) -> AnnalsError {
    var conflicts = error.schemaConflicts
    for (index, conflict) in conflicts.enumerated() where conflict.kind == .missingDefault {
      guard let name = conflict.property, let entity = schema.entity(named: conflict.entity),
        let now = formerly(name, in: entity)
      else { continue }
      conflicts[index].reason =
        now.isRemoved
        ? "the attribute was removed; \(conflict.reason)"
        : "the attribute is named \(now.name) now; use that name. By this one, \(conflict.reason)"
    }
    return conflicts == error.schemaConflicts ? error : .invalidSchema(conflicts)
  }

  /// The attribute that last had this name and has it no more, as it is now.
  private func formerly(_ name: String, in entity: Entity) -> Attribute? {
    for dated in version.glossary().schemas.reversed() {
      let then = dated.schema.entity(numbered: entity.number)?.attributes
      guard let old = then?.first(where: { $0.name.hasSameBytes(as: name) && !$0.isRemoved }) else {
        continue
      }
      return entity.attributes.first { $0.number == old.number }
    }
    return nil
  }
}

extension WriteTransaction {
  /// Adds to the schema what is missing of `schema`, in this transaction; after renames and
  /// removals, if any.
  ///
  /// Throws `.invalidSchema` with every reason; then nothing has changed.
  public func require(_ schema: Schema, edits: [SchemaEdit] = []) throws(AnnalsError) {
    checkOpen()
    let change = try AnnalsError.schema(
      self.schema, adding: schema, edits: edits, in: reader.state)
    guard !change.isEmpty else { return }
    for backfill in change.backfills { try fill(backfill) }
    // New rules of uniqueness are judged with all others at the end of the transaction.
    define(change.changed)
  }

  /// Puts these complete definitions in place of those with the same numbers.
  package func define(_ entities: [Entity]) {
    reader.state.changeSchema(entities)
    changedEntities.formUnion(entities.lazy.map(\.number))
  }

  /// Writes out a default that stored nulls stood for so far.
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
  /// What to change in a store's schema, or `.invalidSchema`.
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
