import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// Rewrites a store's file, and puts the new file in place of the old one or makes another store of
/// it: compaction, pruning, replay.
///
/// `copy` copies the existing log without lock or mutex, beside writers. `putInPlace`, a writer's
/// call, copies what was appended meanwhile and puts the complete and synced file in place. Nothing
/// is changed until then, and whatever happens leaves either the old file or the new one, whole.
/// Used by one thread at a time. Releasing it removes an unfinished file.
///
/// Memory: one part of a transaction, and the log's tables; not the history.
package final class LogRewriter {
  private let log: LogFile
  private let plan: RewritePlan
  /// What is copied first; all of it belongs to one generation of the file.
  private let view: LogView
  /// The right to replace the file; nil for another store.
  private let claim: RewriteClaim?
  private var target: RewriteTarget?
  private var sealer: HistorySealer?
  /// How far the old file was copied.
  private var point: ChainPoint
  private let generation: LogGeneration
  private let destination: String
  /// The checkpoint to carry over; nil after it was copied, or if none is wanted.
  private var checkpoint: CheckpointReference?
  /// Large values that no transaction or checkpoint copied so far has claimed.
  private var waiting: [LargeValueEntry] = []
  /// The least that blocking consumers had read when the base was written; nil if there were none.
  private var least: Int64?

  fileprivate init(
    _ log: LogFile, _ plan: RewritePlan, of view: LogView, under claim: RewriteClaim?
  ) throws(LogError) {
    self.log = log
    self.plan = plan
    self.view = view
    try view.features.requireWritable()
    generation = view.file
    point = ChainPoint(beginningOf: generation.header)
    switch plan.destination {
    case .replace:
      self.claim = if let claim { claim } else { try log.claimRewrite() }
      destination = log.path
    case .new(let path, _, _):
      self.claim = nil
      destination = try log.fileSystem.pathOfNewFile(path)
    }
  }

  deinit { cancel() }

  /// Removes the unfinished file, and gives up the claim.
  package func cancel() {
    target?.temporary.discard()
    target = nil
    sealer = nil
    claim?.release()
  }

  /// Copies everything up to the view's head. Throws `busy` or `occupied` if the name of another
  /// store's unfinished file is taken, `storage` if there is no space, `damage` if what is to be
  /// copied is damaged; and what a closure of the plan throws. Then nothing is left of the new
  /// file.
  package func copy() throws(LogError) {
    do throws(LogError) {
      try copy(view)
    } catch {
      cancel()
      throw error
    }
  }

  private func copy(_ view: LogView) throws(LogError) {
    let first = target == nil
    if first {
      let target = try makeTarget(view)
      self.target = target
      least = leastWaitedFor
      var erasure = plan.erasure
      try erasure?.findKeptLargeValues(in: view)
      let base = try RewriteBase.write(
        plan, of: view, rememberingAfter: least, into: target, erasure)
      erasure?.keep(base.largeValuesOfState)
      point = base.start
      sealer = HistorySealer(
        target, from: view, behind: base, through: plan.through ?? .max, packing: plan.packing,
        erasing: erasure, leavesLog: plan.leavesLog(of: generation.header.store))
      if plan.checkpoint, let newest = view.tables.checkpoint, newest.number > base.number,
        newest.number <= plan.through ?? .max,
        newest.offset != generation.header.baseCheckpointOffset
      {
        checkpoint = newest
      }
    }
    sealer?.view = view
    try copyUnits(upTo: view.end)
  }

  /// The least that blocking consumers have read; nil if there are none.
  private var leastWaitedFor: Int64? {
    guard case .replace = plan.destination else { return nil }
    let consumers = log.consumers
    guard !consumers.isEmpty, let clock = plan.clock else { return nil }
    return consumers.leastWaitedFor(at: clock(), in: log.view)
  }

  /// Whether the beginning of the new file has become outdated: others have announced features, or
  /// a new blocking consumer needs more tombstones.
  private func isOvertaken(by view: LogView) -> Bool {
    guard let target else { return false }
    return !target.has(features(of: view))
      || leastWaitedFor ?? .max < min(least ?? .max, target.header.base)
  }

  /// The features of the file, and those that it uses without having announced them.
  private func features(of view: LogView) -> Features {
    let result = view.features
    guard case .replace = plan.destination else { return result }
    return result.union(log.side.features)
  }

  private func makeTarget(_ view: LogView) throws(LogError) -> RewriteTarget {
    let old = view.file.header
    var header = old
    header.features = features(of: view)
    header.baseCheckpointOffset = 0
    switch plan.destination {
    case .replace:
      guard old.generation < FormatLimits.writerNumberLimit else {
        throw .numbersSpent("the generation of the file")
      }
      header.generation = old.generation + 1
    case .new(_, let store, let created):
      header = FileHeader(store: store, generation: 1, base: old.base, created: created)
      header.baseTimestamp = old.baseTimestamp
      header.features = view.features
      // Consumers of this store do not read the other one.
      let none = FrameKind.sideRecords.reduce(Features.tombstones) { $0.union($1.feature) }
      header.features.optional &= ~none.optional
    }
    if case .at(let number, let timestamp, let prunedAt, let prunedBy, _) = plan.base {
      header.base = number
      header.baseTimestamp = number == 0 ? Timestamp(microseconds: 0) : timestamp
      if let prunedAt {
        header.prunedAt = prunedAt
        header.prunedBy = prunedBy
      }
    }
    let temporary =
      if let claim {
        claim.passOn()
      } else {
        // Whoever may not read this store may not read what is made of it.
        try TemporaryFile(for: destination, like: log.original, in: log.fileSystem)
      }
    return RewriteTarget(temporary, header: header)
  }

  /// Copies the units from the current point up to `end`.
  private func copyUnits(upTo end: UInt64) throws(LogError) {
    guard var sealer else { return }
    defer { self.sealer = sealer }
    var reader = UnitReader(FrameWalk(generation, from: point, limit: end))
    while true {
      switch try reader.next() {
      case .record(let frame, _, let largeValues):
        guard try sealer.copy(frame, in: reader.walk, largeValues: waiting + largeValues) else {
          try sealer.seal()
          return
        }
        waiting = []
      case .skipped(_, let largeValues):
        // Consumers are written at the end of the file. A frame of an unknown kind is left out,
        // since nobody can tell whether it is still true in another file. An announcement says what
        // would be lost.
        try reader.walk.announced.requireWritable()
        waiting += largeValues
      case .checkpoint(let frame, let largeValues):
        waiting += largeValues
        if try carry(frame, with: waiting, &sealer) { waiting = [] }
      case .end(.limit):
        point = reader.walk.point
        return
      case .end(let why):
        throw .damage(at: reader.walk.point.offset, why.reason)
      }
    }
  }

  /// Copies a checkpoint if it is the one to carry over, and before it the large values that came
  /// with it and not with a transaction. Returns whether it was copied. One that cannot be read is
  /// left out: it can be rebuilt.
  private func carry(
    _ frame: WalkedFrame, with largeValues: [LargeValueEntry], _ sealer: inout HistorySealer
  ) throws(LogError) -> Bool {
    guard let wanted = checkpoint, wanted.offset == frame.offset, let target else { return false }
    checkpoint = nil
    try sealer.seal()
    guard let directory = try? generation.directory(at: frame.offset).directory,
      try generation.holdsState(
        of: directory,
        decoding: plan.decodesState && frame.offset != plan.decodedCheckpoint)
    else { return false }
    try sealer.copy(largeValues)
    let entities = try target.copy(directory.entities, from: generation)
    let projections = try target.copy(
      generation.savedProjections(at: wanted), upTo: directory.number, from: generation)
    try target.writeCheckpoint(as: directory, entities: entities, projections: projections)
    return true
  }

  /// Copies what was appended since `copy`, and puts the new file in place.
  ///
  /// To replace the old file, the caller holds the lock and the log stands at the file's end.
  /// Afterwards the log is `.replaced`, with the lock held on both files: call `reload`. If it
  /// throws, or was overtaken, the old file is in place and nothing is left of the new one, with
  /// two exceptions: after `outcomeUnknown` either of them is in place once the disk works again,
  /// and the log is poisoned; after `placementUnknown`, thrown only for another store, that store
  /// may or may not exist.
  package func putInPlace() throws(LogError) -> RewriteReport {
    do throws(LogError) {
      return try complete()
    } catch {
      cancel()
      throw error
    }
  }

  private func complete() throws(LogError) -> RewriteReport {
    if target == nil { try copy(view) }
    let isReplacing: Bool
    if case .replace = plan.destination { isReplacing = true } else { isReplacing = false }
    if isReplacing {
      let isReplaced = try log.withOpenState { (state) throws(LogError) in
        precondition(state.isLocked, "a file is replaced under its lock")
        precondition(state.transaction == nil, "a transaction is open")
        return state.generation !== generation || state.replacement != nil
      }
      // Only if somebody has removed the unfinished file, and with it the claim.
      if isReplaced { return overtaken() }
      try requireCopiedStands()
      // The new header was made before, so it cannot list what was announced since.
      let view = log.view
      try view.features.requireWritable()
      if isOvertaken(by: view) { return overtaken() }
      try copy(view)
    }
    try sealer?.seal()
    guard let target else { throw .closed }
    if isReplacing {
      // A prune relies on what consumers have read: the new file also records their pending
      // advances.
      try target.append(log.side)
    }
    var report = RewriteReport(
      outcome: .done, bytesBefore: isReplacing ? log.view.end : view.end,
      bytesAfter: target.offset,
      transactions: target.tables.head.number - target.header.base,
      changes: target.tables.changeCount)
    // What an opening found wrong, and what the file does not announce, is mended at any size.
    let isSound = log.report.findings.isEmpty && target.has(log.view.features)
    if isReplacing, plan.erasure == nil, case .keep = plan.base, isSound,
      report.bytesAfter >= report.bytesBefore
    {
      cancel()
      report.outcome = .nothingGained
      report.bytesAfter = report.bytesBefore
      return report
    }
    // Syncs the old file first: a finished new file that a crash leaves then holds nothing that the
    // old one lacks, and may be removed.
    if isReplacing { try syncOld() }
    let old = generation.file
    try target.complete { new in try plan.check(new, old) }
    try put(target, isReplacing: isReplacing)
    self.target = nil
    return report
  }

  /// Gives up, since the beginning of the new file is outdated.
  private func overtaken() -> RewriteReport {
    cancel()
    return RewriteReport(
      outcome: .overtaken, bytesBefore: log.view.end, bytesAfter: log.view.end, transactions: 0,
      changes: 0)
  }

  /// Syncs the old file. One whose numbers are used up is only read: the new file starts new
  /// numbers.
  private func syncOld() throws(LogError) {
    do throws(LogError) {
      _ = try log.sync()
    } catch .numbersSpent {
      return
    }
  }

  /// Throws `rewound` if copied transactions are gone from the old file: their writer, in another
  /// process, could not sync them.
  private func requireCopiedStands() throws(LogError) {
    guard point.previousOffset != 0, plan.through == nil else { return }
    let header = try generation.frameHeader(at: point.previousOffset)
    guard header?.checksum == point.previousChecksum else {
      throw .rewound(lastShared: generation.header.base)
    }
  }

  private func put(_ target: RewriteTarget, isReplacing: Bool) throws(LogError) {
    let fileSystem = log.fileSystem
    let temporary = target.temporary
    guard isReplacing else {
      self.target = nil
      return try temporary.put(at: destination)
    }
    let path = log.path
    try log.requireOneName()
    do throws(StorageError) {
      try fileSystem.rename(temporary.path, over: path)
    } catch {
      if log.isStillInPlace { throw .storage(error) }
      // It is unknown which file is in place.
      throw log.state.withLock { $0.ended(by: error) }
    }
    self.target = nil
    let new = LogGeneration(file: temporary.file, header: target.header)
    let synced = Result { try fileSystem.syncDirectory(of: path) }
    try log.state.withLock { (state) throws(LogError) in
      state.replacement = new
      // It is unknown which of the two files a power cut would leave: nothing may be appended.
      if case .failure(let error) = synced { throw state.ended(by: error) }
    }
  }
}

extension LogFile {
  /// Whether the path still leads to the generation that this log reads.
  fileprivate var isStillInPlace: Bool {
    let generation = state.withLock { $0.generation }
    guard let place = try? fileSystem.identity(of: path) else { return false }
    return place == (try? generation.file.identity())
  }

  /// Begins a rewrite of what `view` shows; by default, of everything readable now. The plan must
  /// have been made from that view. To replace the file, `claim` must have been taken before the
  /// view, by default it is taken here.
  ///
  /// Throws as `claimRewrite` does if there is no claim, `exists` if a file exists where another
  /// store is to be made, `newerWriter` if the file uses features that a writer must know and this
  /// engine does not.
  package func rewrite(
    _ plan: RewritePlan, of view: LogView? = nil, under claim: RewriteClaim? = nil
  ) throws(LogError) -> LogRewriter {
    try withOpenState { _ in }
    return try LogRewriter(self, plan, of: view ?? self.view, under: claim)
  }
}
