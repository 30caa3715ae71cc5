import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsState
import Foundation

/// A state with the schema of some record types, and what binding and reading need.
struct Bench {
  static let store = RawUUID(high: 0x0123_4567_89AB_4DEF, low: 0x8000_0000_0000_0001)
  var draft: Draft
  let largeValues = MemoryValues()

  init(_ records: any Record.Type...) throws {
    self.init(schema: try Schema().adding(Schema(records: records)).schema)
  }

  init(schema: Schema) {
    let state = State(schema: schema)
    draft = Draft(
      TransactionOrigin(), base: state, number: 0, working: state, store: Bench.store,
      records: BoundRecords(
        bindings: RecordBindings(DerivedFunctions { $0 }), schema: schema, schemaVersion: 0,
        history: [], migrations: []),
      largeValues: largeValues)
  }

  var state: State { draft.reader.state }
  var violations: [ValidationViolation] { draft.violations }

  /// Joins more record types to the store, as opening does.
  mutating func open(_ records: any Record.Type...) throws {
    let counts = state
    let change = try state.schema.adding(
      Schema(records: records), edits: Schema.edits(of: records),
      objectCount: { counts.count(of: $0) })
    draft.redefine(change.changed)
  }

  func binding<R: Record>(_ type: R.Type) throws -> RecordBinding<R> {
    try RecordBinding<R>(schema: state.schema)
  }

  mutating func insert<R: Record>(_ record: R) throws -> Int64 {
    try insert(record, try binding(R.self))
  }

  @discardableResult
  mutating func insert<R: Record>(_ record: R, _ binding: RecordBinding<R>) throws -> Int64 {
    let row = try draft.insertRow(of: binding.entity)
    try binding.insert(record, row, into: &draft)
    return row
  }

  mutating func update<R: Record>(_ row: Int64, to record: R) throws {
    try binding(R.self).update(from: try read(R.self, row), to: record, row, into: &draft)
  }

  mutating func set<R: Record, V: AttributeValue>(
    _ keyPath: KeyPath<R, V>, _ row: Int64, to value: V
  ) throws {
    let binding = try binding(R.self)
    try binding.set(binding.position(of: keyPath), to: value, row, into: &draft)
  }

  func read<R: Record>(_ type: R.Type, _ row: Int64) throws -> R {
    try binding(type).read(row, from: state, store: Bench.store, largeValues: largeValues)
  }

  func stored<R: Record>(_ type: R.Type, _ row: Int64, _ name: String) throws -> Value {
    let number = try binding(type).entity
    let property = state.schema.entity(numbered: number)?.propertyNumber(named: name)
    return try state.value(number, row, property ?? 0)
  }

  func id<R: Record>(_ type: R.Type, _ row: Int64) throws -> ObjectID {
    ObjectID(store: Bench.store, entity: try binding(type).entity, row: row)
  }
}

/// Keeps large values in memory.
final class MemoryValues: LargeValueSink, @unchecked Sendable {
  private(set) var values: [UInt64: ContiguousArray<UInt8>] = [:]

  func add(_ bytes: ContiguousArray<UInt8>, tag: ValueTag) throws(AnnalsError) -> LargeValue {
    let number = UInt64(values.count + 1)
    values[number] = bytes
    let checksum = bytes.withUnsafeBytes { Checksum.crc32($0) }
    return LargeValue(
      tag: tag, number: number, length: UInt64(bytes.count), checksum: checksum)
  }

  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> {
    guard let bytes = values[value.number] else {
      throw AnnalsError(.damaged, "no large value \(value.number)", offset: 7)
    }
    return bytes
  }
}

enum Mood: String, AttributeValue, CaseIterable {
  case calm
  case stormy
}

struct Level: RawRepresentable, AttributeValue, Hashable {
  var rawValue: Int16
}

struct Post: Record, Equatable {
  var identifier: UUID
  var timestamp: Date
  var title: String?
  var rating: Int
  var mood: Mood?
  var isRead: Bool
  var score: Double
  var body: String
  static let entity = RecordEntity(
    "Post", Post.init,
    Property("identifier", \.identifier).unique().preservedAfterDeletion(),
    Property("timestamp", \.timestamp).indexed(.descending),
    Property("title", \.title).displayName().length(...100),
    Property("rating", \.rating).range(0...5),
    Property("mood", \.mood),
    Property("isRead", \.isRead),
    Property("score", \.score),
    Property("body", \.body))

  static func sample(_ number: Int = 1) -> Post {
    Post(
      identifier: UUID(
        uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number & 255))),
      timestamp: Date(timeIntervalSinceReferenceDate: 700_000_000.123456 + Double(number)),
      title: "Fog", rating: number % 6, mood: .stormy, isRead: true, score: 0.1 * Double(number),
      body: "A foggy morning, number \(number)")
  }
}

struct Person: Record, Equatable {
  var name: String
  var mentor: ObjectID?
  var friends: [ObjectID]
  var path: [ObjectID]
  static let entity = RecordEntity(
    "Person", Person.init,
    Property("name", \.name),
    Property("mentor", \.mentor, to: Person.self),
    Property("friends", \.friends, to: Person.self),
    Property("path", \.path, to: "Person", isOrdered: true))
}
