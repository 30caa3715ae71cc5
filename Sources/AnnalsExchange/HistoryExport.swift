import Annals
import AnnalsModel
import AnnalsState

/// Writes a store's history as JSON Lines from which `HistoryImport` rebuilds the same state, types
/// included, at every transaction.
///
/// A line with the schema and the store's UUID comes first, and one with what changes before each
/// transaction that changes the schema. The lines of a pruned store begin with its base, the state
/// before its oldest transaction.
package struct HistoryExport {
  private let store: Store
  private let after: Int64
  private let through: Int64
  private var json = JSONWriter()
  /// The row after the last one of each entity, as a reader of the lines counts them.
  private var nextRows: [EntityNumber: Int64] = [:]

  /// An export of the transactions after one number, up to and including another.
  package init(_ store: Store, after: Int64, through: Int64) {
    self.store = store
    self.after = after
    self.through = through
  }

  /// Passes the lines to `write`, about 64 KiB at a time, which need not be whole lines, and each
  /// transaction's number to `progress`. Throws what the closures throw.
  package mutating func write(
    to write: (ContiguousArray<UInt8>) throws -> Void, progress: (Int64) throws -> Void = { _ in }
  ) throws {
    let version = store.version
    var moving = try StateCursor(version: version, at: after, movingTo: through)
    for entity in moving.state.schema.entities {
      nextRows[entity.number] = after == 0 ? 1 : moving.state.nextRow(of: entity.number)
    }
    if after == version.base.number, after > 0 {
      try writeBase(moving.state, version, write)
    } else {
      json.beginObject()
      json.key("schema")
      json.verbatim(SchemaJSON.line(moving.state.schema))
      json.member("store", "\(store.token.store)")
      json.endObjectLine()
    }
    let history = History(version: version, after: after, through: through, condition: .always)
    var cursor = try PartCursor(history)
    while let part = try cursor.next() {
      if part.record.part == 0 {
        if !part.record.schemaChange.isEmpty {
          let schema = history.glossary.schema(asOf: part.record.number)
          json.beginObject()
          json.key("schemaChange")
          json.verbatim(SchemaJSON.line(part.record.schemaChange, in: schema))
          json.endObjectLine()
        }
        if let lost = part.record.lost { try fill(lost, write) }
        json.beginTransaction(part.transaction)
        json.beginArray("changes")
      }
      let schema = part.transaction.schema
      for change in part.transaction.changes where !change.isOfReplaced(in: schema) {
        try append(change, to: write) { () throws(AnnalsError) in
          try moving.move(to: part.record.number)
          return moving.reader
        }
        if json.bytes.count >= 1 << 16 { try flush(write) }
      }
      guard !part.record.isContinued else { continue }
      json.endArray()
      json.endObjectLine()
      try moving.move(to: part.record.number)
      try progress(part.record.number)
      if json.bytes.count >= 1 << 16 { try flush(write) }
    }
    try flush(write)
  }

  /// Writes a line without changes for each number in a gap except the last, so that later
  /// transactions keep their numbers in an import.
  private mutating func fill(
    _ lost: LostTransactions, _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    for number in lost.first..<lost.last {
      json.beginObject()
      json.member("n", number)
      json.member("timestamp", lost.after.description)
      json.member(lost: lost)
      json.beginArray("changes")
      json.endArray()
      json.endObjectLine()
      if json.bytes.count >= 1 << 16 { try flush(write) }
    }
  }

  private mutating func append(
    _ change: Change, to write: (ContiguousArray<UInt8>) throws -> Void,
    _ state: () throws(AnnalsError) -> StateReader
  ) throws {
    var explicitRow = false
    if change.kind == .insert {
      let entry = change.entry
      let next = nextRows[entry.entity] ?? 1
      explicitRow = entry.row != next
      nextRows[entry.entity] = max(next, entry.row + 1)
    }
    try json.change(
      change, explicitRow: explicitRow, includesBefore: false, state,
      flush: { try HistoryExport.flush(&$0, write) })
  }

  /// Writes `{"base":N,"timestamp":…,"schema":…,"changes":[…]}`: every object as an insert. Before
  /// `changes` come the names of the `migrations` made up to there, if there are any.
  private mutating func writeBase(
    _ state: State, _ version: StoreVersion, _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    json.beginObject()
    json.member("base", version.base.number)
    json.member("timestamp", version.base.timestamp.description)
    json.key("schema")
    json.verbatim(SchemaJSON.line(state.schema))
    let migrations = version.migrations.filter { $0.number <= version.base.number }
    if !migrations.isEmpty {
      json.beginArray("migrations")
      for migration in migrations { json.string(migration.name) }
      json.endArray()
    }
    json.beginArray("changes")
    let reader = version.reader(of: state)
    for entity in state.schema.entities where !entity.isRemoved {
      guard let table = state.table(entity.number) else { continue }
      var passing = PassingTable(table)
      // A reader counts rows from 1, so the first object after unused rows states its row.
      var next: Int64 = 1
      try reader.forEachRow(of: entity.number) { row in
        let part = passing.part(of: row)
        try append(row, of: entity, explicitRow: row != next, part, reader, to: write)
        next = row + 1
        if json.bytes.count >= 1 << 16 { try flush(write) }
      }
      nextRows[entity.number] = next
    }
    json.endArray()
    json.endObjectLine()
  }

  private mutating func append(
    _ row: Int64, of entity: Entity, explicitRow: Bool, _ table: TableView, _ reader: StateReader,
    to write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    let object = ObjectReference(entity: entity.number, row: row)
    let name = try reader.name(of: object)
    json.beginChange(.insert, of: entity, name, explicitRow: explicitRow)
    json.beginObject("set")
    for attribute in entity.attributes where !attribute.isRemoved {
      guard attribute.number != entity.keyAttribute?.number || name.key.isNull else { continue }
      let value = try value(attribute.number, row, table)
      guard !value.isNull else { continue }
      json.key(attribute.name)
      try json.value(value, as: attribute.type, from: reader.largeValues) {
        try HistoryExport.flush(&$0, write)
      }
    }
    for relationship in entity.relationships where !relationship.isRemoved {
      let value = try value(relationship.number, row, table)
      guard !value.isNull else { continue }
      json.key(relationship.name)
      try json.references(value, in: reader)
    }
    json.endObject()
    json.endObject()
  }

  private func value(
    _ property: PropertyNumber, _ row: Int64, _ table: TableView
  ) throws(AnnalsError) -> Value {
    guard let column = table.column(of: property) else { return .null }
    return try AnnalsError.translating { try table.value(row, column: column) }
  }

  private mutating func flush(_ write: (ContiguousArray<UInt8>) throws -> Void) throws {
    try HistoryExport.flush(&json, write)
  }

  private static func flush(
    _ json: inout JSONWriter, _ write: (ContiguousArray<UInt8>) throws -> Void
  ) throws {
    if json.bytes.isEmpty { return }
    try write(json.bytes)
    json.removeBytes()
  }
}

extension Change {
  /// Whether the object was deleted with its entity, whose name another entity has now: a line
  /// could not tell the two apart, and the removal of the entity says it already.
  fileprivate func isOfReplaced(in schema: Schema) -> Bool {
    guard kind == .delete else { return false }
    let entity = entity
    return entity.isRemoved && schema.entity(named: entity.name) != nil
  }
}
