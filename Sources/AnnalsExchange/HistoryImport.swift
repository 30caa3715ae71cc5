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
  /// A schema for the next transaction to adopt: its exact definitions, or only what is missing.
  private var pendingSchema: (schema: Schema, isExact: Bool)?
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
    pendingSchema = (schema, false)
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
      pendingSchema = (try SchemaJSON.read(reader, reader.next()), true)
      guard try reader.next() == .endObject else {
        throw reader.fault("a line with a schema has nothing else")
      }
    case "base":
      try readBase()
    default:
      try readTransaction()
    }
  }

  /// Reads a transaction whose first member's name has been read.
  private func readTransaction() throws {
    var origin = TransactionOrigin()
    origin.isAlwaysRecorded = true
    let store = try opened()
    let number = isNew ? store.base.number + count + 1 : nil
    var after: (plans: EntityPlans, schemaVersion: Int64?)?
    let token = try store.commitTransaction(origin) { transaction in
      let changes = try begin(transaction)
      var members = TransactionMembers()
      repeat {
        if try members.read(reader) { try changes.read(reader) }
      } while try reader.next() == .key
      // Text behind the object on the line must fail before the commit.
      try reader.endDocument()
      try members.apply(to: transaction, reader, numbered: number)
      if let timestamp = transaction.origin.timestamp {
        latest = max(latest ?? timestamp, timestamp)
      }
      let isChanged = !transaction.changedEntities.isEmpty
      after = (changes.plans, isChanged ? nil : transaction.boundRecords.schemaVersion)
    }
    pendingSchema = nil
    count += 1
    // The plans are valid for this transaction's schema; another writer may have changed it since.
    known = after.map { ($0.plans, $0.schemaVersion ?? token.number) }
  }

  private func begin(_ transaction: WriteTransaction) throws -> ChangeReading {
    if let pendingSchema {
      try transaction.adopt(pendingSchema.schema, exactly: pendingSchema.isExact)
    }
    let reading = ChangeReading(transaction, keepsSchema: keepsSchema)
    if hadEntities { reading.growth = growth }
    if !isSchemaGiven {
      reading.fixedSchema = "the store's schema"
      reading.growthOption = "infersSchema: true adds it"
    }
    if let known, pendingSchema == nil,
      known.schemaVersion == transaction.boundRecords.schemaVersion
    {
      reading.plans = known.plans
    }
    return reading
  }

  /// Commits a schema that no transaction followed as a transaction of its own.
  private func commitPendingSchema() throws {
    let store = try opened()
    guard let pendingSchema else { return }
    _ = try store.commitTransaction(TransactionOrigin()) {
      try $0.adopt(pendingSchema.schema, exactly: pendingSchema.isExact)
    }
    self.pendingSchema = nil
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

  /// Reads a base: `{"base":N,"timestamp":…,"schema":…,"changes":[…]}`, in this order.
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
    try expectMember("schema")
    let schema = try SchemaJSON.read(reader, reader.next())
    try expectMember("changes")
    try Store.create(location, base: base, timestamp: timestamp, environment: environment) {
      try $0.adopt(schema, exactly: true)
      let changes = ChangeReading($0, keepsSchema: true)
      changes.fillsDefaults = false
      try changes.read(reader)
      guard try reader.next() == .endObject else {
        throw reader.fault("nothing may follow the changes of a base")
      }
      try reader.endDocument()
    }
    isNew = true
    _ = try opened()
  }

  private func expectMember(_ name: String) throws(InputFault) {
    guard try reader.next() == .key, reader.text.elementsEqual(name.utf8) else {
      throw reader.fault("`\(name)` should follow here")
    }
  }
}

extension WriteTransaction {
  /// Adopts a schema, either exactly, with its numbers, or only what is missing here.
  ///
  /// - Throws: `.invalidSchema` if an entity or property has another number here.
  package func adopt(_ schema: Schema, exactly: Bool) throws(AnnalsError) {
    guard exactly, schema.entities.allSatisfy({ $0.number > 0 }) else { return try require(schema) }
    var changed: [Entity] = []
    for var entity in schema.entities {
      for index in entity.relationships.indices { entity.relationships[index].destinationName = "" }
      for index in entity.indexes.indices {
        for place in entity.indexes[index].elements.indices {
          entity.indexes[index].elements[place].propertyName = ""
        }
        for place in entity.indexes[index].tests.indices {
          entity.indexes[index].tests[place].propertyName = ""
        }
      }
      if self.schema.entity(numbered: entity.number) != entity { changed.append(entity) }
    }
    if changed.isEmpty { return }
    // If a name has another number here, the schema is of another store: only its names matter.
    var result = self.schema
    result.apply(changed.map(EntityChange.init))
    let places = NameIndex(result.entities.lazy.map { $0.isRemoved ? "" : $0.name })
    for entity in self.schema.entities where !entity.isRemoved {
      guard let place = places[entity.name], result.entities[place].number != entity.number else {
        continue
      }
      return try require(schema.withoutNumbers)
    }
    let conflicts = result.conflicts(besides: self.schema)
    guard conflicts.isEmpty else { throw .invalidSchema(conflicts) }
    define(changed)
  }
}

extension Schema {
  /// The schema as a program states it: without numbers, and without what is removed.
  package var withoutNumbers: Schema {
    var result = Schema(entities: liveEntities)
    for index in result.entities.indices {
      let entity = result.entities[index]
      result.entities[index].number = 0
      result.entities[index].nextPropertyNumber = 1
      result.entities[index].attributes = entity.attributes.filter { !$0.isRemoved }.map {
        var attribute = $0
        attribute.number = 0
        return attribute
      }
      result.entities[index].relationships = entity.relationships.filter { !$0.isRemoved }.map {
        var relationship = $0
        relationship.destinationName =
          self.entity(numbered: $0.destination)?.name ?? $0.destinationName
        relationship.destination = 0
        relationship.number = 0
        return relationship
      }
      result.entities[index].indexes = entity.indexes.map {
        var index = $0
        index.number = 0
        index.elements = $0.elements.map {
          var element = $0
          element.propertyName = entity.propertyName($0.property) ?? $0.propertyName
          element.property = 0
          return element
        }
        return index
      }
    }
    return result
  }
}
