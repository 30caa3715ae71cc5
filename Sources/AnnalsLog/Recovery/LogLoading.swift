import AnnalsFormat
import AnnalsModel

/// Loads a generation of a file: from the newest usable state to the end of its log.
///
/// Follows FORMAT.md, "Recovery". Writes nothing and needs no lock. Whoever keeps the state asks
/// for one step after the other, and rejects a step that the state refuses.
struct LogLoading {
  let generation: LogGeneration
  private let options: LogOptions
  /// The results, once no step is left.
  private(set) var tables: LogTables
  private(set) var end: ChainPoint
  private(set) var report = RecoveryReport()
  /// Whether no step is left.
  private(set) var isDone = false
  private let slots: [RootSlot]
  /// The features announced in the file, in frames and slots.
  private let announced: Features
  private var endOfLog: EndOfLog
  private var starts: RecoveryStarts
  /// The replay from the start in use; nil before the first, and when it was given up.
  private var attempt: Attempt?

  /// A replay from one start.
  private struct Attempt {
    enum Phase {
      /// The state must be restored, is being restored, or transactions are applied to it.
      case ahead, restoring, replaying
      /// The replay ended at damage, up to which the log is read.
      case ended
    }

    /// The checkpoint's frame; 0 for the empty state.
    let offset: UInt64
    let start: LogStart
    var replay: LogReplay
    var phase = Phase.ahead
    /// The damage up to which the log is read.
    var damage: LogDamage?
  }

  /// Finds the end of the log. Throws `damage` if acknowledged data is damaged, unless the options
  /// say to read up to it.
  init(
    _ generation: LogGeneration, _ options: LogOptions, from choice: StartChoice
  ) throws(LogError) {
    let found = try generation.slots()
    var endOfLog = try EndOfLog.find(in: generation, slots: found.valid)
    do throws(LogError) {
      try found.requireSound()
    } catch {
      guard case .damage(let damage) = error else { throw error }
      if case .damaged = endOfLog.tail {} else { endOfLog = endOfLog.damaged(.damaged(damage)) }
    }
    if case .unfinished(let offset, _) = endOfLog.tail, let reason = found.doubt {
      endOfLog = endOfLog.damaged(.damaged(LogDamage(offset: offset, reason: reason)))
    }
    let slots = found.valid.isEmpty ? [] : endOfLog.slots
    if case .damaged(let damage) = endOfLog.tail {
      guard options.readsUpToDamage else { throw .damage(damage) }
    }
    self.generation = generation
    self.options = options
    self.slots = slots
    self.endOfLog = endOfLog
    // A slot lists what was announced before its mark; frames announce what came after.
    announced = slots.reduce(endOfLog.announced) { $0.union($1.announced) }
    starts = RecoveryStarts(choice, in: generation, slots: slots, end: endOfLog)
    tables = LogTables(emptyBaseOf: generation.header)
    end = ChainPoint(beginningOf: generation.header)
    report.findings = found.findings
    report.provenMark = endOfLog.provenMark
    report.tail = endOfLog.tail
    report.size = endOfLog.size
    report.newestSlot = slots.first
  }

  /// The newest readable root slot; nil if there is none.
  var newestSlot: RootSlot? { slots.first }

  /// The next step; nil if none is left. As `LogRecovery.next(into:)`.
  mutating func next(into batch: inout ChangeBatch) throws(LogError) -> RecoveryStep? {
    while !isDone {
      switch attempt?.phase {
      case nil:
        try begin()
      case .ahead:
        attempt?.phase = .restoring
        return attempt.map { .restore($0.start) }
      case .restoring, .replaying:
        attempt?.phase = .replaying
        do throws(LogError) {
          if try attempt?.replay.next(into: &batch) == true { return .apply }
          adoptReplay()
        } catch {
          try stop(at: error)
        }
      case .ended:
        adoptReplay()
      }
    }
    return nil
  }

  /// Gives up the step that was handed out last. As `LogRecovery.reject(_:)`.
  mutating func reject(_ error: any Error) throws(LogError) {
    guard let attempt else { preconditionFailure("no step was handed out") }
    guard attempt.phase == .replaying else { return try fallBack(after: LogError(ofCaller: error)) }
    try stop(at: attempt.replay.locating(error))
  }

  /// Begins with the best start that can be loaded and was not tried.
  private mutating func begin() throws(LogError) {
    while let offset = try starts.nextCheckpoint(followsFrames: !report.findings.isEmpty) {
      do throws(LogError) {
        return try begin(from: starts.load(offset))
      } catch {
        try noteUnusable(offset, error)
      }
    }
    try begin(from: starts.load(starts.baseOffset))
  }

  private mutating func begin(from loaded: RecoveryStarts.Loaded) throws(LogError) {
    if case .damaged = endOfLog.tail, endOfLog.point.offset < loaded.point.offset {
      // Damage before the mark: only the replay can tell how far the log can be read from here.
      endOfLog = try EndOfLog.find(in: generation, from: loaded.point, slots: [])
        .damaged(endOfLog.tail)
    }
    report.start = loaded.start.number
    attempt = makeAttempt(from: loaded, upTo: endOfLog.point.offset)
  }

  private func makeAttempt(
    from loaded: RecoveryStarts.Loaded, upTo limit: UInt64, damage: LogDamage? = nil
  ) -> Attempt {
    let replay = LogReplay(
      generation, from: loaded.point, tables: loaded.tables, limit: limit, slots: slots)
    return Attempt(offset: loaded.offset, start: loaded.start, replay: replay, damage: damage)
  }

  /// Ends the replay at an error: there, if the log is read up to damage; otherwise begins with
  /// another start.
  private mutating func stop(at error: LogError) throws(LogError) {
    guard options.readsUpToDamage, let stopped = attempt, stopped.damage == nil,
      let damage = error.damageMet
    else { return try fallBack(after: error) }
    var limit = error.misfit?.offset
    if stopped.replay.isAmidTransaction { limit = stopped.replay.point.offset }
    guard let limit else {
      attempt?.damage = damage
      attempt?.phase = .ended
      return
    }
    // A part of it may have been applied: everything again, and only up to there.
    attempt = makeAttempt(from: try starts.load(stopped.offset), upTo: limit, damage: damage)
  }

  /// Gives up the start in use for another. Throws the error if no other may avoid it.
  private mutating func fallBack(after error: LogError) throws(LogError) {
    guard let failed = attempt.take(), failed.offset != starts.baseOffset else { throw error }
    try noteUnusable(failed.offset, error)
    // Earlier checkpoints may share the damaged chunk.
    starts.dropCheckpoints()
  }

  private mutating func noteUnusable(_ offset: UInt64, _ error: LogError) throws(LogError) {
    guard error.mayDependOnStart else { throw error }
    report.findings.append(
      LogFinding(
        .checkpoint, offset: offset,
        text: "the checkpoint here cannot be used: \(error.reasonAgainstStart)"))
  }

  /// Takes over what the replay has read, as the result.
  private mutating func adoptReplay() {
    guard let attempt = attempt.take() else { return }
    tables = attempt.replay.tables
    // A slot should list those before its mark, too; whoever wrote one that does not broke a rule.
    tables.announce(announced.union(attempt.replay.announced))
    end = attempt.replay.point
    if let damage = attempt.damage { report.tail = .damaged(damage) }
    report.findings += attempt.replay.findings
    report.replayedTransactions = attempt.replay.replayedTransactions
    report.end = end.offset
    isDone = true
  }
}

extension EndOfLog {
  /// Finds the end of the log from the newest slot's mark. A file that ends before the mark is
  /// damaged; then the remaining end is searched for from the beginning.
  fileprivate static func find(
    in generation: LogGeneration, slots: [RootSlot]
  ) throws(LogError) -> EndOfLog {
    let size = try generation.size()
    guard size >= FormatLimits.logStart else {
      throw .damage(at: size, "the file ends within its first blocks")
    }
    var start = ChainPoint(beginningOf: generation.header)
    if let slot = slots.first, slot.durableMark <= size {
      start = ChainPoint(offset: slot.durableMark, previousChecksum: slot.markChecksum)
    }
    return try find(in: generation, from: start, slots: slots)
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
  fileprivate var mayDependOnStart: Bool {
    switch self {
    case .decode(let fault, _): !fault.isNewer
    case .damage, .interrupted, .largeValueMissing: true
    default: false
    }
  }
}
