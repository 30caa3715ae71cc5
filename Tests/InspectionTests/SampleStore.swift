import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

/// Transactions about posts, and a file with one of each thing that a file may hold.
enum SampleStore {
  static let schema: [Entity] = {
    var identifier = Attribute("id", .int64, isOptional: false, isUnique: true)
    identifier.number = 1
    var title = Attribute("title", .string)
    title.number = 2
    var picture = Attribute("picture", .data)
    picture.number = 3
    var tags = Relationship("tags", to: "", isToMany: true, isOrdered: true)
    tags.number = 4
    tags.destination = 2
    var post = Entity("Post", attributes: [identifier, title, picture], relationships: [tags])
    post.number = 1
    post.nextPropertyNumber = 5
    var name = Attribute("name", .string, isOptional: false)
    name.number = 1
    var tag = Entity("Tag", attributes: [name])
    tag.number = 2
    tag.nextPropertyNumber = 2
    return [post, tag]
  }()

  static let opening = Opening(number: 1, id: 0xA11A15, processName: "sharectl", processID: 311)

  /// An empty record of transaction `number`, a second after the one before.
  static func record(_ number: Int64) -> TransactionRecord {
    var record = TransactionRecord(
      number: number,
      timestamp: Timestamp(
        microseconds: HandMadeFile.start.microseconds &+ (number - 1) &* 1_000_000))
    record.author = 1
    record.opening = 1
    return record
  }

  /// The record of transaction 1, which brings the schema, the opening and two names.
  static func firstRecord() -> TransactionRecord {
    var record = record(1)
    record.newNames = ["Safari", "share"]
    record.firstNewName = 1
    record.context = 2
    record.newOpening = opening
    record.schemaChange = schema.map(EntityChange.init)
    record.metadata = [MetadataEntry(key: "message", value: .string("Saved from the share sheet"))]
    return record
  }

  /// The directory of a checkpoint of transaction `number`.
  static func directory(_ number: Int64, changes: Int64 = 0) -> CheckpointDirectory {
    var directory = CheckpointDirectory(number: number)
    directory.timestamp = record(number).timestamp
    directory.maximumTimestamp = directory.timestamp
    directory.openingID = opening.id
    directory.changeCount = changes
    directory.schema = Schema(entities: schema)
    directory.names.entries = ["Safari", "share"]
    directory.openings.entries = [opening]
    return directory
  }

  typealias Change = (ChangeKind, EntityNumber, Int64, [PropertyValues])

  /// Adds a transaction with these changes to a batch.
  static func add(
    _ record: TransactionRecord, _ changes: [Change] = [], to batch: inout ChangeBatch
  ) {
    for (kind, entity, row, values) in changes { batch.append(kind, entity, row, values) }
    batch.append(record)
  }

  /// The payload of one transaction by row.
  static func row(
    _ record: TransactionRecord, _ changes: [Change] = []
  ) -> ContiguousArray<UInt8> {
    var batch = ChangeBatch()
    add(record, changes, to: &batch)
    return batch.row()
  }

  /// The insert of a post.
  static func insert(_ row: Int64, title: String) -> Change {
    (.insert, 1, row, [(1, .null, .int(row * 100)), (2, .null, .string(title))])
  }

  /// The change of a post's title.
  static func update(_ row: Int64, from old: String, to new: String) -> Change {
    (.update, 1, row, [(2, .string(old), .string(new))])
  }

  /// `count` small transactions from number 1, the last in a group that nothing proves synced.
  static func small(_ count: Int64) -> HandMadeFile {
    var file = HandMadeFile()
    file.append(firstRecord(), [insert(1, title: "Fog")])
    for number in 2...max(2, count) where number <= count {
      file.sync()
      let old = number == 2 ? "Fog" : "Title \(number - 1)"
      let change = update(1, from: old, to: "Title \(number)")
      file.append(record(number), [change])
    }
    return file
  }
}
