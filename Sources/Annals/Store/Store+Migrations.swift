import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

// What opening a store does about migrations.

extension Store {
  /// Makes the migrations that the store lacks, and requires the schema, after these edits.
  ///
  /// A store that is open for reading makes none. It takes a schema that contradicts the program's
  /// if the store has migrations which the program does not know: what they did not change can be
  /// read.
  func adopt(
    _ schema: Schema, _ edits: [SchemaEdit], _ migrations: [Migration]
  ) throws(AnnalsError) {
    let steps = migrations.steps
    let pending = steps.pending(besides: version.migrations)
    if !pending.isEmpty, !options.isReadOnly {
      let isMade = try AnnalsError.translating {
        do {
          return try writer.migrate(steps, to: schema, edits)
        } catch let error as AnnalsError {
          throw telling(error, of: schema)
        }
      }
      if isMade { return version.records.bindings.declarations.note(schema, hasEffect: true) }
    }
    do throws(AnnalsError) {
      try change(schema: schema, edits: edits)
    } catch {
      guard options.isReadOnly, error.code == .invalidSchema else { throw error }
      guard pending.isEmpty else { throw error.naming(pending: pending.map(\.name)) }
      if version.migrations.unknown(to: declaredMigrations).isEmpty { throw error }
    }
  }

  /// The error of a schema that contradicts the store's, with what the store has in place of names
  /// that it lacks, and with the migrations that have changed it and the program does not know.
  func telling(_ error: AnnalsError, of schema: Schema) -> AnnalsError {
    let version = version
    let history = version.view.schemaHistory
    return error.tellingOfFormerNames(version.records.schema, schema, history)
      .telling(
        of: version.migrations.unknown(to: declaredMigrations), version.records.schema, history)
  }
}

extension StoreFinding {
  /// What an opening says about migrations: those of the store that the program does not know, and
  /// those of the program that a store opened for reading lacks.
  static func list(
    _ made: [MigrationRecord], declared: [String]?, isReadOnly: Bool
  ) -> [StoreFinding] {
    var result: [StoreFinding] = []
    let unknown = made.unknown(to: declared)
    if !unknown.isEmpty {
      result.append(
        StoreFinding(
          severity: .note,
          message: "the store has made migrations that this program does not know: "
            + "\(unknown.texts). A newer version of the program has; this one may lack what they "
            + "changed"))
    }
    let pending = (declared ?? []).filter { made.named($0) == nil }
    if isReadOnly, !pending.isEmpty {
      result.append(
        StoreFinding(
          severity: .note,
          message: "migrations have not been made: \(pending.quoted). Open the store for writing "
            + "once"))
    }
    return result
  }
}

extension [String] {
  /// The names in quotation marks, separated by commas.
  fileprivate var quoted: String { map { "\"\($0)\"" }.joined(separator: ", ") }
}

extension [MigrationRecord] {
  /// The names with their transactions: `"dates" (transaction 412)`.
  fileprivate var texts: String {
    map { "\"\($0.name)\" (transaction \($0.number))" }.joined(separator: ", ")
  }
}

extension AnnalsError {
  /// The error of a schema for a store that is open for reading and lacks migrations.
  fileprivate func naming(pending names: [String]) -> AnnalsError {
    var error = self
    error.message +=
      "\nMigrations have not been made: \(names.quoted). Open the store for writing once"
    return error
  }

  /// The error of a schema, with the migrations unknown to the program that have changed what
  /// contradicts it.
  fileprivate func telling(
    of unknown: [MigrationRecord], _ schema: Schema, _ history: [SchemaHistoryEntry]
  ) -> AnnalsError {
    guard code == .invalidSchema, !unknown.isEmpty, !schemaConflicts.isEmpty else { return self }
    var conflicts = schemaConflicts
    var isTold = false
    for (index, conflict) in conflicts.enumerated() {
      guard let name = conflict.property, let entity = schema.entity(named: conflict.entity),
        let migration = history.lastChange(of: name, in: entity).flatMap({ number in
          unknown.first { $0.number == number }
        })
      else { continue }
      isTold = true
      conflicts[index].reason +=
        ". The migration \([migration].texts) changed it, and this program does not know that one"
    }
    if !isTold {
      conflicts[0].reason +=
        ". The store has made migrations that this program does not know: \(unknown.texts)"
    }
    return .invalidSchema(conflicts)
  }
}
