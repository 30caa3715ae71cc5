import AnnalsFormat
import AnnalsModel

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
    let seed = header.seed
    let start = FormatLimits.logStart
    var writer = FrameWriter(
      seed: seed, offset: start, previousChecksum: header.checksum, durableMark: start)
    for index in commits.transactions.indices {
      var payload: ContiguousArray<UInt8> = []
      TransactionCodec.encode(commits, transaction: index, into: &payload)
      payload.withUnsafeBytes { _ = writer.append(kind: .transaction, payload: $0) }
      writer.durableMark = writer.offset
    }
    var payload: ContiguousArray<UInt8> = []
    BlockCodec.encode(block, into: &payload)
    payload.withUnsafeBytes { _ = writer.append(kind: .block, payload: $0) }
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
    add(
      .insert, row: 1, [(1, .null, .uuid(identifier)), (2, .null, .string("Fog"))], to: &batch,
      &record)
    batch.transactions.append(record)

    record = transaction(3)
    record.author = 1
    add(.update, row: 1, [(2, .string("Fog"), .string("Misty"))], to: &batch, &record)
    batch.transactions.append(record)
    return batch
  }

  /// Transactions 4 and 5: an insert and an update to nil; a delete.
  static var block: ChangeBatch {
    var batch = ChangeBatch()
    var record = transaction(4)
    record.author = 1
    let other = RawUUID(high: identifier.high, low: 1)
    add(
      .insert, row: 2, [(1, .null, .uuid(other)), (2, .null, .string("Dew"))], to: &batch, &record)
    add(.update, row: 1, [(2, .string("Misty"), .null)], to: &batch, &record)
    batch.transactions.append(record)
    record = transaction(5)
    record.context = 2
    record.metadata = [MetadataEntry(key: "n", value: .int(-3))]
    add(.delete, row: 1, [(1, .uuid(identifier), .null)], to: &batch, &record)
    batch.transactions.append(record)
    return batch
  }

  private static func transaction(_ number: Int64) -> TransactionRecord {
    let time = Timestamp(microseconds: created.microseconds + number * 1_000_000)
    var record = TransactionRecord(number: number, timestamp: time)
    record.opening = 1
    return record
  }

  private static func add(
    _ kind: ChangeKind, row: Int64, _ properties: [(PropertyNumber, Value, Value)],
    to batch: inout ChangeBatch, _ record: inout TransactionRecord
  ) {
    if record.changeCount == 0 { record.firstChange = UInt32(batch.changes.count) }
    let first = batch.properties.count
    for (number, before, after) in properties {
      batch.properties.append(
        PropertyChange(
          property: number, before: ValueCell(before, appendingTo: &batch.arena),
          after: ValueCell(after, appendingTo: &batch.arena)))
    }
    batch.changes.append(
      ChangeEntry(
        kind: kind, entity: 1, row: row, firstProperty: first, propertyCount: properties.count))
    record.changeCount += 1
  }
}
