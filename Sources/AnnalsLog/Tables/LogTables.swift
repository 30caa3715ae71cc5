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
  /// Interned names, from number 1.
  private(set) var names = ListedTable<String>()
  private(set) var openings = ListedTable<Opening>()
  private(set) var blobs = GrowingTable<BlobEntry>()
  private(set) var nextBlobNumber: UInt64 = 1
  private(set) var schema = Schema()
  /// Schema changes; the first is the whole schema at the base, unless that is empty.
  private(set) var schemaHistory = ListedTable<SchemaHistoryEntry>()
  private(set) var index = HistoryIndex()
  /// The gaps that a salvage left, those before the base among them, rising.
  private(set) var gaps: [LostTransactions] = []
  /// How many changes the file holds, from the base to the head.
  private(set) var changeCount: Int64 = 0
  var clockJumps: Int64 = 0
  /// How many of them the newest checkpoint counts.
  private(set) var clockJumpsAtCheckpoint: Int64 = 0
  /// The newest checkpoint, the base's among them; nil if there is none.
  private(set) var checkpoint: CheckpointReference?
  /// Where the newest checkpoint (or the space before the log) ends, and the changes up to it.
  private(set) var checkpointEnd = FormatLimits.logStart
  private(set) var changesAtCheckpoint: Int64 = 0
  /// The directory's extension area, carried from checkpoint to checkpoint.
  private(set) var extensions: ContiguousArray<UInt8> = []

  /// The tables of a file whose base is the empty state.
  init(emptyBaseOf header: FileHeader) {
    head = LogPosition(
      number: header.base, timestamp: header.baseTimestamp,
      maximumTimestamp: header.baseTimestamp, openingID: 0)
  }

  /// The tables at a base that is made: what was known as of it.
  init(
    base: LogPosition, schema: Schema, names: [String], openings: [Opening], blobs: [BlobEntry],
    nextBlobNumber: UInt64, clockJumps: Int64, gaps: [LostTransactions],
    extensions: ContiguousArray<UInt8>
  ) {
    self.gaps = gaps
    head = base
    for name in names { self.names.append(name) }
    for opening in openings { self.openings.append(opening) }
    for blob in blobs { self.blobs.append(blob) }
    self.nextBlobNumber = nextBlobNumber
    self.schema = schema
    if !schema.entities.isEmpty {
      schemaHistory.append(SchemaHistoryEntry(number: base.number, entities: schema.entities))
    }
    self.clockJumps = clockJumps
    self.extensions = extensions
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
    names = try ListedTable(directory.names, in: generation)
    openings = try ListedTable(directory.openings, in: generation)
    blobs = GrowingTable(directory.blobs)
    nextBlobNumber = directory.nextBlobNumber
    schema = directory.schema
    schemaHistory = try ListedTable(directory.schemaHistory, in: generation)
    index = HistoryIndex(directory.historyIndex)
    gaps = directory.gaps
    changeCount = directory.changeCount
    changesAtCheckpoint = directory.changeCount
    clockJumps = directory.clockJumps
    clockJumpsAtCheckpoint = directory.clockJumps
    extensions = directory.extensions
    checkpoint = place
    checkpointEnd = end
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
    index.note(
      firstNumber: record.number, at: offset, maximumTimestamp: head.maximumTimestamp,
      entities: entities)
    for name in record.newNames { names.append(name) }
    if let lost = record.lost {
      gaps.append(lost)
      for opening in lost.openings { openings.append(opening) }
    }
    if let opening = record.newOpening {
      openings.append(opening)
    }
    absorb(blobs)
    if !record.schemaChange.isEmpty {
      schema = schema.applying(record.schemaChange)
      schemaHistory.append(
        SchemaHistoryEntry(number: record.number, entities: record.schemaChange))
    }
    self.changeCount += Int64(changeCount)
    head = LogPosition(
      number: record.number, timestamp: record.timestamp,
      maximumTimestamp: max(head.maximumTimestamp, record.timestamp), openingID: openingID)
  }

  private func check(_ record: TransactionRecord, at offset: UInt64) throws(LogError) {
    func damage(_ reason: String) -> LogError {
      .damage(LogDamage(offset: offset, reason: reason, lastGood: head.number))
    }
    guard record.firstNumber == head.number + 1 else {
      throw damage("transaction \(record.firstNumber) where \(head.number + 1) should be")
    }
    guard record.newNames.isEmpty || Int(record.firstNewName) == names.count + 1 else {
      throw damage("names that do not continue those known")
    }
    let known = names.count + record.newNames.count
    guard Int(record.author) <= known, Int(record.context) <= known else {
      throw damage("a name that was never recorded")
    }
    var next = openings.count + 1
    for opening in (record.lost?.openings ?? []) + [record.newOpening].compactMap({ $0 }) {
      guard Int(opening.number) == next else {
        throw damage("an opening that does not continue those known")
      }
      next += 1
    }
    guard Int(record.opening) < next else {
      throw damage("an opening that was never recorded")
    }
  }

  private func openingID(of record: TransactionRecord) -> UInt64 {
    if record.opening == 0 { return 0 }
    if let opening = record.newOpening, opening.number == record.opening { return opening.id }
    return openings.list[Int(record.opening) - 1].id
  }

  /// Takes in large values that were met.
  mutating func absorb(_ added: [BlobEntry]) {
    for blob in added {
      blobs.append(blob)
      nextBlobNumber = max(nextBlobNumber, blob.number &+ 1)
    }
  }

  /// Takes in a checkpoint met or written behind the head; `end` is where its frame ends.
  mutating func absorb(checkpoint place: CheckpointReference, end: UInt64) {
    checkpoint = place
    checkpointEnd = end
    changesAtCheckpoint = changeCount
    clockJumpsAtCheckpoint = clockJumps
    index.closeSegment()
  }

  /// Takes over from a checkpoint at the head what a directory says and no transaction does.
  mutating func adopt(_ directory: CheckpointDirectory) {
    clockJumps = directory.clockJumps
    extensions = directory.extensions
  }

  /// The directory of a checkpoint at the head; entries that are many move into chunks.
  mutating func directory(
    schema: Schema, entities: [EntityDirectory], isBase: Bool,
    store: (UnsafeRawBufferPointer, Int64, UInt32) throws(LogError) -> ChunkReference
  ) throws(LogError) -> CheckpointDirectory {
    var result = CheckpointDirectory(number: head.number)
    result.maximumTimestamp = head.maximumTimestamp
    result.timestamp = head.timestamp
    result.openingID = head.openingID
    result.changeCount = changeCount
    result.clockJumps = clockJumps
    result.isBase = isBase
    result.schema = schema
    result.names = try names.checkpoint(store)
    result.openings = try openings.checkpoint(store)
    result.blobs = try blobs.checkpoint(store)
    result.schemaHistory = try schemaHistory.checkpoint(store)
    result.historyIndex = try index.checkpoint(store)
    result.gaps = gaps
    result.nextBlobNumber = nextBlobNumber
    result.entities = entities
    result.previousCheckpoint = checkpoint
    result.extensions = extensions
    return result
  }
}
