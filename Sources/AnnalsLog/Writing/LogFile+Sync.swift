import AnnalsFormat
import AnnalsModel
import AnnalsStorage

extension LogFile {
  /// Makes every transaction committed before the call durable; returns the last of them.
  ///
  /// May overlap with the appending of further transactions. If it throws `outcomeUnknown`, nothing
  /// more can be written: what was not acknowledged was removed from the file as far as possible;
  /// whether it exists after reopening is unknown.
  @discardableResult
  package func sync() throws(LogError) -> LogPosition {
    let target = try withOpenState { (state) throws(LogError) in
      guard options.access == .writing else { throw .readOnly }
      if state.isLocked {
        if !state.isTailRepaired { try repairTail(&state) }
        try state.checkForeign()
      }
      let target = SyncTarget(state)
      guard !target.isSynced, state.isLocked, options.durability == .deferred,
        let newest = state.slot.newest, newest.durableMark < state.synced.offset
      else { return target }
      // Write the witness of the previous sync now: this sync covers it as well.
      try state.writeSlot(extent: state.synced.size)
      return SyncTarget(state)
    }
    if target.isSynced { return target.head }
    do {
      try target.generation.file.sync()
    } catch {
      throw state.withLock { $0.poison(error) }
    }
    return try state.withLock { (state) throws(LogError) in
      // A write that failed meanwhile has removed what this sync was to cover.
      if let failure = state.failure { throw .poisoned(failure) }
      state.note(target)
      return target.head
    }
  }
}

/// What a sync is about to make durable.
struct SyncTarget {
  let generation: LogGeneration
  let head: LogPosition
  let end: ChainPoint
  let announced: Features
  let size: UInt64
  /// The newest slot that was seen before.
  let slot: UInt64
  let isSynced: Bool

  init(_ state: LogState) {
    generation = state.generation
    head = state.tables.head
    end = state.end
    announced = state.tables.announced
    size = state.size
    slot = state.slot.seen
    isSynced = state.synced.offset == state.end.offset && state.slot.synced == slot
  }
}

extension LogState {
  /// Notes that a sync that began at `target` has returned. It proves nothing about bytes that
  /// others appended and that were not compared with the disk.
  mutating func note(_ target: SyncTarget) {
    guard generation === target.generation, isTailRepaired, unchecked == nil else { return }
    if target.end.offset >= synced.offset {
      synced = SyncedPoint(
        offset: target.end.offset, checksum: target.end.previousChecksum ?? 0,
        head: target.head.number, announced: target.announced, size: target.size)
    }
    durableMark = max(durableMark, target.end.offset)
    if target.end.offset > acknowledged.offset { acknowledged = target.end }
    if target.end.offset > kept?.offset ?? 0 { kept = target.end }
    slot.synced = target.slot
  }
}
