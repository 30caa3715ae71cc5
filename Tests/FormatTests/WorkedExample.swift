import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

/// The file that FORMAT.md spells out: three small commits as a program makes them, and two
/// transactions as compaction packs them, closed cleanly.
enum WorkedExample {
  static let store = RawUUID(high: 0x6F96_19FF_8B86_D011, low: 0xB42D_00C0_4FC9_64FF)
  static let identifier = RawUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
  static let created = Timestamp(microseconds: 1_571_767_200_000_000)

  /// The file's bytes.
  static var bytes: ContiguousArray<UInt8> {
    var header = FileHeader(store: store, generation: 1, base: 0, created: created)
    _ = header.encode()
    var writer = FrameWriter(behind: header)
    for index in commits.transactions.indices {
      writer.append(.transaction, commits.row(index))
      writer.durableMark = writer.offset
    }
    writer.append(.block, block.block())
    let closed = RootSlot(
      sequence: 2, durableMark: writer.offset, head: 5, markChecksum: writer.previousChecksum)
    return header.encode(with: closed) + writer.bytes
  }

  /// The entity Note, with a unique id and a title.
  static var schema: [Entity] {
    var id = Attribute("id", .uuid, isOptional: false, isUnique: true)
    id.number = 1
    var title = Attribute("title", .string)
    title.number = 2
    var note = Entity("Note", attributes: [id, title], displayName: "title")
    note.number = 1
    note.nextPropertyNumber = 3
    return [note]
  }

  /// Transactions 1 to 3: the schema; an insert; an update.
  static var commits: ChangeBatch {
    var batch = ChangeBatch()
    var record = transaction(1)
    record.schemaChange = schema.map(EntityChange.init)
    record.newOpening = Opening(
      number: 1, id: 0x0123_4567_89AB_CDEF, processName: "notes", processID: 311)
    batch.transactions.append(record)

    record = transaction(2)
    record.author = 1
    record.context = 2
    record.firstNewName = 1
    record.newNames = ["Ann", "share"]
    record.metadata = [MetadataEntry(key: "message", value: .string("first"))]
    batch.append(.insert, 1, 1, [(1, .null, .uuid(identifier)), (2, .null, .string("Fog"))])
    batch.append(record)

    record = transaction(3)
    record.author = 1
    batch.append(.update, 1, 1, [(2, .string("Fog"), .string("Misty"))])
    batch.append(record)
    return batch
  }

  /// Transactions 4 and 5: an insert and an update to nil; a delete.
  static var block: ChangeBatch {
    var batch = ChangeBatch()
    var record = transaction(4)
    record.author = 1
    let other = RawUUID(high: identifier.high, low: 1)
    batch.append(.insert, 1, 2, [(1, .null, .uuid(other)), (2, .null, .string("Dew"))])
    batch.append(.update, 1, 1, [(2, .string("Misty"), .null)])
    batch.append(record)
    record = transaction(5)
    record.context = 2
    record.metadata = [MetadataEntry(key: "n", value: .int(-3))]
    batch.append(.delete, 1, 1, [(1, .uuid(identifier), .null)])
    batch.append(record)
    return batch
  }

  private static func transaction(_ number: Int64) -> TransactionRecord {
    let time = Timestamp(microseconds: created.microseconds + number * 1_000_000)
    var record = TransactionRecord(number: number, timestamp: time)
    record.opening = 1
    return record
  }
}
