import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Caches how a store's record types bind to its schema, one binding per type and schema version.
///
/// The engine keeps these with its versions and does not look inside.
package final class RecordBindings: Sendable {
  private struct Entry: Sendable {
    let type: ObjectIdentifier
    var schemaVersion: Int64
    var binding: any Sendable & AnyObject
  }

  /// What the program has declared of the schema in this opening.
  package let declarations = SchemaDeclarations()
  /// What the program has declared of derived attributes.
  package let functions: DerivedFunctions
  /// One for each type; programs have few. No dictionary: the first use of one of a type searches
  /// all conformances of the process.
  private let entries = Locked<ContiguousArray<Entry>>([])

  /// No bindings yet.
  package init(_ functions: DerivedFunctions) {
    self.functions = functions
  }

  /// The binding of the record type to this version of the schema; nil if none is cached.
  package func binding(
    for type: ObjectIdentifier, version: Int64
  ) -> (any Sendable & AnyObject)? {
    entries.withLock { entries in
      for index in entries.indices where entries[index].type == type {
        return entries[index].schemaVersion == version ? entries[index].binding : nil
      }
      return nil
    }
  }

  /// Caches the binding of a record type to this version of the schema, in place of an older one.
  package func keep(
    _ binding: any Sendable & AnyObject, for type: ObjectIdentifier, version: Int64
  ) {
    let entry = Entry(type: type, schemaVersion: version, binding: binding)
    entries.withLock { entries in
      if let index = entries.firstIndex(where: { $0.type == type }) {
        entries[index] = entry
      } else {
        entries.append(entry)
      }
    }
  }
}

/// The bindings of a store's record types to one version of the schema.
///
/// A class, since every transaction refers to it.
package final class BoundRecords: Sendable {
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
