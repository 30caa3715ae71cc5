import Annals
import AnnalsEngine
import AnnalsModel

extension Replica {
  /// Adds to the schema what it lacks of these record types, for all replicas. Does nothing if it
  /// lacks nothing. Throws as `Store.require`, and as `write`.
  public func require(_ records: any Record.Type...) async throws {
    try await adopt(ReplicaSchema(records: records))
  }

  /// Adds to the schema what it lacks of this one, for all replicas. As the other form.
  public func require(_ schema: Schema) async throws {
    try await adopt(ReplicaSchema(schema))
  }

  /// Makes the migrations that the store lacks, one transaction each, and requires the schema.
  func adopt(_ needed: ReplicaSchema) async throws {
    Schema.declare(needed.records, in: store.version.records.bindings.functions)
    let steps = needed.migrations.steps
    while !steps.pending(besides: store.version.migrations).isEmpty {
      let made = try await submit { writer in
        let proposed = try writer.proposeMigration(steps, to: needed.schema, needed.edits)
        return (proposed != nil, proposed)
      }
      if !made.value { break }
    }
    _ = try await submit { writer in
      let proposed = try writer.propose(TransactionOrigin(context: "schema")) {
        _ = try $0.draft.require(needed.schema, needed.edits, timesDeclared: { _ in 0 })
      }
      return ((), proposed)
    }
  }
}

/// What a program needs of the schema.
struct ReplicaSchema: Sendable {
  var schema: Schema
  var edits: [SchemaEdit] = []
  var records: [any Record.Type] = []
  var migrations: [Migration] = []

  init(_ schema: Schema, _ migrations: [Migration] = []) {
    self.schema = schema
    self.migrations = migrations
  }

  init(records: [any Record.Type], _ migrations: [Migration] = []) {
    schema = Schema(records: records)
    edits = Schema.edits(of: records)
    self.records = records
    self.migrations = migrations
  }
}
