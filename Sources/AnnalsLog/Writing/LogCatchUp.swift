import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// What other processes have appended to a log since it was read, batch by batch, for whoever keeps
/// the state. The log stays as it is until it adopts what was read.
package struct LogCatchUp {
  private var replay: LogReplay
  private let end: EndOfLog
  private var isDone = false

  fileprivate init(_ replay: LogReplay, to end: EndOfLog) {
    self.replay = replay
    self.end = end
  }

  /// Fills the batch, in place of its content, with the transactions that come next: whole ones, or
  /// one part of a large one once all its parts are known to exist. Returns false at the end.
  ///
  /// Throws `damage` or `decode` if the file is damaged. Memory: one batch.
  package mutating func next(into batch: inout ChangeBatch) throws(LogError) -> Bool {
    if try replay.next(into: &batch) { return true }
    isDone = true
    return false
  }

  /// The error of a caller that could not apply the last batch; a misfit gets the offset of its
  /// frame. O(length of the batch).
  package func locating(_ error: any Error) -> LogError { replay.locating(error) }

  /// Takes what was read over. Nothing may fail here: the log and the state that was made of the
  /// batches advance together or not at all.
  fileprivate func apply(to state: inout LogState, size: UInt64) {
    precondition(isDone, "the catching up has not reached its end")
    state.tables = replay.tables
    state.tables.announce(end.announced)
    state.end = replay.point
    state.noteForeign(upTo: replay.point.offset)
    state.slot.newest = end.slots.first
    state.durableMark = max(state.durableMark, min(end.provenMark, replay.point.offset))
    state.size = size
    if case .unfinished = end.tail { state.isTailRepaired = false }
    if state.isLocked { state.acknowledged = state.end }
    state.resetFrames()
  }
}

extension LogFile {
  /// What other processes have appended; nil if nothing. With the lock or, for readers, without.
  ///
  /// Throws `rewound` if transactions read here are gone, `damage` if the file is damaged.
  package func catchUp() throws(LogError) -> LogCatchUp? {
    let known = try withOpenState { (state) throws(LogError) -> LogState? in
      precondition(state.transaction == nil, "a transaction is open")
      return try compare(&state) == .behind ? state : nil
    }
    guard let known else { return nil }
    let slots = try known.generation.slots()
    try slots.requireSound()
    let end = try EndOfLog.find(in: known.generation, from: known.end, slots: slots.valid)
    if case .damaged(let damage) = end.tail { throw .damage(damage) }
    let replay = LogReplay(
      known.generation, from: known.end, tables: known.tables, limit: end.point.offset)
    return LogCatchUp(replay, to: end)
  }

  /// Goes on from where a catch-up of this log has ended. If it throws, the log stays as it was.
  package func adopt(_ catchUp: LogCatchUp) throws(LogError) {
    let generation = state.withLock { $0.generation }
    let size = try generation.size()
    state.withLock { catchUp.apply(to: &$0, size: size) }
  }

  /// Catches up without a state to keep up to date.
  func catchUpAlone() throws(LogError) {
    guard var catchUp = try catchUp() else { return }
    var batch = ChangeBatch()
    while try catchUp.next(into: &batch) {}
    try adopt(catchUp)
  }
}
