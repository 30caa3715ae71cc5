import Annals
import AnnalsModel
import AnnalsStorage
import Foundation

/// Reads transactions as JSON Lines (see `HistoryJSON`) into a store, one line at a time.
///
/// Entities and attributes are inferred as they appear: attributes are optional and have the type
/// of their first value; a value of another kind widens the attribute to `any`. Each new entity
/// gets the attribute `id`, required and unique. A schema change is part of the transaction that
/// needs it.
///
/// A line is not held in memory: its changes go into the transaction as they are read. A line that
/// fails leaves no trace; the transactions before it stay.
package final class HistoryImport {
  /// Why the import stopped.
  package struct Failure: Error {
    /// The line, from 1.
    package var line: Int
    /// The byte of the line behind which reading stopped, from 1; nil if the line as a whole is
    /// refused.
    package var column: Int?
    package var reason: String
    /// The error of the store, if the store refuses the line; otherwise nil.
    package var refusal: AnnalsError?
  }

  /// Whether the schema is fixed: lines that do not fit it fail instead of changing it.
  package var keepsSchema = false
  /// What lines may add to the schema of a store that had entities before the import; nil for
  /// anything.
  package var growth: SchemaGrowth?
  /// The schema of the store before the import; empty for a new one.
  package private(set) var schemaBefore = Schema()
  /// The latest timestamp of a line; nil if none has any.
  package private(set) var latest: Timestamp?

  /// The store; nil until the first line is read, which may hold its base.
  package private(set) var store: Store?
  /// Called with the store once it is open.
  package var onOpening: (Store) -> Void = { _ in }
  /// The number of transactions imported.
  package private(set) var count: Int64 = 0
  /// The line of the last of them; 0 before the first.
  package private(set) var lastLine = 0
  /// What the import did that its caller may not expect, a sentence each: what was added to the
  /// schema of a store that had one, and what became something else than it looks like.
  package var notes: [String] {
    var notes: [String] = []
    if hadEntities, let store { notes = store.schema.growth(since: schemaBefore) }
    notes += imported.kept
    notes += numbers.notes
    let (count, first) = reader.untaggedObjects
    if count > 0 {
      notes.append(
        "\(count == 1 ? "1 object" : "\(count) objects") with a single name that begins with $, "
          + "such as \(first), became JSON text: values are written "
          + "{\"$date\":\"2019-10-22T18:15:04Z\"}, and so are $uuid, $url, $data and $json")
    }
    return notes
  }

  /// The errors that the line causes, rather than the store.
  private static let codesOfLines: Set<AnnalsError.Code> = [
    .invalidChange, .invalidSchema, .invalidArgument, .noSuchObject, .tooLarge, .conflict,
  ]

  private let reader: JSONReader
  /// Opens or creates the store.
  private let open: () throws -> Store
  /// Where to create the store; nil if it is open already.
  private let destination: (location: StoreLocation, environment: StoreEnvironment)?
  /// Whether the store has only the transactions of the lines.
  private var isNew = false
  /// The schema of the store that the lines come from.
  private var imported = ImportedSchema()
  /// The numbers of the lines, and those of the store.
  private var numbers = ImportedNumbers()
  /// A schema of which the first transaction adds what is missing.
  private var required: Schema?
  /// The plans of the last line, and the version of the schema that they are valid for.
  private var known: (plans: EntityPlans, schemaVersion: Int64)?
  /// Whether the store had entities before the import.
  private var hadEntities = false
  /// Whether the schema is one that was given.
  private var isSchemaGiven = false

  /// An import of `source` into the store at `location`, which is created if there is none.
  package init(
    _ source: any ByteSource, into location: StoreLocation, options: StoreOptions,
    environment: StoreEnvironment
  ) {
    reader = JSONReader(source, framing: .lines)
    destination = (location, environment)
    open = { try Store(location, creates: true, options: options, environment: environment) }
  }

  /// An import of `source` into an open store, which stays open.
  package init(_ source: any ByteSource, into store: Store) {
    reader = JSONReader(source, framing: .lines)
    destination = nil
    open = { store }
  }

  /// Fixes the schema. The first transaction adds what is missing of it.
  package func require(_ schema: Schema) {
    required = schema
    keepsSchema = true
    isSchemaGiven = true
  }

  /// Imports one line; returns false after the last.
  ///
  /// - Throws: `Failure` for a line that cannot be imported, `AnnalsError` for a store that cannot
  ///   be written. If the first line fails, a store created for the import is removed.
  package func next() throws -> Bool {
    do {
      return try readLine()
    } catch {
      if count == 0, destination != nil { store?.discardIfUnused() }
      throw error
    }
  }

  private func readLine() throws -> Bool {
    do {
      guard try reader.beginDocument() else {
        try commitPendingSchema()
        return false
      }
      try line()
      try reader.endDocument()
      return true
    } catch let fault as InputFault {
      throw Failure(
        line: reader.line, column: fault.column > 0 ? fault.column : nil, reason: fault.reason)
    } catch let error as AnnalsError where HistoryImport.codesOfLines.contains(error.code) {
      throw Failure(
        line: reader.line, reason: try takenKey(error) ?? error.message, refusal: error)
    }
  }

  /// The reason for a line that inserts an object with the key of another one; nil for other
  /// errors.
  private func takenKey(_ error: AnnalsError) throws(AnnalsError) -> String? {
    guard let store, let violation = error.violations.first, error.violations.count == 1,
      case .unique = violation.rule, let object = violation.object, let key = violation.key,
      let entity = store.schema.entity(named: violation.entity),
      entity.keyAttribute?.name.hasSameBytes(as: violation.property) == true
    else { return nil }
    let id = ObjectID(store: store.token.store, entity: object.entity, row: object.row)
    guard try store.snapshot().reader.object(id) == nil else { return nil }
    return "there is \(violation.entity)/\(key) already; \"op\":\"update\" changes it"
  }

  private func line() throws {
    guard try reader.next() == .beginObject else { throw reader.fault("the line is not an object") }
    let token = try reader.next()
    guard token == .key else { throw reader.fault("the line has no `changes`") }
    switch String(decoding: reader.text, as: UTF8.self) {
    case "schema":
      try readSchema()
    case "schemaChange":
      let changes = try SchemaJSON.readChanges(reader, reader.next())
      guard try reader.next() == .endObject else {
        throw reader.fault("a line with a change of the schema has nothing else")
      }
      if let reason = imported.add(changes) { throw reader.fault(reason) }
    case "base":
      try readBase()
    default:
      try readTransaction()
    }
  }

  /// Reads the rest of `{"schema":…,"store":"UUID"}`.
  private func readSchema() throws {
    let schema = try SchemaJSON.read(reader, reader.next())
    var origin: RawUUID?
    while try reader.next() == .key {
      guard reader.text.elementsEqual("store".utf8), origin == nil,
        let store = RawUUID(try reader.text(reader.next(), of: "store"))
      else { throw reader.fault("a line with a schema has only `store`, a UUID, besides it") }
      origin = store
    }
    imported.set(schema, of: origin)
  }

  /// Reads a transaction whose first member's name has been read.
  private func readTransaction() throws {
    var origin = TransactionOrigin()
    origin.isAlwaysRecorded = true
    let store = try opened()
    let number = isNew ? store.base.number + count + 1 : nil
    var after: (plans: EntityPlans, schemaVersion: Int64?)?
    var exported: Int64?
    let token = try store.commitTransaction(origin) { transaction in
      let (changes, removals) = try begin(transaction)
      var members = TransactionMembers()
      repeat {
        if try members.read(reader) { try changes.read(reader) }
      } while try reader.next() == .key
      // Text behind the object on the line must fail before the commit.
      try reader.endDocument()
      try members.apply(to: transaction, reader, numbered: number, &numbers)
      exported = members.number
      transaction.draft.define(removals)
      if let timestamp = transaction.draft.origin.timestamp {
        latest = max(latest ?? timestamp, timestamp)
      }
      let isChanged = !transaction.draft.changedEntities.isEmpty
      after = (changes.plans, isChanged ? nil : transaction.draft.records.schemaVersion)
    }
    if let exported { numbers.add(exported, as: token.number) }
    count += 1
    lastLine = reader.line
    // The plans are valid for this transaction's schema; another writer may have changed it since.
    known = after.map { ($0.plans, $0.schemaVersion ?? token.number) }
  }

  /// Prepares a transaction: its schema, and what reads the line's changes. Also returns the
  /// removals for its end.
  private func begin(
    _ transaction: WriteTransaction
  ) throws -> (ChangeReading, removals: [Entity]) {
    let isUnchanged = !imported.isPending && required == nil
    let removals = try adoptSchema(in: transaction)
    let reading = ChangeReading(transaction, keepsSchema: keepsSchema)
    if hadEntities { reading.growth = growth }
    if !isSchemaGiven {
      reading.fixedSchema = "the store's schema"
      reading.growthOption = "infersSchema: true adds it"
    }
    if let known, isUnchanged, known.schemaVersion == transaction.draft.records.schemaVersion {
      reading.plans = known.plans
    } else {
      reading.plans = EntityPlans(exported: imported.exported)
    }
    return (reading, removals)
  }

  /// Brings the schema up to what the lines and the caller need; returns the removals for the end
  /// of the transaction.
  private func adoptSchema(
    in transaction: WriteTransaction
  ) throws(AnnalsError) -> [Entity] {
    if let required { try transaction.require(required) }
    required = nil
    return try imported.apply(to: transaction, isNew: !hadEntities)
  }

  /// Commits a schema that no transaction followed as a transaction of its own.
  private func commitPendingSchema() throws {
    let store = try opened()
    guard imported.isPending || required != nil else { return }
    _ = try store.commitTransaction(TransactionOrigin()) {
      $0.draft.define(try adoptSchema(in: $0))
    }
  }

  private func opened() throws -> Store {
    if let store { return store }
    if let location = destination?.location {
      isNew = try location.fileSystem.identity(of: location.path) == nil || isNew
    }
    let opened = try open()
    store = opened
    if !isNew {
      schemaBefore = opened.schema
      hadEntities = !schemaBefore.liveEntities.isEmpty
    }
    onOpening(opened)
    return opened
  }

  /// Reads a base: `{"base":N,"timestamp":…,"schema":…,"changes":[…]}`, in this order; before
  /// `changes` there may be `migrations`.
  private func readBase() throws {
    guard store == nil, let (location, environment) = destination,
      try location.fileSystem.identity(of: location.path) == nil
    else {
      throw reader.fault("a base is the first line of an export, and goes into a new file")
    }
    let base = try reader.whole(reader.next(), of: "base")
    guard base > 0 else { throw reader.fault("`base` is not a number from 1") }
    try expectMember("timestamp")
    guard let timestamp = Timestamp(try reader.text(reader.next(), of: "timestamp")) else {
      throw reader.fault("`timestamp` is not a date")
    }
    guard Timestamp.transactionRange.contains(timestamp) else {
      throw reader.fault("the base is dated \(timestamp); \(Timestamp.transactionRangeText)")
    }
    try expectMember("schema")
    let schema = try SchemaJSON.read(reader, reader.next())
    let migrations = try readMigrationsAndChangesKey()
    try Store.create(location, base: base, timestamp: timestamp, environment: environment) {
      try $0.draft.origin.note(migrations: migrations)
      imported.set(schema, of: nil)
      $0.draft.define(try imported.apply(to: $0, isNew: true))
      let changes = ChangeReading($0, keepsSchema: true)
      changes.plans = EntityPlans(exported: imported.exported)
      changes.fillsDefaults = false
      $0.draft.origin.keepsGivenValues = true
      try changes.read(reader)
      guard try reader.next() == .endObject else {
        throw reader.fault("nothing may follow the changes of a base")
      }
      try reader.endDocument()
    }
    isNew = true
    _ = try opened()
  }

  /// Reads `migrations`, if it follows, and the name of the member `changes`.
  private func readMigrationsAndChangesKey() throws(InputFault) -> [String] {
    guard try reader.next() == .key else { throw reader.fault("`changes` should follow here") }
    if reader.text.elementsEqual("changes".utf8) { return [] }
    guard reader.text.elementsEqual("migrations".utf8) else {
      throw reader.fault("`changes` should follow here")
    }
    var names: [String] = []
    try reader.elements(reader.next(), of: "migrations") { item throws(InputFault) in
      names.append(try reader.text(item, of: "migrations"))
    }
    try expectMember("changes")
    return names
  }

  private func expectMember(_ name: String) throws(InputFault) {
    guard try reader.next() == .key, reader.text.elementsEqual(name.utf8) else {
      throw reader.fault("`\(name)` should follow here")
    }
  }
}
