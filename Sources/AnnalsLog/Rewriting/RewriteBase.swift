import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// The base of a rewritten file: its state, and what the log knows as of it.
struct RewriteBase {
  /// The number of the base.
  var number: Int64
  /// Where copying the old file's history begins, and the large values before that.
  var start: ChainPoint
  /// Large values with lower numbers were copied with the base, as far as they are needed.
  var firstLargeValue: UInt64 = 0

  /// The large values in the state of a new base, and those that tombstones refer to.
  var largeValuesOfState: [UInt64] = []

  /// Writes the plan's base into the target; `view` is the old file's. Remembers deletes of
  /// transactions after `least` as tombstones.
  static func write(
    _ plan: RewritePlan, of view: LogView, rememberingAfter least: Int64?,
    into target: RewriteTarget, _ erasure: HistoryErasure?
  ) throws(LogError) -> RewriteBase {
    switch plan.base {
    case .keep:
      if plan.decodesState { try view.requireBaseState() }
      return try keep(view, rememberingAfter: least, into: target)
    // The state at 0 is empty, so the file needs no base.
    case .at(0, _, _, _, _):
      return RewriteBase(number: 0, start: ChainPoint(beginningOf: view.file.header))
    case .at(let number, let timestamp, _, _, let image):
      return try make(
        at: number, through: plan.through ?? .max, maximumTimestamp: timestamp, of: view,
        rememberingAfter: least, into: target, erasure, image: image)
    }
  }

  /// Copies the old file's base.
  private static func keep(
    _ view: LogView, rememberingAfter least: Int64?, into target: RewriteTarget
  ) throws(LogError) -> RewriteBase {
    let header = view.file.header
    guard header.baseCheckpointOffset != 0 else {
      return RewriteBase(number: header.base, start: ChainPoint(beginningOf: header))
    }
    _ = try TombstoneWriter.write(after: least, of: view, upTo: header.base, into: target)
    let (frame, directory) = try view.file.directory(at: header.baseCheckpointOffset)
    let old = try LogTables(
      directory, at: CheckpointReference(offset: header.baseCheckpointOffset, number: header.base),
      end: 0, in: view.file)
    var largeValues: [LargeValueEntry] = []
    for largeValue in try old.largeValues.all(in: view.file) {
      largeValues.append(try target.copy(largeValue: largeValue, from: view))
    }
    let base = LogBase(directory, names: old.names.list, openings: old.openings.list)
    let tables = LogTables(base, schema: directory.schema, largeValues: largeValues)
    let entities = try target.copy(directory.entities, from: view.file)
    let place = CheckpointReference(offset: header.baseCheckpointOffset, number: header.base)
    let projections = try target.copy(
      view.file.savedProjections(at: place), upTo: header.base, from: view.file)
    try target.writeBase(
      tables, schema: directory.schema, entities: entities, projections: projections)
    return RewriteBase(
      number: header.base,
      start: ChainPoint(
        offset: header.baseCheckpointOffset + frame.frameLength,
        previousChecksum: frame.checksum, previousOffset: header.baseCheckpointOffset))
  }

  /// Makes the state at a later transaction the new base.
  private static func make(
    at number: Int64, through: Int64, maximumTimestamp: Timestamp, of view: LogView,
    rememberingAfter least: Int64?, into target: RewriteTarget, _ erasure: HistoryErasure?,
    image: (ChunkStore) throws -> BaseImage
  ) throws(LogError) -> RewriteBase {
    guard number >= view.base, number <= view.head.number else {
      throw .outside(base: view.base, head: view.head.number)
    }
    let tombstoneLargeValues = try TombstoneWriter.write(
      after: least, of: view, upTo: number, into: target, erasure)
    // The chunks come before the large values: storing them finds out which of those the state
    // refers to.
    let made = try wrapping { try image(target.store(chunk:first:count:)) }
    var kept = try KeptTables(view, base: number, through: through, erasure)
    kept.referred.formUnion(made.largeValues)
    kept.referred.formUnion(tombstoneLargeValues)
    var largeValues: [LargeValueEntry] = []
    for index in 0..<kept.largeValueCount {
      let largeValue = try view.tables.largeValues.entry(at: index, in: view.file)
      guard kept.referred.contains(largeValue.number) else { continue }
      largeValues.append(try target.copy(largeValue: largeValue, from: view))
    }
    let missing = Set(made.largeValues).subtracting(largeValues.map(\.number)).min()
    if let missing { throw .largeValueMissing(missing) }
    var base = LogBase(position: try view.position(of: number))
    base.position.maximumTimestamp = maximumTimestamp
    base.names = Array(view.names.prefix(kept.nameCount))
    base.openings = Array(view.openings.prefix(kept.openingCount))
    base.nextLargeValueNumber = kept.nextLargeValueNumber
    base.clockJumps = try view.clockJumps(upTo: number)
    base.gaps = view.gaps.filter { $0.last <= number }
    base.migrations = view.migrations.filter { $0.number <= number }
    base.extensions = try view.checkpoint(atOrBefore: number)?.extensions ?? []
    let tables = LogTables(base, schema: made.schema, largeValues: largeValues)
    // Projections may contain what is erased.
    let projections =
      erasure == nil ? try target.copy(view.savedProjections, upTo: number, from: view.file) : []
    try target.writeBase(
      tables, schema: made.schema, entities: made.entities, projections: projections)
    return RewriteBase(
      number: number, start: kept.start, firstLargeValue: kept.nextLargeValueNumber,
      largeValuesOfState: made.largeValues + tombstoneLargeValues)
  }
}

/// The log's tables as of a transaction, and the earlier large values that later transactions refer
/// to.
private struct KeptTables {
  var nameCount: Int
  var openingCount: Int
  /// How many large values were stored before the first transaction to keep.
  var largeValueCount: Int
  var nextLargeValueNumber: UInt64
  /// The large values that the transactions to keep refer to, by number.
  var referred: Set<UInt64> = []
  /// The beginning of the segment with the first transaction to keep.
  var start: ChainPoint

  /// Scans the history after `base`, as far as needed.
  ///
  /// With no transaction to keep, every large value counts as stored before.
  init(
    _ view: LogView, base: Int64, through: Int64, _ erasure: HistoryErasure?
  ) throws(LogError) {
    nameCount = view.names.count
    openingCount = view.openings.count
    largeValueCount = view.tables.largeValues.count
    nextLargeValueNumber = view.tables.nextLargeValueNumber
    start = ChainPoint(offset: view.end, previousChecksum: nil)
    guard base < min(view.head.number, through) else { return }
    let entry = try view.index.entry(at: view.segment(of: base + 1), in: view.file)
    start = ChainPoint(offset: entry.offset, previousChecksum: nil)
    let first = try KeptTables.beginning(of: base + 1, from: start, in: view)
    largeValueCount = try view.tables.largeValues.partitioningIndex(in: view.file) {
      $0.offset >= first
    }
    if largeValueCount == 0 {
      nextLargeValueNumber = 1
    } else {
      nextLargeValueNumber =
        try view.tables.largeValues.entry(at: largeValueCount - 1, in: view.file).number + 1
    }
    // Large values dropped by an earlier prune had numbers too.
    nextLargeValueNumber = max(
      nextLargeValueNumber, try view.baseDirectory()?.nextLargeValueNumber ?? 1)
    try scan(after: base, in: view, erasure)
  }

  /// Where the unit with a transaction begins. If the unit also holds earlier ones, whose large
  /// values the base may need: where its record begins, after the large values.
  private static func beginning(
    of number: Int64, from start: ChainPoint, in view: LogView
  ) throws(LogError) -> UInt64 {
    var reader = UnitReader(FrameWalk(view.file, from: start, limit: view.end))
    var batch = ChangeBatch()
    while true {
      switch try reader.next() {
      case .record(let frame, let unitStart, _):
        batch.removeAll()
        try reader.walk.decode(frame, into: &batch)
        guard let last = batch.transactions.last, last.number >= number else { continue }
        let isFirst = batch.transactions.first?.firstNumber == number
        return isFirst ? unitStart : frame.offset
      case .checkpoint, .skipped: continue
      case .end:
        throw .damage(at: start.offset, "transaction \(number) is not here")
      }
    }
  }

  private mutating func scan(
    after base: Int64, in view: LogView, _ erasure: HistoryErasure?
  ) throws(LogError) {
    // An erasure without targets erases nothing.
    let erasure = erasure ?? HistoryErasure(Erasure([], reason: ""), through: 0, lengths: [:])
    var hasNames = false
    var hasOpenings = false
    var cursor = try view.history(after: base, through: view.head.number)
    var batch = ChangeBatch()
    while try cursor.next(into: &batch) {
      for record in batch.transactions where record.part == 0 {
        if !hasNames, !record.newNames.isEmpty {
          nameCount = Int(record.firstNewName) - 1
          hasNames = true
        }
        if !hasOpenings, let opening = record.openings.first {
          openingCount = Int(opening.number) - 1
          hasOpenings = true
        }
      }
      if largeValueCount > 0 {
        // A block also holds changes of other transactions.
        for record in batch.transactions {
          erasure.noteLargeValues(of: record, in: batch, into: &referred)
        }
      }
      if hasNames, hasOpenings, largeValueCount == 0 { return }
    }
  }
}
