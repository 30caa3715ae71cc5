import AnnalsFormat
import AnnalsModel

/// A position in the history: just after a transaction.
package struct LogPosition: Hashable, Sendable {
  /// The transaction's number; the base's where there is none behind it.
  package var number: Int64
  /// Its timestamp.
  package var timestamp: Timestamp
  /// The greatest timestamp up to it.
  package var maximumTimestamp: Timestamp
  /// The id of the opening that wrote it; 0 where there is none.
  package var openingID: UInt64

  package init(
    number: Int64, timestamp: Timestamp, maximumTimestamp: Timestamp, openingID: UInt64
  ) {
    self.number = number
    self.timestamp = timestamp
    self.maximumTimestamp = maximumTimestamp
    self.openingID = openingID
  }
}

/// What the log knows as of one position: the position itself, interned names, openings, large
/// values, the schema and its history, and the history index. A value.
///
/// Only whole transactions go in; what does not continue the tables is damage.
struct LogTables: Sendable {
  private(set) var head: LogPosition
  private(set) var nextBlobNumber: UInt64 = 1
  /// How many changes the file holds, from the base to the head.
  private(set) var changeCount: Int64 = 0
  /// How many transactions up to the head say that their clock had jumped back.
  private(set) var clockJumps: Int64 = 0
  /// The newest checkpoint, the base's among them; nil if there is none.
  private(set) var checkpoint: CheckpointReference?
  /// Where the newest checkpoint (or the space before the log) ends, and the changes up to it.
  private(set) var checkpointEnd = FormatLimits.logStart
  private(set) var changesAtCheckpoint: Int64 = 0
  /// What most transactions leave as it is: views share it, so that making one counts one
  /// reference and not one for each table.
  private var lasting = Lasting()

  /// Interned names, from number 1.
  var names: ListedTable<String> { lasting.names }
  var openings: ListedTable<Opening> { lasting.openings }
  var blobs: GrowingTable<BlobEntry> { lasting.blobs }
  var schema: Schema { lasting.schema }
  /// Schema changes; the first is the whole schema at the base, unless that is empty.
  var schemaHistory: ListedTable<SchemaHistoryEntry> { lasting.schemaHistory }
  var index: HistoryIndex { lasting.index }
  /// The gaps that a salvage left, those before the base among them, rising.
  var gaps: [LostTransactions] { lasting.gaps }
  /// The directory's extension area, carried from checkpoint to checkpoint.
  var extensions: ContiguousArray<UInt8> { lasting.extensions }
  /// The features announced in the file.
  var announced: Features { lasting.announced }
  var consumers: ConsumerTable { lasting.consumers }
  var retention: RetentionPolicy { lasting.retention }

  /// The tables and lists. Changed only by the one holder of its only reference.
  private final class Lasting: @unchecked Sendable {
    @exclusivity(unchecked) var names = ListedTable<String>()
    @exclusivity(unchecked) var openings = ListedTable<Opening>()
    @exclusivity(unchecked) var blobs = GrowingTable<BlobEntry>()
    @exclusivity(unchecked) var schema = Schema()
    @exclusivity(unchecked) var schemaHistory = ListedTable<SchemaHistoryEntry>()
    @exclusivity(unchecked) var index = HistoryIndex()
    @exclusivity(unchecked) var gaps: [LostTransactions] = []
    @exclusivity(unchecked) var extensions: ContiguousArray<UInt8> = []
    @exclusivity(unchecked) var announced = Features.none
    @exclusivity(unchecked) var consumers = ConsumerTable()
    @exclusivity(unchecked) var retention = RetentionPolicy.off
    @exclusivity(unchecked) var lists = ListedReferences()

    init() {}

    init(copying other: Lasting) {
      names = other.names
      openings = other.openings
      blobs = other.blobs
      schema = other.schema
      schemaHistory = other.schemaHistory
      index = other.index
      gaps = other.gaps
      extensions = other.extensions
      announced = other.announced
      consumers = other.consumers
      retention = other.retention
      lists = other.lists
    }
  }

  /// The tables for changing: nobody else holds them.
  private mutating func writable() -> Lasting {
    if !isKnownUniquelyReferenced(&lasting) { lasting = Lasting(copying: lasting) }
    return lasting
  }

  /// The tables of a file whose base is the empty state.
  init(emptyBaseOf header: FileHeader) {
    head = LogPosition(
      number: header.base, timestamp: header.baseTimestamp,
      maximumTimestamp: header.greatestTimestamp, openingID: 0)
  }

  /// The tables at a base that is made: what was known as of it.
  init(
    base: LogPosition, schema: Schema, names: [String], openings: [Opening], blobs: [BlobEntry],
    nextBlobNumber: UInt64, clockJumps: Int64, gaps: [LostTransactions],
    extensions: ContiguousArray<UInt8>
  ) {
    head = base
    self.nextBlobNumber = nextBlobNumber
    self.clockJumps = clockJumps
    let lasting = writable()
    lasting.gaps = gaps
    for name in names { lasting.names.append(name) }
    for opening in openings { lasting.openings.append(opening) }
    for blob in blobs { lasting.blobs.append(blob) }
    lasting.schema = schema
    if !schema.entities.isEmpty {
      lasting.schemaHistory.append(
        SchemaHistoryEntry(number: base.number, entities: schema.entities))
    }
    lasting.extensions = extensions
  }

  /// The tables as a checkpoint's directory has them. Reads the chunks with names; throws if they
  /// do not hold.
  init(
    _ directory: CheckpointDirectory, at place: CheckpointReference, end: UInt64,
    in generation: LogGeneration
  ) throws(LogError) {
    head = LogPosition(
      number: directory.number, timestamp: directory.timestamp,
      maximumTimestamp: directory.maximumTimestamp, openingID: directory.openingID)
    nextBlobNumber = directory.nextBlobNumber
    changeCount = directory.changeCount
    changesAtCheckpoint = directory.changeCount
    clockJumps = directory.clockJumps
    checkpoint = place
    checkpointEnd = end
    let lasting = writable()
    lasting.names = try ListedTable(directory.names, in: generation)
    lasting.openings = try ListedTable(directory.openings, in: generation)
    lasting.blobs = GrowingTable(directory.blobs)
    lasting.schema = directory.schema
    lasting.schemaHistory = try ListedTable(directory.schemaHistory, in: generation)
    lasting.index = HistoryIndex(directory.historyIndex)
    lasting.gaps = directory.gaps
    lasting.extensions = directory.extensions
    lasting.consumers = directory.consumers
    lasting.retention = directory.retention
    lasting.lists = ListedReferences(directory)
  }

  /// Takes in a transaction that follows the head. `record` is its first part's, `offset` where its
  /// unit begins, `blobs` the large values before it. Throws `damage` and stays as it was if it
  /// does not follow.
  mutating func absorb(
    _ record: TransactionRecord, at offset: UInt64, changeCount: Int, entities: [EntityNumber],
    blobs: [BlobEntry]
  ) throws(LogError) {
    try check(record, at: offset)
    let openingID = openingID(of: record)
    if !lasting.index.covers(offset, entities: entities) {
      writable().index.note(
        firstNumber: record.number, at: offset, maximumTimestamp: head.maximumTimestamp,
        entities: entities)
    }
    if record.hasDetails { absorbDetails(of: record) }
    if ExtensionArea.has(ExtensionArea.clockJump, in: record.extensions) { clockJumps += 1 }
    absorb(blobs)
    self.changeCount += Int64(changeCount)
    head = LogPosition(
      number: record.number, timestamp: record.timestamp,
      maximumTimestamp: max(head.maximumTimestamp, record.timestamp), openingID: openingID)
  }

  /// Takes in what a transaction brings besides its changes.
  private mutating func absorbDetails(of record: TransactionRecord) {
    let lasting = writable()
    for name in record.newNames { lasting.names.append(name) }
    if let lost = record.lost {
      lasting.gaps.append(lost)
      for opening in lost.openings { lasting.openings.append(opening) }
    }
    if let opening = record.newOpening { lasting.openings.append(opening) }
    if !record.schemaChange.isEmpty {
      lasting.schema = lasting.schema.applying(record.schemaChange)
      lasting.schemaHistory.append(
        SchemaHistoryEntry(number: record.number, entities: record.schemaChange))
    }
  }

  /// Throws `damage` if the transaction does not follow the head.
  func check(_ record: TransactionRecord, at offset: UInt64) throws(LogError) {
    func damage(_ reason: String) -> LogError {
      .damage(LogDamage(offset: offset, reason: reason, lastGood: head.number))
    }
    guard record.firstNumber == head.number + 1 else {
      throw damage("transaction \(record.firstNumber) where \(head.number + 1) should be")
    }
    let nameCount = lasting.names.count
    guard record.newNames.isEmpty || Int(record.firstNewName) == nameCount + 1 else {
      throw damage("names that do not continue those known")
    }
    let known = nameCount + record.newNames.count
    guard Int(record.author) <= known, Int(record.context) <= known else {
      throw damage("a name that was never recorded")
    }
    var next = lasting.openings.count + 1
    if record.hasDetails {
      for opening in (record.lost?.openings ?? []) + [record.newOpening].compactMap({ $0 }) {
        guard Int(opening.number) == next else {
          throw damage("an opening that does not continue those known")
        }
        next += 1
      }
    }
    guard Int(record.opening) < next else {
      throw damage("an opening that was never recorded")
    }
  }

  private func openingID(of record: TransactionRecord) -> UInt64 {
    if record.opening == 0 { return 0 }
    if let opening = record.newOpening, opening.number == record.opening { return opening.id }
    return lasting.openings.list[Int(record.opening) - 1].id
  }

  /// Takes in large values that were met.
  mutating func absorb(_ added: [BlobEntry]) {
    guard !added.isEmpty else { return }
    let lasting = writable()
    for blob in added {
      lasting.blobs.append(blob)
      nextBlobNumber = max(nextBlobNumber, blob.number &+ 1)
    }
  }

  /// Takes in features that were announced.
  mutating func announce(_ features: Features) {
    let all = announced.union(features)
    if all != announced { writable().announced = all }
  }

  /// Takes in what became of a consumer; false, changing nothing, if there would be too many.
  @discardableResult
  mutating func absorb(_ change: ConsumerChange) -> Bool { writable().consumers.apply(change) }

  /// Takes in how much history is kept.
  mutating func absorb(_ retention: RetentionPolicy) { writable().retention = retention }

  /// Takes in a checkpoint met or written behind the head; `end` is where its frame ends.
  mutating func absorb(checkpoint place: CheckpointReference, end: UInt64) {
    checkpoint = place
    checkpointEnd = end
    changesAtCheckpoint = changeCount
    writable().index.closeSegment()
  }

  /// Takes over from a checkpoint at the head what a directory says and no transaction does.
  mutating func adopt(_ directory: CheckpointDirectory) {
    writable().extensions = directory.extensions
  }

  /// The directory of a checkpoint at the head; entries that are many move into chunks.
  mutating func directory(
    schema: Schema, entities: [EntityDirectory], isBase: Bool,
    store: (UnsafeRawBufferPointer, Int64, UInt32) throws(LogError) -> ChunkReference
  ) throws(LogError) -> CheckpointDirectory {
    var result = CheckpointDirectory(number: head.number)
    let lasting = writable()
    result.maximumTimestamp = head.maximumTimestamp
    result.timestamp = head.timestamp
    result.openingID = head.openingID
    result.changeCount = changeCount
    result.clockJumps = clockJumps
    result.isBase = isBase
    result.schema = schema
    result.names = try lasting.names.checkpoint(store)
    result.openings = try lasting.openings.checkpoint(store)
    result.blobs = try lasting.blobs.checkpoint(store)
    result.schemaHistory = try lasting.schemaHistory.checkpoint(store)
    result.historyIndex = try lasting.index.checkpoint(store)
    result.gaps = lasting.gaps
    result.nextBlobNumber = nextBlobNumber
    result.entities = try lasting.lists.checkpoint(entities, store)
    result.previousCheckpoint = checkpoint
    result.extensions = lasting.extensions
    result.consumers = lasting.consumers
    result.retention = lasting.retention
    return result
  }
}

extension TransactionRecord {
  /// Whether the record brings more than changes: names, openings, a gap, or schema changes.
  fileprivate var hasDetails: Bool {
    !newNames.isEmpty || newOpening != nil || lost != nil || !schemaChange.isEmpty
  }
}
