import AnnalsFormat
import AnnalsModel
import AnnalsStorage

extension LogFile {
  /// Closes the log: syncs, writes a root slot whose mark is the end of the log, syncs again, and
  /// cuts off the space allocated ahead. Views stay readable. Safe to call again.
  ///
  /// If another process holds the lock, sealing the end is left to it. A log opened for reading, or
  /// poisoned, is closed as it is. Throws `outcomeUnknown` if transactions that were not
  /// acknowledged yet may be lost, `overwritten` if an older copy was written over the file; the
  /// log is closed all the same.
  package func close() throws(LogError) {
    let isClosed = state.withLock { $0.isClosed }
    if isClosed { return }
    defer { release() }
    guard options.access == .writing, !isPoisoned else { return }
    precondition(!state.withLock { $0.transaction != nil }, "a transaction is open")
    let isLocked = state.withLock { $0.isLocked }
    if isLocked {
      do throws(LogError) {
        try requireUnchanged()
      } catch {
        // Whether it can be sealed otherwise shows below.
        if case .overwritten = error { throw error }
      }
    }
    if needsSync { try sync() }
    let standing: LogStanding
    do throws(LogError) {
      standing = isLocked ? try self.standing() : try lock(.none)
    } catch {
      if case .overwritten = error { throw error }
      // The process that holds the lock, or has replaced or removed the file, seals its end.
      return
    }
    switch standing {
    case .replaced: return
    case .behind: try? catchUpAlone()
    case .current: break
    }
    try state.withLock { (state) throws(LogError) in try seal(&state) }
  }

  /// Seals the end: writes both slots and cuts the file there. Does nothing if a writer must know
  /// features that this engine does not.
  private func seal(_ state: inout LogState) throws(LogError) {
    guard !state.isPoisoned, case .everything = state.features.permission,
      state.end.offset == (try? state.trueEnd())
    else { return }
    let size = try state.generation.size()
    state.size = size
    let slots = try state.generation.slots()
    if slots.sayClosed(at: state.end.offset, size: size) { return }
    if !state.isTailRepaired { try repairTail(&state) }
    try state.checkForeign()
    try state.rereadSlots()
    let file = state.generation.file
    do {
      // The other slot says the same, so that damage to one of them costs nothing. Both are synced
      // before the file is cut, since an older slot may name a greater extent.
      for _ in FormatLimits.slotOffsets {
        try sync(&state, file)
        guard try state.writeSlot(extent: state.end.offset) else { return }
      }
      try sync(&state, file)
      try file.truncate(to: state.end.offset)
      state.size = state.end.offset
    } catch {
      throw state.ended(by: error)
    }
  }

  private func sync(_ state: inout LogState, _ file: any StorageFile) throws(StorageError) {
    let target = SyncTarget(state)
    if target.isSynced { return }
    try file.sync()
    state.note(target)
  }

  private func release() {
    unlock()
    state.withLock { $0.isClosed = true }
  }
}

extension LogState {
  /// Where the log ends now; differs from `end` if others have appended since.
  func trueEnd() throws(LogError) -> UInt64 {
    try EndOfLog.find(in: generation, from: end, slots: []).point.offset
  }
}
