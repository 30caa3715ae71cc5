import AnnalsFormat
import AnnalsModel

/// What the log knows as of one position: the position, interned names, openings, large values, the
/// schema and its history, and the history index. A value.
///
/// Accepts only whole transactions; one that does not continue the tables is damage.
struct LogTables: Sendable {
  private(set) var head: LogPosition
  /// The first of the last transactions that one opening wrote, as far back as is known.
  private(set) var openingStart: Int64
  private(set) var nextLargeValueNumber: UInt64 = 1
  /// The number of changes in the file, from the base to the head.
  private(set) var changeCount: Int64 = 0
  /// How many transactions up to the head record that their clock had jumped back.
  private(set) var clockJumps: Int64 = 0
  /// The newest checkpoint, including the base's; nil if there is none.
  private(set) var checkpoint: CheckpointReference?
  /// Where the newest checkpoint (or the space before the log) ends, and the number of changes up
  /// to it.
  private(set) var checkpointEnd = FormatLimits.logStart
  private(set) var changesAtCheckpoint: Int64 = 0
  /// The greatest timestamp of the last segment of the history index, as far as it was absorbed.
  private(set) var segmentMaximum = Timestamp.min
  /// The copy-on-write part, which most transactions do not change. Views share it, so that making
  /// a view counts one reference instead of one per table.
  private var shared = SharedTables()

  /// Interned names, from number 1.
  var names: ListedTable<String> { shared.names }
  var openings: ListedTable<Opening> { shared.openings }
  var largeValues: GrowingTable<LargeValueEntry> { shared.largeValues }
  var schema: Schema { shared.schema }
  /// Schema changes. The first is the whole schema at the base, unless that is empty.
  var schemaHistory: ListedTable<SchemaHistoryEntry> { shared.schemaHistory }
  var index: HistoryIndex { shared.index }
  /// The gaps that salvages left, rising; including those before the base.
  var gaps: [LostTransactions] { shared.gaps }
  /// The migrations made, in their order; including those before the base.
  var migrations: [MigrationRecord] { shared.migrations }
  /// The directory's extension area, carried from checkpoint to checkpoint.
  var extensions: ContiguousArray<UInt8> { shared.extensions }
  /// The features announced in the file.
  var announced: Features { shared.announced }
  /// What the side records add up to.
  var side: SideState { shared.side }

  /// The shared tables and lists. Changed only by the holder of the one reference.
  private final class SharedTables: @unchecked Sendable {
    @exclusivity(unchecked) var names = ListedTable<String>()
    @exclusivity(unchecked) var openings = ListedTable<Opening>()
    @exclusivity(unchecked) var largeValues = GrowingTable<LargeValueEntry>()
    @exclusivity(unchecked) var schema = Schema()
    @exclusivity(unchecked) var schemaHistory = ListedTable<SchemaHistoryEntry>()
    @exclusivity(unchecked) var index = HistoryIndex()
    @exclusivity(unchecked) var gaps: [LostTransactions] = []
    @exclusivity(unchecked) var migrations: [MigrationRecord] = []
    @exclusivity(unchecked) var extensions: ContiguousArray<UInt8> = []
    @exclusivity(unchecked) var announced = Features.none
    @exclusivity(unchecked) var side = SideState()
    @exclusivity(unchecked) var lists = ListedReferences()

    init() {}

    init(copying other: SharedTables) {
      names = other.names
      openings = other.openings
      largeValues = other.largeValues
      schema = other.schema
      schemaHistory = other.schemaHistory
      index = other.index
      gaps = other.gaps
      migrations = other.migrations
      extensions = other.extensions
      announced = other.announced
      side = other.side
      lists = other.lists
    }
  }

  /// The shared tables for changing, copied first if somebody else holds them.
  private mutating func writable() -> SharedTables {
    if !isKnownUniquelyReferenced(&shared) { shared = SharedTables(copying: shared) }
    return shared
  }

  /// The tables of a file whose base is the empty state.
  init(emptyBaseOf header: FileHeader) {
    head = LogPosition(
      number: header.base, timestamp: header.baseTimestamp,
      maximumTimestamp: header.greatestTimestamp, openingID: 0)
    openingStart = head.number
  }

  /// The tables at a new base: what was known as of it.
  init(_ base: LogBase, schema: Schema, largeValues: [LargeValueEntry]) {
    head = base.position
    openingStart = head.number
    nextLargeValueNumber = base.nextLargeValueNumber
    clockJumps = base.clockJumps
    let shared = writable()
    shared.gaps = base.gaps
    shared.migrations = base.migrations
    for name in base.names { shared.names.append(name) }
    for opening in base.openings { shared.openings.append(opening) }
    for largeValue in largeValues { shared.largeValues.append(largeValue) }
    shared.schema = schema
    if !schema.entities.isEmpty {
      shared.schemaHistory.append(
        SchemaHistoryEntry(number: head.number, schema: schema.entities))
    }
    shared.extensions = base.extensions
  }

  /// Loads the tables from a checkpoint's directory. Reads the chunks with names; throws if one is
  /// damaged.
  init(
    _ directory: CheckpointDirectory, at place: CheckpointReference, end: UInt64,
    in generation: LogGeneration
  ) throws(LogError) {
    head = LogPosition(directory)
    openingStart = directory.number
    nextLargeValueNumber = directory.nextLargeValueNumber
    changeCount = directory.changeCount
    changesAtCheckpoint = directory.changeCount
    clockJumps = directory.clockJumps
    checkpoint = place
    checkpointEnd = end
    let shared = writable()
    shared.names = try ListedTable(directory.names, in: generation)
    shared.openings = try ListedTable(directory.openings, in: generation)
    shared.largeValues = GrowingTable(directory.largeValues)
    shared.schema = directory.schema
    shared.schemaHistory = try ListedTable(directory.schemaHistory, in: generation)
    shared.index = HistoryIndex(directory)
    shared.gaps = directory.gaps
    shared.migrations = directory.migrations
    shared.extensions = directory.extensions
    shared.side = directory.side
    shared.lists = ListedReferences(directory)
  }

  /// Adds a transaction that follows the head. `record` is its first part's, `offset` where its
  /// unit begins, `largeValues` the large values before it. Throws `damage`, and changes nothing,
  /// if it does not follow.
  mutating func absorb(
    _ record: TransactionRecord, _ parts: TransactionParts, at offset: UInt64,
    largeValues: [LargeValueEntry]
  ) throws(LogError) {
    try check(record, at: offset)
    let openingID = openingID(of: record)
    let earlier = segmentMaximum
    segmentMaximum = max(segmentMaximum, record.timestamp)
    if !shared.index.covers(offset, entities: parts.entities),
      writable().index.note(
        firstNumber: record.number, at: offset, timestamp: record.timestamp, after: earlier,
        entities: parts.entities)
    {
      segmentMaximum = record.timestamp
    }
    shared.index.open?.add(parts.objects)
    if openingID != head.openingID { openingStart = record.number }
    if !record.isPlain { absorbDetails(of: record) }
    absorb(largeValues)
    changeCount += Int64(parts.changeCount)
    head = LogPosition(
      number: record.number, timestamp: record.timestamp,
      maximumTimestamp: max(head.maximumTimestamp, record.timestamp), openingID: openingID)
  }

  /// Adds what the items of a transaction's extension area say.
  private mutating func absorbItems(of record: TransactionRecord) {
    let items = record.extensions
    if items.isEmpty { return }
    if ExtensionArea.has(ExtensionArea.clockJump, in: items) { clockJumps += 1 }
    for name in MigrationCodec.names(in: items) where migrations.named(name) == nil {
      writable().migrations.append(MigrationRecord(name: name, number: record.number))
    }
  }

  /// Adds what a transaction records besides its changes.
  private mutating func absorbDetails(of record: TransactionRecord) {
    if record.lost != nil { openingStart = record.number }
    absorbItems(of: record)
    guard record.hasDefinitions else { return }
    let shared = writable()
    for name in record.newNames { shared.names.append(name) }
    if let lost = record.lost {
      shared.gaps.append(lost)
      for opening in lost.openings { shared.openings.append(opening) }
    }
    if let opening = record.newOpening { shared.openings.append(opening) }
    if !record.schemaChange.isEmpty {
      shared.schema.apply(record.schemaChange)
      shared.schemaHistory.append(
        SchemaHistoryEntry(number: record.number, change: record.schemaChange))
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
    let known = KnownNumbers(names: shared.names.count, openings: shared.openings.count)
    if let fault = known.faults(of: record).first {
      throw damage("transaction \(record.number) \(fault.text)")
    }
    for change in record.schemaChange {
      if let reason = change.misfit(shared.schema.entity(numbered: change.number)) {
        throw damage(reason)
      }
    }
  }

  private func openingID(of record: TransactionRecord) -> UInt64 {
    if record.opening == 0 { return 0 }
    let known = shared.openings.list
    let place = Int(record.opening) - 1
    // What is not known yet is among those that the record adds, as `check` has seen.
    return place < known.count ? known[place].id : record.openings[place - known.count].id
  }

  /// Adds large values.
  mutating func absorb(_ added: [LargeValueEntry]) {
    guard !added.isEmpty else { return }
    let shared = writable()
    for largeValue in added {
      shared.largeValues.append(largeValue)
      nextLargeValueNumber = max(nextLargeValueNumber, largeValue.number &+ 1)
    }
  }

  /// Adds announced features.
  mutating func announce(_ features: Features) {
    let all = announced.union(features)
    if all != announced { writable().announced = all }
  }

  /// Applies a side record. Returns false, and changes nothing, if a limit forbids it.
  @discardableResult
  mutating func absorb(_ record: SideRecord) -> Bool { writable().side.apply(record) }

  /// Makes up for a side record that cannot be read: all history is kept.
  mutating func absorbUnreadable(_ kind: FrameKind, at offset: UInt64, base: Int64) {
    let moment = head.timestamp
    writable().side.applyUnreadable(kind, at: offset, base: base, now: moment)
  }

  /// Adds a checkpoint that was read or written after the head; `end` is where its frame ends.
  mutating func absorb(checkpoint place: CheckpointReference, end: UInt64) {
    checkpoint = place
    checkpointEnd = end
    changesAtCheckpoint = changeCount
    writable().index.closeSegment(segmentMaximum)
  }

  /// Adopts from a checkpoint at the head what only a directory contains and no frame does: items
  /// that this version does not know.
  mutating func adopt(_ directory: CheckpointDirectory) {
    writable().extensions = directory.extensions
  }

  /// The directory of a checkpoint at the head. Long tables move entries into chunks.
  mutating func directory(
    schema: Schema, entities: [EntityDirectory], isBase: Bool,
    store: ChunkStore
  ) throws(LogError) -> CheckpointDirectory {
    var result = CheckpointDirectory(number: head.number)
    let shared = writable()
    result.maximumTimestamp = head.maximumTimestamp
    result.timestamp = head.timestamp
    result.openingID = head.openingID
    result.changeCount = changeCount
    result.clockJumps = clockJumps
    result.isBase = isBase
    result.schema = schema
    result.names = try shared.names.checkpoint(store)
    result.openings = try shared.openings.checkpoint(store)
    result.largeValues = try shared.largeValues.checkpoint(store)
    result.schemaHistory = try shared.schemaHistory.checkpoint(store)
    try shared.index.checkpoint(store, segmentMaximum, into: &result)
    result.gaps = shared.gaps
    result.migrations = shared.migrations
    result.nextLargeValueNumber = nextLargeValueNumber
    result.entities = try shared.lists.checkpoint(entities, store)
    result.previousCheckpoint = checkpoint
    result.extensions = ExtensionArea.lasting(shared.extensions)
    result.side = shared.side
    return result
  }
}

extension TransactionRecord {
  /// Whether the record defines names, openings, a gap, or schema changes.
  fileprivate var hasDefinitions: Bool {
    !newNames.isEmpty || newOpening != nil || lost != nil || !schemaChange.isEmpty
  }
}
