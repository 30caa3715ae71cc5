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
// under one turn of the writer, so that two processes make each once. The first one's transaction
// begins with what can be added of the program's schema; the last one's ends with the whole of it.

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
        let part = MigrationPart(isFirst: place == 0, isLast: place == pending.count - 1)
        try writer.make(step, part, schema, edits)
      }
      return true
    }
    if isMade { checkpointIfDue() }
    return isMade
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
    _ step: MigrationStep, _ part: MigrationPart, _ schema: Schema, _ edits: [SchemaEdit]
  ) throws {
    do {
      var origin = TransactionOrigin(context: "migration")
      try origin.note(migrations: [step.name])
      _ = try append(origin) { try $0.make(step, part, schema, edits) }
    } catch {
      throw AnnalsError.migration(step.name, error)
    }
  }
}

/// Where a migration is among those that are pending.
package struct MigrationPart: Sendable {
  var isFirst: Bool
  var isLast: Bool
}

extension WriteTransaction {
  /// Does what a migration does, and what the first and the last one do besides.
  func make(
    _ step: MigrationStep, _ part: MigrationPart, _ schema: Schema, _ edits: [SchemaEdit]
  ) throws {
    declared = schema
    if part.isFirst {
      _ = try draft.require(
        schema, edits, timesDeclared: { _ in 0 }, tolerating: [.missingValues, .contradictions])
    }
    try step.body(self)
    if let failure = draft.failure { throw failure }
    guard part.isLast else { return }
    _ = try draft.require(
      schema, edits, timesDeclared: { _ in 0 }, tolerating: .missingValues)
    try draft.requireValues(of: schema)
  }
}
