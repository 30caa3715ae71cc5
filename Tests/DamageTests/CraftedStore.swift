import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import AnnalsTestSupport

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
    log = try LogSalvage(at: SampleFile.path, like: nil, header: header, in: files)
    let model = MemoryFileSystem()
    let store = try Store(
      StoreLocation(fileSystem: model, path: "/model"), schema: CraftedStore.schema)
    schema = store.version.state.schema
    state = State(schema: base == 0 ? Schema() : schema)
  }

  /// The bytes of a file with this base and what `write` makes of it.
  static func bytes(
    base: Int64 = 0, _ write: (inout CraftedStore) throws -> Void
  ) throws -> ContiguousArray<UInt8> {
    let files = MemoryFileSystem()
    var crafted = try CraftedStore(files, base: base)
    try write(&crafted)
    try crafted.log.putInPlace()
    return try files.contents(of: SampleFile.path)
  }

  /// The bytes of a file whose transaction 1 inserts note 1 with the text "one", and what comes
  /// behind it.
  static func bytesBehindOne(
    _ write: (inout CraftedStore) throws -> Void
  ) throws -> ContiguousArray<UInt8> {
    try bytes {
      try $0.transaction(1, text: "one", definesSchema: true)
      try write(&$0)
    }
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

  private func store(_ chunks: ChunkStore) throws -> [EntityDirectory] {
    var image = state
    return try image.writeChunks(full: true, source: NoChunks()) {
      try chunks($0, $1, $2)
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
    try largeValuePiece(number, Array(CraftedStore.text(number).utf8)).withUnsafeBytes {
      try log.append(try LargeValueCodec.decode($0), isLast: true)
    }
  }

  /// A transaction that inserts a note with this text, or gives it to one.
  mutating func transaction(
    _ row: Int64, text: Value, kind: ChangeKind = .insert, definesSchema: Bool = false,
    author: NameNumber = 0, names: [String] = []
  ) throws {
    var record = TransactionRecord(number: log.head + 1, timestamp: Timestamp(microseconds: 9))
    record.author = author
    record.firstNewName = NameNumber(log.nameCount + 1)
    record.newNames = names
    if definesSchema {
      record.schemaChange = schema.entities.map(EntityChange.init)
      state.changeSchema(schema.entities)
    }
    var batch = ChangeBatch(kind, 1, row, [(2, .null, text)])
    batch.append(record)
    if kind == .insert, !state.schema.entities.isEmpty { try state.insertRow(1, row: row) }
    try append(record: batch)
  }

  /// A transaction of these changes, without regard to what they do to the state.
  func append(_ changes: ChangeBatch) throws {
    var batch = changes
    batch.append(
      TransactionRecord(number: log.head + 1, timestamp: Timestamp(microseconds: 9)))
    try append(record: batch)
  }

  private func append(record batch: ChangeBatch) throws {
    try batch.row().withUnsafeBytes {
      try log.append(kind: .transaction, payload: $0, batch: batch)
    }
  }

  struct NoChunks: ChunkSource {
    func chunk(_ reference: ChunkReference) throws(StateFault) -> ContiguousArray<UInt8> {
      throw .chunk(.mismatch, at: reference.offset)
    }
  }
}

extension Store {
  /// The notes' texts by row, those of large values whole; `lost` where the value says that it was
  /// lost.
  func texts(at number: Int64? = nil) throws -> [Int64: String] {
    var result: [Int64: String] = [:]
    let snapshot = try number.map { try self.snapshot(at: $0) } ?? self.snapshot()
    for note in try snapshot.objects(of: "Note") {
      switch note["text"] {
      case .string(let text): result[note.id.row] = text
      case .large(let value):
        do {
          result[note.id.row] = String(decoding: try bytes(of: value), as: UTF8.self)
        } catch {
          guard error.message.contains("lost") else { throw error }
          result[note.id.row] = "lost"
        }
      default: result[note.id.row] = "none"
      }
    }
    return result
  }
}

/// The frames of a file, with their kinds and places.
func frameList(
  _ bytes: ContiguousArray<UInt8>
) throws -> [(kind: FrameKind, offset: UInt64, length: UInt64)] {
  var walk = try FileWalk(sampleFile(bytes).opened())
  var result: [(kind: FrameKind, offset: UInt64, length: UInt64)] = []
  while let region = try walk.next() {
    if let frame = region.frame { result.append((frame.header.kind, region.offset, region.length)) }
  }
  return result
}
