import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// A file written frame by frame.
struct CraftedStore {
  static let schema = Schema {
    Entity("Note") {
      Attribute("id", .string, isUnique: true)
      Attribute("text", .string)
      Relationship("others", to: "Note", isToMany: true, isOrdered: true)
    }
  }

  static func value(_ number: UInt64) -> LargeValue {
    let bytes = text(number).utf8.withContiguousStorageIfAvailable {
      Checksum.crc32(UnsafeRawBufferPointer($0))
    }
    return LargeValue(tag: .string, number: number, length: 5_000, checksum: bytes ?? 0)
  }

  static func text(_ number: UInt64) -> String {
    String(repeating: "\(number)", count: 5_000)
  }

  let files: MemoryFileSystem
  let log: LogSalvage
  var state: State
  private let schema: Schema

  init(_ files: MemoryFileSystem, base: Int64) throws {
    self.files = files
    var header = FileHeader(
      store: RawUUID(high: 1, low: 2), generation: 1, base: base,
      created: Timestamp(microseconds: 5))
    header.baseTimestamp = Timestamp(microseconds: 0)
    log = try LogSalvage(at: SampleFile.path, header: header, in: files)
    let model = MemoryFileSystem()
    let store = try Store(
      StoreLocation(fileSystem: model, path: "/model"), schema: CraftedStore.schema)
    schema = store.version.state.schema
    state = State(schema: base == 0 ? Schema() : schema)
  }

  /// A note in the state at the base whose text is this large value.
  mutating func note(_ row: Int64, text: UInt64) throws {
    try note(row, text: CraftedStore.value(text))
  }

  /// The same, and maybe with an id.
  mutating func note(_ row: Int64, id: String? = nil, text: LargeValue) throws {
    try state.insertRow(1, row: row)
    if let id { try state.set(1, row, 1, to: .string(id)) }
    try state.set(1, row, 2, to: .large(text))
  }

  private func store(_ chunks: CheckpointWriter) throws -> [EntityDirectory] {
    var image = state
    return try image.writeChunks(full: true, source: NoChunks()) {
      try chunks.store($0, first: $1, count: $2)
    }
  }

  func writeBase(_ number: Int64) throws {
    let zero = Timestamp(microseconds: 0)
    let position = LogPosition(
      number: number, timestamp: zero, maximumTimestamp: zero, openingID: 0)
    var base = LogBase(position: position)
    base.nextLargeValueNumber = 9
    try log.writeBase(base, schema: schema) { try store($0) }
  }

  func writeCheckpoint() throws {
    try log.writeCheckpoint(schema: schema) { try store($0) }
  }

  func largeValue(_ number: UInt64) throws {
    var payload: ContiguousArray<UInt8> = []
    Array(CraftedStore.text(number).utf8).withUnsafeBytes {
      LargeValueCodec.encode(
        LargeValuePiece(number: number, totalLength: 5_000, start: 0, bytes: $0), into: &payload)
    }
    try payload.withUnsafeBytes {
      try log.append(
        largeValuePiece: $0, number: number, length: 5_000, isFirst: true, isLast: true)
    }
  }

  /// A transaction that inserts a note with this text, or gives it to one.
  mutating func transaction(
    _ row: Int64, text: Value, kind: ChangeKind = .insert, definesSchema: Bool = false,
    author: NameNumber = 0, names: [String] = []
  ) throws {
    var batch = ChangeBatch()
    var record = TransactionRecord(number: log.head + 1, timestamp: Timestamp(microseconds: 9))
    record.author = author
    record.firstNewName = NameNumber(log.nameCount + 1)
    record.newNames = names
    if definesSchema {
      record.schemaChange = schema.entities.map(EntityChange.init)
      state.changeSchema(schema.entities)
    }
    let cell = ValueCell(text, appendingTo: &batch.arena)
    batch.properties.append(PropertyChange(property: 2, before: .null, after: cell))
    batch.changes.append(
      ChangeEntry(kind: kind, entity: 1, row: row, firstProperty: 0, propertyCount: 1))
    record.changeCount = 1
    batch.transactions.append(record)
    if kind == .insert, !state.schema.entities.isEmpty { try state.insertRow(1, row: row) }
    try append(record: batch)
  }

  /// A transaction of these changes, without regard to what they do to the state.
  func append(_ changes: ChangeBatch) throws {
    var batch = changes
    var record = TransactionRecord(number: log.head + 1, timestamp: Timestamp(microseconds: 9))
    record.changeCount = UInt32(batch.changes.count)
    batch.transactions = [record]
    try append(record: batch)
  }

  private func append(record batch: ChangeBatch) throws {
    var payload: ContiguousArray<UInt8> = []
    TransactionCodec.encode(batch, transaction: 0, into: &payload)
    try payload.withUnsafeBytes { try log.append(kind: .transaction, payload: $0, batch: batch) }
  }

  struct NoChunks: ChunkSource {
    func chunk(_ reference: ChunkReference) throws(ChunkFault) -> ContiguousArray<UInt8> {
      throw ChunkFault(offset: reference.offset, reason: .mismatch)
    }
  }
}

/// The frames of a file, with their kinds and places.
func frameList(
  _ bytes: ContiguousArray<UInt8>
) throws -> [(kind: FrameKind, offset: UInt64, length: UInt64)] {
  let files = MemoryFileSystem()
  try files.put(bytes, at: SampleFile.path)
  var walk = try FileWalk(files.open(SampleFile.path, for: .reading))
  var result: [(kind: FrameKind, offset: UInt64, length: UInt64)] = []
  while let region = try walk.next() {
    if let frame = region.frame { result.append((frame.header.kind, region.offset, region.length)) }
  }
  return result
}
