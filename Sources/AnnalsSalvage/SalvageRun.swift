import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// One salvage: copies the runs of readable transactions into a new file, and writes a gap for what
/// is missing between them.
///
/// Invariant: `state` is the state as of the last transaction written, or of the last gap.
package struct SalvageRun {
  let file: any StorageFile
  let source: FrameSource
  let survey: SalvageSurvey
  let states: DamagedStates
  let target: LogSalvage
  let salvaged: Timestamp
  var state = State(schema: Schema())
  var report = SalvageReport()
  /// Why the transactions between the base and the first readable one are missing; nil if none are.
  var baseDamage: String?
  /// The readable part of the state at a damaged base.
  var remains: State?
  var largeValues: SalvagedLargeValues
  /// Checks the transactions behind those written.
  var checks: TransactionChecks
  /// The collisions of unique keys in `state` that no gap could resolve; usually none.
  var collisions: Set<UniqueViolation> = []
  /// The transactions left out since the last gap; nil if there are none.
  var misfit: Misfit?
  /// How many more names may be made up, and openings for each gap.
  var spareNames = SalvageRun.greatestMadeUp
  /// The number of transactions that did not fit.
  var misfits = 0

  /// Begins a salvage of the file at `path` at the time `now`. `makeUUID` makes the store's UUID if
  /// the file's cannot be read.
  package init(
    _ file: any StorageFile, at path: String, _ source: FrameSource, _ survey: SalvageSurvey,
    to destination: String, in fileSystem: any FileSystem, now: Timestamp, makeUUID: () -> RawUUID
  ) throws {
    self.file = file
    self.source = source
    self.survey = survey
    states = DamagedStates(source: source)
    salvaged = now
    var base = try SalvagedBase.find(survey, states, file)
    largeValues = try SalvagedLargeValues(survey, base: base.state?.largeValues() ?? [:])
    if let state = base.state, try !largeValues.match(state) {
      base = SalvagedBase(damaged: base.number, remains: state)
    }
    var header: FileHeader
    if let known = survey.header {
      header = known
      header.generation = min(known.generation + 1, FormatLimits.maximumNumber)
      header.features.formUnion(survey.announced)
      header.features.formUnion(survey.side.features)
      if case .reading(let unknown) = header.features.permission {
        header.features.optional &= ~unknown
        report.notes.append("what only a newer version of Annals writes and reads is left out")
      }
      if case .damaged = survey.headerVerdict {
        report.notes.append("the header was damaged, and could be restored")
      }
    } else {
      let first = survey.runs.first?.firstTimestamp
      header = FileHeader(
        store: makeUUID(), generation: 1, base: 0, created: first ?? salvaged)
      header.features = survey.announced
      report.hasNewIdentity = true
    }
    header.base = base.number
    header.baseTimestamp = base.log?.position.maximumTimestamp ?? Timestamp(microseconds: 0)
    if base.number == 0 {
      header.baseTimestamp = Timestamp(microseconds: 0)
      header.prunedAt = nil
      header.prunedBy = ""
    }
    target = try LogSalvage(at: destination, like: path, header: header, in: fileSystem)
    checks = SalvageRun.checks(behind: target)
    try begin(base)
  }

  /// Writes the tombstones and the base.
  private mutating func begin(_ base: SalvagedBase) throws {
    baseDamage = base.damage
    remains = try base.remains.map(largeValues.removingMismatches(from:))
    if base.isRebuilt {
      report.notes.append(
        "the state at the base (transaction \(base.number)) was damaged; it is exact again, from a "
          + "later checkpoint")
    }
    guard let known = base.log, let whole = base.state else { return }
    state = whole
    // A store with a new UUID has no consumers that need them.
    var tombstones: [ChangeBatch] = []
    if !report.hasNewIdentity {
      let kept = try SalvagedTombstones.write(survey, base, &largeValues, from: source, to: target)
      tombstones = kept.mentioning
      if !kept.isWhole {
        report.notes.append("not all is known any more of deletes in the pruned history")
      }
    }
    try largeValues.write(before: base.offset, from: source, to: target)
    try largeValues.write(whole.largeValues(), from: source, to: target)
    for batch in tombstones { try largeValues.write(mentionedIn: batch, from: source, to: target) }
    try target.writeBase(known, schema: whole.schema) { try store(whole, $0) }
    renewChecks()
  }

  /// Checks that begin behind the last transaction written.
  private static func checks(behind target: LogSalvage) -> TransactionChecks {
    TransactionChecks(
      head: target.head, timestamp: target.maximumTimestamp, names: target.names,
      openings: target.openings, schema: target.schema)
  }

  /// Begins the checks anew behind the last transaction written.
  mutating func renewChecks() { checks = SalvageRun.checks(behind: target) }

  /// Stores the chunks of a state.
  private func store(_ state: State, _ chunks: ChunkStore) throws -> [EntityDirectory] {
    var image = state
    return try image.writeChunks(full: true, source: DamagedChunks(source: source)) {
      try chunks($0, $1, $2)
    }
  }

  /// Writes the new file and puts it in place. Call it once.
  package mutating func writeNewFile() throws -> SalvageReport {
    for run in survey.runs { try salvage(run) }
    try bridgeToEnd()
    if state.schema.entities.isEmpty {
      // Without a schema no checkpoint can refer to them.
      largeValues.abandonPending()
    } else {
      let newest = state
      try largeValues.writePending(from: source, to: target)
      try target.writeCheckpoint(schema: newest.schema) { try store(newest, $0) }
    }
    report.lostValues = largeValues.lostValues
    report.head = target.head
    report.hasProvenEnd = survey.provesEnd
    try report.note(state)
    // In a store with a new UUID no consumer has seen anything.
    if !report.hasNewIdentity {
      try target.append(survey.side)
    }
    try target.putInPlace()
    return report
  }

  // MARK: Gaps

  /// Writes the gap between the last transaction written and a run.
  ///
  /// Throws `TransactionMisfit`, and writes no gap, if no state fits the run.
  mutating func bridge(to run: SalvageSurvey.Run) throws {
    let text = reason(before: run)
    try useCheckpoints(upTo: run.first - 1, text)
    guard target.head < run.first - 1 else { return }
    var gap = SalvageGap(first: target.head + 1, last: run.first - 1, reason: text)
    gap.before = run.firstTimestamp
    gap.directory = try laterDirectory(than: gap.last)
    let exact = try stateBefore(run)
    var inference = GapInference(
      from: remains ?? state,
      schema: try exact?.schema
        ?? gap.directory.flatMap { try states.schema(at: gap.last, in: $0) })
    let known = try knownNames(of: gap)
    var unit = run.firstOffset
    try run.forEachBatch(in: file) { batch, offset in
      if batch.transactions.first?.part == 0 { unit = offset }
      inference.scan(batch)
      try requireRoom(for: inference, gap, known, batch, at: unit)
      if let (number, reason) = largeValues.fault(in: batch) {
        throw TransactionMisfit(number: number, reason: reason, offset: unit)
      }
    }
    gap.names = inference.names.count
    gap.openings = inference.openings.count
    gap.largeValueLimit = run.firstOffset
    if let exact {
      gap.isExact = true
      return try write(gap, leadingTo: exact)
    }
    inference.defineMissing()
    try run.forEachBatch(in: file) { batch, offset in
      if batch.transactions.first?.part == 0 { unit = offset }
      do {
        try inference.replay(batch)
      } catch var misfit as TransactionMisfit {
        misfit.offset = unit
        throw misfit
      }
    }
    gap.stale = try inference.countStaleObjects(of: entities(changedBy: gap))
    if inference.displaced > 0 {
      report.notes.append(
        "\(inference.displaced) objects whose unique keys others have after \(gap.text) were "
          + "taken to be deleted in it")
    }
    if inference.cleared > 0 {
      report.notes.append(
        "unique keys that others have after \(gap.text) were taken to have changed in it, of "
          + "objects that are still there: nothing tells to what, and \(inference.cleared) are nil")
    }
    try write(gap, leadingTo: inference.target)
  }

  /// Why the transactions before a run are missing, in words.
  private func reason(before run: SalvageSurvey.Run) -> String {
    if let baseDamage { return baseDamage }
    let place = run.lostBytes.isEmpty ? "" : " at offset \(run.lostBytes.lowerBound)"
    let own = run.reason.isEmpty ? nil : run.reason + place
    let reasons = [misfit?.text, own].compactMap { $0 }
    return reasons.isEmpty ? "they are not there" : reasons.joined(separator: "; ")
  }

  /// Writes the checkpoints and the gap behind the last run.
  private mutating func bridgeToEnd() throws {
    let place = survey.rest.map { " at offset \($0.bytes.lowerBound)" } ?? ""
    let reason =
      baseDamage ?? misfit?.text ?? survey.rest.map { $0.reason + place } ?? "they are not there"
    let end = max(survey.slotHead, misfit?.last ?? 0)
    try useCheckpoints(upTo: .max, reason)
    report.rest = survey.rest(behind: max(target.head, end))
    guard target.head < end else { return }
    let more = report.rest == nil ? "" : "; more may be missing after them"
    var gap = SalvageGap(first: target.head + 1, last: end, reason: reason + more)
    var left = remains ?? state
    try left.dropCollisions()
    gap.stale = try allObjects(of: left)
    try write(gap, leadingTo: left)
  }

  /// Writes an exact gap up to each readable checkpoint of a lost transaction.
  private mutating func useCheckpoints(upTo limit: Int64, _ reason: String) throws {
    for place in checkpoints where place.number > target.head && place.number <= limit {
      guard let (directory, state) = try wholeState(at: place) else { continue }
      var gap = SalvageGap(first: target.head + 1, last: place.number, reason: reason)
      gap.directory = directory
      gap.isExact = true
      gap.before = nil
      gap.names = Int64(try source.entries(of: directory.names)?.count ?? 0)
      gap.openings = Int64(try source.entries(of: directory.openings)?.count ?? 0)
      gap.largeValueLimit = place.offset
      try write(gap, leadingTo: state)
    }
  }

  /// The checkpoints by number.
  private var checkpoints: [SalvageSurvey.Checkpoint] {
    survey.checkpoints.sorted { $0.number < $1.number }
  }

  /// The state of a checkpoint, with its directory; nil if it is not whole.
  private func wholeState(
    at place: SalvageSurvey.Checkpoint
  ) throws -> (CheckpointDirectory, State)? {
    guard let directory = try source.directory(at: place.offset),
      let loaded = try states.load(directory), loaded.isWhole, try largeValues.match(loaded.state)
    else { return nil }
    return (directory, loaded.state)
  }

  /// The exact state before a run, from a checkpoint within it by undoing; nil if none can be read,
  /// or a transaction does not fit.
  private func stateBefore(_ run: SalvageSurvey.Run) throws -> State? {
    for place in checkpoints where place.number >= run.first && place.number <= run.last {
      guard let (directory, state) = try wholeState(at: place) else { continue }
      do {
        return try states.undo(state, directory, to: run.first - 1, through: run, in: file)
      } catch is TransactionMisfit {
        return nil
      }
    }
    return nil
  }

  /// The directory of the first readable checkpoint at or behind a transaction; nil if there is
  /// none.
  private func laterDirectory(than number: Int64) throws -> CheckpointDirectory? {
    for place in checkpoints where place.number >= number {
      if let directory = try source.directory(at: place.offset) { return directory }
    }
    return nil
  }

  /// The entities that a gap changed, from the history index of a later checkpoint; nil if unknown.
  private func entities(changedBy gap: SalvageGap) throws -> Set<EntityNumber>? {
    guard let directory = gap.directory, directory.number >= gap.last,
      let entries = try source.entries(of: directory.historyIndex), let first = entries.first,
      first.firstNumber <= gap.first
    else { return nil }
    var result: Set<EntityNumber> = []
    for (index, entry) in entries.enumerated() where entry.firstNumber <= gap.last {
      let end = index + 1 < entries.count ? entries[index + 1].firstNumber : .max
      if end > gap.first { result.formUnion(entry.entities) }
    }
    return result
  }

  private func allObjects(of state: State) throws -> [LostTransactions.StaleCount] {
    state.schema.entities.filter { !$0.isRemoved && state.count(of: $0.number) > 0 }.map {
      LostTransactions.StaleCount(
        entity: $0.number, objects: Int64(state.count(of: $0.number)))
    }
  }

  /// Writes a gap record whose changes lead to `newState`, which becomes `state`. If one record
  /// cannot hold all lost names, others come before it, each for one of the first lost numbers.
  private mutating func write(_ gap: SalvageGap, leadingTo newState: State) throws {
    remains = nil
    baseDamage = nil
    misfit = nil
    let known = try knownNames(of: gap)
    var next = gap
    while true {
      var lost = LostTransactions(
        first: next.first, last: gap.last, after: target.maximumTimestamp, salvaged: salvaged)
      lost.before = gap.before
      lost.isExact = gap.isExact
      lost.stale = gap.stale
      lost.reason = gap.reason
      var record = TransactionRecord(number: gap.last, timestamp: target.maximumTimestamp)
      let isLast = next.first == gap.last
      if addNames(to: &record, &lost, gap, known, isLast: isLast) || isLast {
        record.lost = lost
        try write(record, gap, leadingTo: newState)
        lost.first = gap.first
        report.lost.append(lost)
        return
      }
      lost.last = next.first
      lost.isExact = false
      record.number = next.first
      record.lost = lost
      try target.append(gap: record, changes: ChangeBatch())
      next.first += 1
    }
  }

  private mutating func write(
    _ gapRecord: TransactionRecord, _ gap: SalvageGap, leadingTo known: State
  ) throws {
    var newState = known
    newState.addRemovedDefinitions(of: state.schema)
    newState.adoptNextRows(of: state)
    var record = gapRecord
    record.schemaChange = newState.schema.entities.filter {
      state.schema.entity(numbered: $0.number) != $0
    }.map(EntityChange.init)
    let made = target.migrations
    let lost = (gap.directory?.migrations ?? []).filter {
      $0.number <= gap.last && made.named($0.name) == nil
    }
    MigrationCodec.append(lost.map(\.name), to: &record.extensions)
    var old = state
    if !record.schemaChange.isEmpty { old.changeSchema(record.schemaChange) }
    let changes = try ChangeBatch(from: old, to: newState)
    // Lost values come before intact ones with greater numbers.
    largeValues.noteReferences(in: changes)
    try largeValues.write(before: gap.largeValueLimit, from: source, to: target)
    try largeValues.write(mentionedIn: changes, from: source, to: target)
    try target.append(gap: record, changes: changes)
    state = newState
    renewChecks()
    collisions = try Set(state.collisions())
  }
}
