import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// A migration of a program: its name, and what it does.
package struct MigrationStep: Sendable {
  package let name: String
  package let body: @Sendable (WriteTransaction) throws -> Void

  /// A migration of this name.
  package init(_ name: String, _ body: @escaping @Sendable (WriteTransaction) throws -> Void) {
    self.name = name
    self.body = body
  }
}

extension [MigrationStep] {
  /// Those that a store with these migrations has not made, in their order.
  package func pending(besides made: [MigrationRecord]) -> [MigrationStep] {
    filter { made.named($0.name) == nil }
  }
}

// Migrations are made when a program opens a store: each pending one in a transaction of its own,
// under one turn of the writer, so that two processes make each once. Each transaction begins with
// what can be added of the program's schema; the last one's ends with the whole of it.

extension StoreWriter {
  /// Makes the migrations that the newest state lacks, in their order, and requires the program's
  /// schema, after these edits. In a store without a schema all count as made. Returns false, and
  /// does nothing, if none is pending.
  ///
  /// Throws `.migrationFailed` with the name of the migration that could not be made; of that one
  /// no trace remains, and those before it stay. As a commit does otherwise.
  package func migrate(
    _ steps: [MigrationStep], to schema: Schema, _ edits: [SchemaEdit]
  ) throws -> Bool {
    let isMade = try write { writer in
      let version = writer.newest
      let pending = steps.pending(besides: version.migrations)
      guard !pending.isEmpty else { return false }
      if version.state.schema.entities.isEmpty {
        try writer.record(pending, in: schema, edits)
        return true
      }
      for (place, step) in pending.enumerated() {
        try writer.make(step, isLast: place == pending.count - 1, schema, edits)
      }
      return true
    }
    if isMade { checkpointIfDue() }
    return isMade
  }

  /// Proposes the first of the migrations that the newest state lacks, as `migrate` would make it;
  /// in a store without a schema, the transaction that names all. Nil if none is pending.
  package func proposeMigration(
    _ steps: [MigrationStep], to schema: Schema, _ edits: [SchemaEdit]
  ) throws -> ProposedTransaction? {
    let pending = steps.pending(besides: newest.migrations)
    guard let step = pending.first else { return nil }
    if newest.state.schema.entities.isEmpty {
      var origin = TransactionOrigin(context: "schema")
      try origin.note(migrations: pending.map(\.name))
      return try propose(origin) {
        _ = try $0.draft.require(schema, edits, timesDeclared: { _ in 0 })
      }
    }
    do {
      var origin = TransactionOrigin(context: "migration")
      try origin.note(migrations: [step.name])
      return try propose(origin) {
        try $0.make(step, isLast: pending.count == 1, schema, edits)
      }
    } catch {
      throw AnnalsError.migration(step.name, error)
    }
  }

  /// Makes the schema of a new store, in which no migration has anything to do.
  private func record(
    _ steps: [MigrationStep], in schema: Schema, _ edits: [SchemaEdit]
  ) throws {
    var origin = TransactionOrigin(context: "schema")
    try origin.note(migrations: steps.map(\.name))
    _ = try append(origin) {
      _ = try $0.draft.require(schema, edits, timesDeclared: { _ in 0 })
    }
  }

  private func make(
    _ step: MigrationStep, isLast: Bool, _ schema: Schema, _ edits: [SchemaEdit]
  ) throws {
    do {
      var origin = TransactionOrigin(context: "migration")
      try origin.note(migrations: [step.name])
      _ = try append(origin) {
        try $0.make(step, isLast: isLast, schema, edits)
      }
    } catch {
      throw AnnalsError.migration(step.name, error)
    }
  }
}

extension WriteTransaction {
  /// Does what a migration does: adds what can be added of the program's schema, runs the closure,
  /// and checks what is required anew. The last one requires all of it; the others leave to those
  /// after them what their objects do not meet.
  func make(
    _ step: MigrationStep, isLast: Bool, _ schema: Schema, _ edits: [SchemaEdit]
  ) throws {
    content.progress?.migration = step.name
    try content.progress?.tell(.migrating, of: nil)
    declared = schema
    try draft.begin(schema, edits)
    try step.body(self)
    if let failure = draft.failure { throw failure }
    guard isLast else { return try draft.withholdUnmet(schema) }
    _ = try draft.require(
      schema, edits, timesDeclared: { _ in 0 }, tolerating: .missingValues)
    let changed = draft.changedEntities.sorted().compactMap(draft.schema.entity(numbered:))
    try draft.followNewRules(of: changed, as: schema)
    try draft.requireValues(of: schema)
  }
}
