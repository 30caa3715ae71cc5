import Annals
import AnnalsExchange
import AnnalsInspection
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation

/// A small store's file of each sort that there is, made by the engine itself.
enum SampleFile: String, CaseIterable, Sendable {
  /// Written to and not closed: a live tail, and zeros allocated ahead.
  case open
  /// Closed, with checkpoints, chunks and indexes in the middle of the log.
  case closed
  /// History in sealed blocks, the newest checkpoint behind it.
  case compacted
  /// Sealed blocks and nothing else.
  case smallest
  /// A base that is a state.
  case pruned
  /// A base, and a live tail behind it that was not closed.
  case prunedOpen
  /// Consumers, a retention, and tombstones for one that was passed.
  case passed

  static let path = "/sample.annals"

  /// What every sort has: entities, an index, lists of relationships.
  static let schema = Schema {
    Entity("Note", displayName: "text") {
      Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
      Attribute("text", .string)
      Attribute("count", .int64)
      Attribute("rank", .double, isOptional: false, default: 1.5)
      Relationship("folder", to: "Folder")
      IndexDescription("both", box: ["count", "rank"])
    }
    Entity("Folder") {
      Attribute("name", .string, isUnique: true)
      Relationship("notes", to: "Note", isToMany: true, isOrdered: true)
    }
  }

  /// The file's bytes. The same with each call.
  func make() throws -> ContiguousArray<UInt8> {
    let location = try sampleFile()
    let store = try open(location, seed: 1)
    try SampleFile.write(to: store)
    switch self {
    case .open: break
    case .closed: try store.close()
    case .compacted:
      try store.checkpoint()
      try store.compact()
    case .smallest: try store.compact(smallest: true)
    case .pruned: try store.prune(store.prunePlan(before: 6), author: "ann")
    case .prunedOpen:
      try store.prune(store.prunePlan(before: 8))
      try store.write(author: "late") { tx in
        let old = try tx.objects(of: "Note")[0].id
        try tx.update(old, ["count": 99])
      }
    case .passed:
      let away = try store.consumer("away", blocking: true, startingAfter: Int64(2))
      try store.setRetention(Retention(days: 30))
      let near = try store.consumer("near", kind: "copy", lease: .days(3))
      try store.prune(store.prunePlan(before: 8), author: "ann", force: true)
      try store.checkpoint()
      try near.advance(to: store.token(at: 9))
      try away.advance(to: Token(store: store.token.store, number: 3, opening: 0))
      _ = try store.consumer("last")
    }
    if self != .open, self != .prunedOpen { try store.close() }
    return try location.contents()
  }

  private func open(_ location: StoreLocation, seed: UInt64) throws -> Store {
    try Store(
      location, schema: SampleFile.schema,
      environment: .fixed(seed: seed, processName: "sample", processID: Int64(seed)))
  }

  /// Eleven transactions: inserts, updates, deletes, two large values, edits of a list, a change of
  /// the schema, two checkpoints. The first is the schema's.
  private static func write(to store: Store) throws {
    var notes: [ObjectID] = []
    try store.write(author: "ann", context: "setup") { tx in
      for index in 1...3 {
        notes.append(
          try tx.insert("Note", ["id": .string("n\(index)"), "text": .string("Note \(index)")]))
      }
    }
    var folder: ObjectID?
    try store.write(author: "ben", metadata: ["why": "sorting"]) { tx in
      folder = try tx.insert(
        "Folder", ["name": "Work", "notes": .objects(notes.map { ObjectReference($0) })])
      try tx.update(notes[0], ["count": 7])
    }
    guard let folder else { return }
    try store.write(author: "ann") { tx in
      try tx.update(notes[1], ["text": .string(String(repeating: "long ", count: 1000))])
    }
    try store.checkpoint()
    try store.write { tx in
      try tx.update(folder, ["notes": .objects([2, 0].map { ObjectReference(notes[$0]) })])
    }
    try store.write(author: "ben", context: "clean-up") { tx in try tx.delete(notes[0]) }
    try store.require(Schema { Entity("Note") { Attribute("stars", .int32) } })
    try store.write { tx in try tx.update(notes[2], ["stars": 5, "count": 1]) }
    store.register(ChangeCount.self)
    try store.checkpoint()
    try store.write(author: "cy") { tx in
      try tx.insert("Note", ["id": "n4", "text": .string(String(repeating: "x", count: 5000))])
    }
    try store.write { tx in try tx.update(notes[1], ["text": "short again", "folder": .null]) }
    try store.write(author: "ann") { tx in
      try tx.update(folder, ["name": "Home", "notes": .objects([ObjectReference(notes[1])])])
    }
  }
}

/// How many changes there were: a projection whose state is saved.
struct ChangeCount: Projection, Codable {
  static let name = "change count"
  static let version = 1
  var count = 0

  mutating func apply(_ transaction: Transaction) throws { count += transaction.changes.count }
}

/// Everything that can be read of a store.
struct Reading: Equatable {
  /// The canonical state as of each transaction from the base on.
  var states: [Int64: String] = [:]
  /// Each transaction with its changes.
  var transactions: [Int64: String] = [:]
  /// Deletes up to the base.
  var tombstones: [String] = []
  /// What the store knows of each consumer, and how much it keeps.
  var consumers: [String: Token] = [:]
  var retention = Retention.off

  init() {}

  init(_ store: Store) throws {
    for number in store.base.number...store.token.number {
      states[number] = try Reading.state(store, number)
    }
    try store.history().forEach { transactions[$0.number] = try Reading.text($0, in: store) }
    tombstones = try Reading.tombstones(store)
    for consumer in store.consumers { consumers[consumer.name] = consumer.token }
    retention = store.retention
  }

  /// What is known of deletes up to the base; reads the whole of it.
  static func tombstones(_ store: Store) throws -> [String] {
    var lines: [String] = []
    let start = Token(store: store.token.store, number: 0, opening: 0)
    try store.resync(after: start).forEachTombstone { gone in
      guard gone.transactionNumber <= store.base.number else { return }
      let values = gone.tombstone.sorted { $0.key < $1.key }.map { "\($0)" }
      let transaction = "\(gone.transactionNumber) \(gone.timestamp) \(gone.author ?? "-")"
      lines.append("\(transaction) \(gone.objectID) \(values)")
    }
    return lines
  }

  static func state(_ store: Store, _ number: Int64) throws -> String {
    var bytes: ContiguousArray<UInt8> = []
    var state = CanonicalState(try store.snapshot(at: number))
    try state.write { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func text(_ transaction: Transaction, in store: Store) throws -> String {
    var text = "\(transaction.number) \(Timestamp(transaction.timestamp)) "
    text += "\(transaction.author ?? "-") \(transaction.context ?? "-") "
    text += "\(transaction.processName ?? "-") "
    text += transaction.metadata.sorted { $0.key < $1.key }.map { "\($0)" }.joined()
    text += "\(transaction.schemaChange)"
    for change in transaction.changes {
      text += "\n\(change.kind) \(change.entityName)#\(change.objectID.row)"
      for property in change.properties {
        text += " \(property.name): \(try whole(property.before, store)) → "
        text += "\(try whole(property.after, store))"
        if let edits = property.edits { text += " \(edits)" }
      }
    }
    return text
  }

  private static func whole(_ value: Value, _ store: Store) throws -> String {
    guard case .large(let large) = value else { return "\(value)" }
    return "\(large) " + String(decoding: try store.bytes(of: large), as: UTF8.self)
  }
}

/// What `verify` says, both halves.
func verify(_ bytes: ContiguousArray<UInt8>) throws -> Set<String> {
  let location = try sampleFile(bytes)
  var found: Set<String> = []
  var verification = try PhysicalVerification(location.opened())
  let report = try verification.run { found.insert($0.description) }
  guard report.isSound else { return found }
  do {
    for finding in try location.store(.readOnly).verifyHistory() {
      found.insert("\(finding.severity): \(finding.message)")
    }
  } catch {
    found.insert("\(error)")
  }
  return found
}

/// The store in the bytes, for reading.
func openForReading(_ bytes: ContiguousArray<UInt8>) throws -> Store {
  try sampleFile(bytes).store(.readOnly)
}

/// A file in memory: one of these bytes, or one still to be made.
func sampleFile(
  _ bytes: ContiguousArray<UInt8>? = nil, in files: MemoryFileSystem = MemoryFileSystem()
) throws -> StoreLocation {
  if let bytes { try files.put(bytes, at: SampleFile.path) }
  return StoreLocation(fileSystem: files, path: SampleFile.path)
}

extension StoreLocation {
  /// The bytes of the file, or of another beside it.
  func contents(of other: String? = nil) throws -> ContiguousArray<UInt8> {
    try fileSystem.contents(of: other ?? path)
  }

  /// Another place in the same file system.
  func beside(_ path: String) -> StoreLocation {
    StoreLocation(fileSystem: fileSystem, path: path)
  }

  /// The file, open for reading.
  func opened() throws -> any StorageFile { try fileSystem.open(path, for: .reading) }

  /// The store in the file, which is there.
  func store(_ options: StoreOptions = StoreOptions()) throws -> Store {
    try Store(self, creates: false, options: options)
  }
}

/// Where samples begin: `ANNALS_DAMAGE_SEED`, printed by whoever draws one.
let damageSeed =
  ProcessInfo.processInfo.environment["ANNALS_DAMAGE_SEED"].flatMap { UInt64($0) } ?? 1
