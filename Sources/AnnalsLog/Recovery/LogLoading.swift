import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Loads a generation of a file: from the newest usable state to the end of its log.
///
/// Follows FORMAT.md, "Recovery". Writes nothing and needs no lock.
struct LogLoading {
  let generation: LogGeneration
  let options: LogOptions
  /// The results.
  private(set) var tables: LogTables
  private(set) var end: ChainPoint
  private(set) var report = RecoveryReport()
  private var slots: [RootSlot] = []
  /// The features announced in the file, in frames and slots.
  private var announced = Features.none
  /// The checkpoints already tried.
  private var tried: [UInt64] = []

  init(_ generation: LogGeneration, _ options: LogOptions) {
    self.generation = generation
    self.options = options
    tables = LogTables(emptyBaseOf: generation.header)
    end = ChainPoint(beginningOf: generation.header)
  }

  /// A state to start from.
  private struct Candidate {
    /// The checkpoint's frame; 0 for the empty state at the base.
    var offset: UInt64
    var isBase: Bool
  }

  /// Finds the end, then tries one start after the other until one reaches it.
  mutating func run(
    from choice: StartChoice, restore: (LogStart) throws -> Void,
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) {
    let found = try generation.slots()
    slots = found.valid
    report.findings = found.findings
    var endOfLog = try findEnd()
    do throws(LogError) {
      try found.requireSound()
    } catch {
      guard case .damage(let damage) = error else { throw error }
      if case .damaged = endOfLog.tail {} else { endOfLog = endOfLog.damaged(.damaged(damage)) }
    }
    if case .unfinished(let offset, _) = endOfLog.tail, let reason = found.doubt {
      endOfLog = endOfLog.damaged(.damaged(LogDamage(offset: offset, reason: reason)))
    }
    if !slots.isEmpty { slots = endOfLog.slots }
    // A slot lists what was announced before its mark; frames announce what came after.
    announced = slots.reduce(endOfLog.announced) { $0.union($1.announced) }
    if case .damaged(let damage) = endOfLog.tail {
      guard options.readsUpToDamage else { throw .damage(damage) }
    }
    report.provenMark = endOfLog.provenMark
    report.tail = endOfLog.tail
    report.size = endOfLog.size
    report.newestSlot = slots.first
    for offset in choice == .newest ? slotCheckpoints(before: endOfLog) : [] {
      switch try attempt(offset, &endOfLog, restore: restore, apply: apply) {
      case .done: return
      case .chunkDamaged: return try loadBase(&endOfLog, restore: restore, apply: apply)
      case .directoryDamaged: continue
      }
    }
    // If no directory can be read, the frames before it still lead to earlier ones.
    if choice == .newest, !report.findings.isEmpty {
      for offset in try earlierCheckpoints(before: endOfLog) {
        let result = try attempt(offset, &endOfLog, restore: restore, apply: apply)
        if result == .done { return }
        if result == .chunkDamaged { break }
      }
    }
    try loadBase(&endOfLog, restore: restore, apply: apply)
  }

  private enum Attempt {
    case done
    case directoryDamaged
    /// A chunk of the checkpoint is damaged; earlier checkpoints may share it.
    case chunkDamaged
  }

  /// Tries to start from the checkpoint at `offset`; adds a finding if it cannot be used.
  private mutating func attempt(
    _ offset: UInt64, _ endOfLog: inout EndOfLog, restore: (LogStart) throws -> Void,
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) -> Attempt {
    let candidate = Candidate(offset: offset, isBase: false)
    tried.append(offset)
    var result = Attempt.directoryDamaged
    do throws(LogError) {
      let loaded = try loadStart(candidate)
      result = .chunkDamaged
      try load(candidate, loaded, to: &endOfLog, restore: restore, apply: apply)
      return .done
    } catch {
      guard error.mayDependOnStart else { throw error }
      report.findings.append(
        LogFinding(
          .checkpoint, offset: offset,
          text: "the checkpoint here cannot be used: \(error.reasonAgainstStart)"))
      return result
    }
  }

  private mutating func loadBase(
    _ endOfLog: inout EndOfLog, restore: (LogStart) throws -> Void,
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) {
    try load(base, loadStart(base), to: &endOfLog, restore: restore, apply: apply)
  }

  /// The newest readable root slot; nil if there is none.
  var newestSlot: RootSlot? { slots.first }

  private var base: Candidate {
    Candidate(offset: generation.header.baseCheckpointOffset, isBase: true)
  }

  /// Finds the end of the log from the newest slot's mark. A file that ends before the mark is
  /// damaged; then the remaining end is searched for from the beginning.
  private func findEnd() throws(LogError) -> EndOfLog {
    let header = generation.header
    let size = try generation.size()
    guard size >= FormatLimits.logStart else {
      throw .damage(at: size, "the file ends within its first blocks")
    }
    var start = ChainPoint(beginningOf: header)
    if let slot = slots.first, slot.durableMark <= size {
      start = ChainPoint(offset: slot.durableMark, previousChecksum: slot.markChecksum)
    }
    return try EndOfLog.find(in: generation, from: start, slots: slots)
  }

  /// The checkpoints that the slots name, the newer first.
  private func slotCheckpoints(before end: EndOfLog) -> [UInt64] {
    var offsets = slots.map(\.checkpointOffset)
    if slots.isEmpty, let offset = end.newestCheckpoint { offsets.append(offset) }
    var result: [UInt64] = []
    for offset in offsets where offset < end.size {
      if offset == 0 || offset == base.offset || result.contains(offset) { continue }
      result.append(offset)
    }
    return result
  }

  /// The last checkpoints that the chain of frames from the log's beginning reaches, the newest
  /// first, without those already tried.
  private func earlierCheckpoints(before end: EndOfLog) throws(LogError) -> [UInt64] {
    var walk = FrameWalk(
      generation, from: ChainPoint(beginningOf: generation.header), limit: end.point.offset)
    var offsets: [UInt64] = []
    while case .frame(let frame) = try walk.next() {
      guard frame.header.kind == .checkpoint, frame.offset != base.offset else { continue }
      if tried.contains(frame.offset) { continue }
      offsets.append(frame.offset)
      if offsets.count > LogLoading.greatestAttempts { offsets.removeFirst() }
    }
    return offsets.reversed()
  }

  private static let greatestAttempts = 4

  private mutating func load(
    _ candidate: Candidate, _ loaded: (LogStart, LogTables, ChainPoint),
    to endOfLog: inout EndOfLog, restore: (LogStart) throws -> Void,
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) {
    let start: LogStart
    let point: ChainPoint
    (start, tables, point) = loaded
    if case .damaged = endOfLog.tail, endOfLog.point.offset < point.offset {
      // Damage before the mark: only the replay can tell how far the log can be read from here.
      endOfLog = try EndOfLog.find(in: generation, from: point, slots: []).damaged(endOfLog.tail)
    }
    try calling { try restore(start) }
    report.start = start.number
    report.startOffset = candidate.offset
    var replay = LogReplay(
      generation, from: point, tables: tables, limit: endOfLog.point.offset, slots: slots)
    do throws(LogError) {
      try replay.run(apply: apply)
    } catch {
      guard options.readsUpToDamage, let damage = error.damageMet else { throw error }
      var limit = error.misfit?.offset
      if replay.isAmidTransaction { limit = replay.point.offset }
      if let limit {
        // The caller may have been given a part of it: replay everything again, and only up to
        // there.
        try calling { try restore(start) }
        replay = LogReplay(generation, from: point, tables: tables, limit: limit, slots: slots)
        try replay.run(apply: apply)
      }
      report.tail = .damaged(damage)
    }
    tables = replay.tables
    tables.announce(announced)
    end = replay.point
    report.findings += replay.findings
    report.replayedTransactions = replay.replayedTransactions
    report.end = end.offset
  }

  /// Reads what a start needs. Throws `damage` or `decode` if it cannot be used.
  private func loadStart(
    _ candidate: Candidate
  ) throws(LogError) -> (LogStart, LogTables, ChainPoint) {
    let header = generation.header
    guard candidate.offset != 0 else {
      let start = LogStart(
        directory: nil, number: header.base, schema: Schema(), file: generation)
      return (start, LogTables(emptyBaseOf: header), ChainPoint(beginningOf: header))
    }
    let (frame, directory) = try generation.directory(at: candidate.offset)
    if let slot = slots.first(where: { $0.checkpointOffset == candidate.offset }) {
      guard slot.checkpointNumber == directory.number else {
        throw .damage(at: candidate.offset, "a checkpoint of another transaction")
      }
    }
    guard directory.isBase == candidate.isBase, directory.number >= header.base,
      !candidate.isBase || directory.number == header.base
    else { throw .damage(at: candidate.offset, "a checkpoint where another should be") }
    let end = candidate.offset + frame.frameLength
    let tables = try LogTables(
      directory, at: CheckpointReference(offset: candidate.offset, number: directory.number),
      end: end, in: generation)
    let start = LogStart(
      directory: directory, number: directory.number, schema: directory.schema, file: generation)
    let point = ChainPoint(
      offset: end, previousChecksum: frame.checksum, previousOffset: candidate.offset)
    return (start, tables, point)
  }
}

extension LogError {
  /// The damage at which a reading "up to the damage" stops; nil for other errors.
  fileprivate var damageMet: LogDamage? {
    switch self {
    case .damage(let damage): return damage
    case .decode(let fault, let offset):
      if fault.isNewer { return nil }
      return LogDamage(offset: offset, reason: "a record cannot be decoded (\(fault))")
    default:
      guard let misfit, let offset = misfit.offset else { return nil }
      return LogDamage(offset: offset, reason: "\(misfit)")
    }
  }

  /// Why the log cannot be read from a state. For an error that starting from another may avoid.
  fileprivate var reasonAgainstStart: String {
    if let damage = damageMet { return "\(damage.reason) (at offset \(damage.offset))" }
    return switch self {
    case .interrupted(let error): "\(error)"
    case .largeValueMissing(let number): "large value \(number) is missing"
    default: "\(self)"
    }
  }

  /// Whether starting from another state may avoid the error.
  var mayDependOnStart: Bool {
    switch self {
    case .decode(let fault, _): !fault.isNewer
    case .damage, .interrupted, .largeValueMissing: true
    default: false
    }
  }
}
