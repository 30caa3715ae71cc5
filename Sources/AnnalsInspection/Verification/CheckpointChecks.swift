import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Checks checkpoints: every chunk, large value and frame that a directory names must be there, and
/// be what the directory says.
///
/// Keeps the length and crc32 of each chunk frame, so that a reference costs a look-up. Reads a
/// chunk a second time, to decode it, when the first directory refers to it.
struct CheckpointChecks {
  /// An intact chunk frame.
  struct Chunk {
    var length, checksum: UInt32
    /// Its role according to a directory, and what it holds; nil until it is decoded.
    var role: ChunkRole?
    var contents: ChunkContents?
    /// Why it does not decode in other roles.
    var faults: [ChunkRole: DecodeFault] = [:]
  }

  private(set) var chunks: [UInt64: Chunk] = [:]
  /// The transactions of the valid directories, by offset.
  private(set) var numbers: [UInt64: Int64] = [:]
  /// The base's directory and the newest other one.
  private(set) var base: CheckpointDirectory?
  private(set) var newest: CheckpointDirectory?
  /// The offset of the newest one; empty if there is none.
  private(set) var newestOffset: [UInt64] = []
  /// The first chunk with an erased value.
  private(set) var firstErasure: UInt64?
  /// The first chunk with a decimal or a day, or directory that defines an attribute of them.
  private(set) var firstDecimalOrDay: UInt64?
  /// The chunks of tables that were compared with the transactions.
  var comparedTables: Set<UInt64> = []
  /// The frames in history indexes, and those behind them in their units, with the units' first
  /// transactions; 0 where there is none.
  private var indexed: [UInt64: Int64] = [:]
  let header: FileHeader?

  init(header: FileHeader?) { self.header = header }

  /// The directory that a finding is about.
  struct Place {
    var offset: UInt64
    var isBase: Bool
    var severity: Finding.Severity { isBase ? .error : .warning }
    /// The remedy for what cannot be read, and for contradictions.
    var remedy: String { isBase ? Remedy.salvage : Remedy.compact }
    var remedyOfContradictions: String { isBase ? Remedy.salvage : Remedy.smallest }

    /// Reports what the directory here has in contradiction to the rest of the file, as the end of
    /// a sentence about the checkpoint.
    func report(_ what: String, of directory: CheckpointDirectory, to log: inout FindingLog) {
      log.append(
        Finding(
          severity, .checkpoint, at: offset,
          "the checkpoint of transaction \(directory.number) \(what)",
          remedy: remedyOfContradictions))
    }
  }

  /// Adds the intact chunk frame at `offset`. `checksum` is the crc32 of its payload.
  mutating func add(chunkOf length: Int, checksum: UInt32, at offset: UInt64) {
    chunks[offset] = Chunk(
      length: UInt32(truncatingIfNeeded: length), checksum: checksum, role: nil)
  }

  /// Checks the intact directory at `offset`.
  mutating func check(
    _ directory: CheckpointDirectory, at offset: UInt64, behind transactions: TransactionChecks,
    largeValues: inout LargeValueChecks, in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    let place = Place(offset: offset, isBase: directory.isBase)
    numbers[offset] = directory.number
    checkFacts(directory, at: place, behind: transactions, largeValues: largeValues, &log)
    try checkTables(directory, at: place, largeValues: &largeValues, in: &walk, &log)
    try compareTables(directory, at: place, behind: transactions, in: &walk, &log)
    try checkState(directory, at: place, largeValues: &largeValues, in: &walk, &log)
    try checkProjections(directory, at: offset, largeValues: &largeValues, in: &walk, &log)
    if directory.isBase {
      base = directory
    } else {
      newest = directory
      newestOffset = [offset]
    }
  }

  /// Checks that the checkpoints that the header and the slots name were there.
  func checkReferences(from slots: [RootSlot], end: LogEnd, _ log: inout FindingLog) {
    if let header, header.baseCheckpointOffset != 0 {
      let found = numbers[header.baseCheckpointOffset]
      if found == nil || found != header.base || base == nil {
        log.error(
          .checkpoint, at: header.baseCheckpointOffset,
          "the state at the base (transaction \(header.base)) is not there")
      }
    }
    for slot in slots where slot.checkpointOffset != 0 && slot.checkpointOffset < end.end {
      guard numbers[slot.checkpointOffset] != slot.checkpointNumber else { continue }
      log.warning(
        .slot, at: FormatLimits.slotOffsets[slot.index],
        "root slot \(slot.index) names a checkpoint of transaction \(slot.checkpointNumber) at "
          + "\(slot.checkpointOffset), which is not there; opening does without it",
        remedy: Remedy.compact)
    }
  }
}

// What a directory says of the log.
extension CheckpointChecks {
  private func checkFacts(
    _ directory: CheckpointDirectory, at place: Place, behind transactions: TransactionChecks,
    largeValues: LargeValueChecks, _ log: inout FindingLog
  ) {
    func report(_ what: String) { place.report(what, of: directory, to: &log) }
    if place.isBase, let header, place.offset != header.baseCheckpointOffset {
      report("says it is the base, which the header has at \(header.baseCheckpointOffset)")
    }
    if let previous = directory.previousCheckpoint, numbers[previous.offset] != previous.number {
      report("names one of \(previous.number) at \(previous.offset) before it, which is not there")
    }
    if directory.nextLargeValueNumber <= largeValues.greatestNumber {
      report("gives \(directory.nextLargeValueNumber) to the next large value, though it is used")
    }
    if place.isBase, let header {
      if directory.maximumTimestamp != header.greatestTimestamp {
        report(
          "has \(directory.maximumTimestamp) as the greatest timestamp, and the header "
            + "\(header.greatestTimestamp)")
      }
      if directory.changeCount != 0 {
        report("counts \(directory.changeCount) changes, though it is the base")
      }
    }
    guard transactions.isComplete, !place.isBase, let head = transactions.head else { return }
    if directory.number > head { report("stands where the log has only \(head)") }
    guard directory.number == head else { return }
    if directory.schema != transactions.vocabulary.schema {
      report("has another schema than the log")
    }
    let vocabulary = transactions.vocabulary
    if directory.names.count != UInt64(vocabulary.names.count) {
      report("has another count of names than the log")
    }
    if directory.openings.count != UInt64(vocabulary.openings.count) {
      report("has another count of openings than the log")
    }
    let changes = transactions.changeCount &+ (base?.changeCount ?? 0)
    if directory.changeCount != changes {
      report("counts \(directory.changeCount) changes; the log has \(changes)")
    }
    let jumps = transactions.clockJumps &+ (base?.clockJumps ?? 0)
    if directory.clockJumps != jumps {
      report("counts \(directory.clockJumps) jumps of the clock; the log has \(jumps)")
    }
    if directory.migrations != transactions.migrations {
      report("lists other migrations than the log has")
    }
    if let last = transactions.last, directory.timestamp != last.timestamp {
      report("has another timestamp (\(directory.timestamp)) than the transaction")
    }
    if let last = transactions.last,
      directory.openingID != vocabulary.opening(last.opening)?.id ?? 0
    {
      report("is of another opening than the transaction")
    }
    if let greatest = transactions.maximumTimestamp, directory.maximumTimestamp != greatest {
      report("has \(directory.maximumTimestamp) as the greatest timestamp, which is \(greatest)")
    }
  }

  private mutating func checkTables(
    _ directory: CheckpointDirectory, at place: Place, largeValues: inout LargeValueChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    for (chunks, role) in directory.tables {
      try check(chunks, as: role, at: place, largeValues: &largeValues, in: &walk, &log)
    }
    for entry in directory.largeValues.entries { largeValues.check(entry, in: place.offset, &log) }
    try check(directory.historyIndex.entries, at: place, in: &walk, &log)
    for entry in directory.segmentObjects?.table.entries ?? [] {
      do throws(DecodeFault) {
        _ = try entry.ranges()
      } catch {
        log.warning(
          .index, at: place.offset, "the objects of a segment cannot be read: \(error)",
          remedy: Remedy.smallest)
      }
    }
  }

  private mutating func check(
    _ entries: [HistoryIndexEntry], at place: Place, in walk: inout FileWalk,
    _ log: inout FindingLog
  ) throws(StorageError) {
    var last: HistoryIndexEntry?
    for entry in entries {
      try check(entry, behind: last, at: place, in: &walk, &log)
      last = entry
    }
  }

  private mutating func check(
    _ entry: HistoryIndexEntry, behind last: HistoryIndexEntry?, at place: Place,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    func report(_ what: String) {
      log.warning(
        .index, at: place.offset,
        "the history index has transaction \(entry.firstNumber) at \(entry.offset), \(what)",
        remedy: Remedy.smallest)
    }
    if let last,
      entry.firstNumber <= last.firstNumber || entry.offset <= last.offset
    {
      report("out of order")
    }
    let number = try walk.frames?.firstNumber(ofUnitAt: entry.offset, &indexed) ?? 0
    if number != entry.firstNumber {
      report(number == 0 ? "where no transaction begins" : "where \(number) is")
    }
  }
}

// What a directory says of the state.
extension CheckpointChecks {
  private mutating func checkState(
    _ directory: CheckpointDirectory, at place: Place, largeValues: inout LargeValueChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    var lookup = SchemaLookup()
    for entity in directory.schema.entities { lookup.learn(EntityChange(entity)) }
    func report(_ what: String) { place.report(what, of: directory, to: &log) }
    for state in directory.entities {
      let entity = state.entity
      if !lookup.has(entity) { report("has entity \(entity), which its schema does not have") }
      let rows = state.rows.reduce(Int64(0)) { $0 + Int64($1.count) }
      if rows != state.liveCount {
        report("counts \(state.liveCount) objects of entity \(entity) in rows of \(rows)")
      }
      for (list, role) in state.lists {
        try check([list], as: role, at: place, largeValues: &largeValues, in: &walk, &log)
      }
      try check(
        state.rows, as: .rows(entity), at: place, largeValues: &largeValues, in: &walk, &log)
      for column in state.columns {
        if !lookup.has(column.property, of: entity) {
          report("has property \(column.property) of entity \(entity), unknown to its schema")
        }
        let role = ChunkRole.column(entity, column.property)
        try check(column.chunks, as: role, at: place, largeValues: &largeValues, in: &walk, &log)
      }
      for index in state.indexes {
        let entries = index.chunks.reduce(Int64(0)) { $0 + Int64($1.reference.count) }
        if entries != index.count {
          report("counts \(index.count) entries in index \(index.rule) of \(entries)")
        }
        let references = index.chunks.map(\.reference)
        var first: Int64 = 0
        for reference in references {
          if reference.first != first {
            report(
              "counts \(reference.first) entries of index \(index.rule) before its chunk at "
                + "\(reference.offset); they are \(first)")
            break
          }
          first += Int64(reference.count)
        }
        let role = ChunkRole.index(entity, index.rule)
        try check(references, as: role, at: place, largeValues: &largeValues, in: &walk, &log)
      }
    }
  }

  mutating func check(
    _ references: [ChunkReference], as role: ChunkRole, at place: Place,
    largeValues: inout LargeValueChecks, in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) {
    for reference in references {
      let fault = try fault(
        of: reference, as: role, at: place, largeValues: &largeValues, in: &walk, &log)
      guard let fault else { continue }
      let isNewer = chunks[reference.offset]?.faults[role]?.isNewer == true
      log.append(
        Finding(
          isNewer ? .error : place.severity, .chunk, at: reference.offset,
          "the checkpoint at \(place.offset) has \(role) here, from \(reference.first) on: "
            + fault,
          remedy: isNewer ? Remedy.newerVersion : place.remedy))
    }
  }

  /// What is wrong with the chunk that a reference names; nil if nothing is.
  private mutating func fault(
    of reference: ChunkReference, as role: ChunkRole, at place: Place,
    largeValues: inout LargeValueChecks,
    in walk: inout FileWalk, _ log: inout FindingLog
  ) throws(StorageError) -> String? {
    guard let chunk = chunks[reference.offset] else { return "there is no whole chunk" }
    guard chunk.length == reference.length, chunk.checksum == reference.checksum else {
      return "it is another chunk: of \(chunk.length) bytes with crc32 \(Hex.text(chunk.checksum))"
    }
    if let known = chunk.role, let contents = chunk.contents {
      // Decoded before: a chunk is read once, however many directories name it.
      return known == role
        ? contents.contradiction(to: reference, as: role) : "it is the chunk of \(known)"
    }
    if let fault = chunk.faults[role] { return "\(fault)" }
    guard let payload = try walk.frames?.chunk(reference) else {
      return "there is no whole chunk"
    }
    let result = payload.withUnsafeBytes { bytes in
      Result { () throws(DecodeFault) in
        try ChunkContents(bytes, as: role, checkingTexts: true)
      }
    }
    switch result {
    case .failure(let fault):
      chunks[reference.offset]?.faults[role] = fault
      return "\(fault)"
    case .success(let contents):
      chunks[reference.offset]?.role = role
      chunks[reference.offset]?.contents = contents.outline
      if firstErasure == nil, contents.hasErased { firstErasure = reference.offset }
      if firstDecimalOrDay == nil, contents.hasDecimalOrDay { firstDecimalOrDay = reference.offset }
      if contents.hasMalformedText {
        log.warning(
          .chunk, at: reference.offset,
          "\(role) has a text here, from \(reference.first) on, that is not UTF-8",
          remedy: Remedy.malformedText)
      }
      for value in contents.largeValues {
        largeValues.checkReference(to: value, from: reference.offset, &log)
      }
      for entry in contents.largeValueEntries { largeValues.check(entry, in: place.offset, &log) }
      try check(contents.index, at: place, in: &walk, &log)
      return contents.contradiction(to: reference, as: role)
    }
  }
}
