import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Caches how a store's record types bind to its schema, one binding per type and schema version.
///
/// The engine keeps these with its versions and does not look inside.
package final class RecordBindings: Sendable {
  private struct Entry: Sendable {
    var schemaVersion: Int64
    var binding: any Sendable & AnyObject
  }

  /// What the program has declared of the schema in this opening.
  package let declarations = SchemaDeclarations()
  /// What the program has declared of derived attributes.
  package let functions: DerivedFunctions
  private let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// No bindings yet.
  package init(_ functions: DerivedFunctions) {
    self.functions = functions
  }

  /// The binding of the record type to this version of the schema; nil if none is cached.
  package func binding(
    for type: ObjectIdentifier, version: Int64
  ) -> (any Sendable & AnyObject)? {
    let known = entries.withLock { $0[type] }
    guard let known, known.schemaVersion == version else { return nil }
    return known.binding
  }

  /// Caches the binding of a record type to this version of the schema, in place of an older one.
  package func keep(
    _ binding: any Sendable & AnyObject, for type: ObjectIdentifier, version: Int64
  ) {
    entries.withLock { $0[type] = Entry(schemaVersion: version, binding: binding) }
  }
}

/// The bindings of a store's record types to one version of the schema.
package struct BoundRecords: Sendable {
  package let bindings: RecordBindings
  /// The newest schema, whose names the record types use.
  package let schema: Schema
  /// The transaction that changed it last.
  package let schemaVersion: Int64
  /// The changes that led to it, for messages about former names.
  package let history: [SchemaHistoryEntry]
  /// The migrations that the store has made, for messages, too.
  package let migrations: [MigrationRecord]

  /// Creates the bindings to this schema.
  package init(
    bindings: RecordBindings, schema: Schema, schemaVersion: Int64,
    history: [SchemaHistoryEntry], migrations: [MigrationRecord]
  ) {
    self.bindings = bindings
    self.schema = schema
    self.schemaVersion = schemaVersion
    self.history = history
    self.migrations = migrations
  }
}
