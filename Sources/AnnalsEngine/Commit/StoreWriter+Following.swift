import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

// Following the file: catching up with other processes, reloading, and closing.

extension StoreWriter {
  /// Takes the file lock and catches up with other processes. Waits as long as the options say,
  /// unless another wait is given, and no longer once `isCancelled` is true.
  ///
  /// With `onlyIfCurrent` it reads nothing: it returns false, without the lock, if others have
  /// committed since.
  @discardableResult
  func lockAndCatchUp(
    _ given: LockWait? = nil, unless isCancelled: (@Sendable () -> Bool)? = nil,
    onlyIfCurrent: Bool = false
  ) throws -> Bool {
    guard !isClosed else { throw AnnalsError.closedStore }
    guard !isSuspended.load(ordering: .acquiring) else { throw AnnalsError.suspendedStore }
    guard !options.isReadOnly else { throw AnnalsError.readOnlyStore(log.path) }
    // After a failed sync nothing can be acknowledged, even if the log itself is not poisoned.
    if !log.isPoisoned, let failure = group.failure { throw failure }
    if isFileLocked {
      if isStale { try reload() }
      try recheckFile()
      return true
    }
    yieldToOthers()
    do {
      let standing = try lockFile(given, unless: isCancelled)
      isFileLocked = true
      if onlyIfCurrent, standing != .current {
        releaseFileLock()
        return false
      }
      lastLook = .now
      beginTurn(at: lastLook, standing)
      try follow(standing)
      return true
    } catch {
      // The next writer must catch up first.
      if isFileLocked { releaseFileLock() }
      throw AnnalsError.translated(error, opening: log.path)
    }
  }

  private func lockFile(
    _ given: LockWait?, unless isCancelled: (@Sendable () -> Bool)?
  ) throws -> LogStanding {
    if let given { return try lockFile(given) }
    do throws(LogError) {
      // Mostly it is free.
      return try lockFile(.none)
    } catch {
      guard case .busy = error else { throw error }
      if writingThread.isInsideAnother { throw AnnalsError.nestedWriteToFile(log.path) }
    }
    let wait = LockWait.unlessInterrupted(.now.advanced(by: options.lockTimeout)) { [self] in
      isSuspended.load(ordering: .acquiring) || isCancelled?() ?? false
    }
    do throws(LogError) {
      return try lockFile(wait)
    } catch {
      guard case .busy = error else { throw error }
      if isSuspended.load(ordering: .acquiring) { throw AnnalsError.suspendedStore }
      if isCancelled?() ?? false { throw AnnalsError.cancelledWrite }
      throw AnnalsError.busy(log.path, holder: log.lockHolder)
    }
  }

  private func lockFile(_ wait: LockWait) throws(LogError) -> LogStanding {
    do throws(LogError) {
      return try log.lock(wait)
    } catch {
      // The lock is held; transactions that were read but never synced by their writer are gone.
      if case .rewound = error { return .replaced }
      throw error
    }
  }

  /// Under a lock that is kept, checks from time to time that nobody has copied other bytes over
  /// the file. Taking the lock always checks.
  private func recheckFile() throws {
    let now = ContinuousClock.now
    guard lastLook.duration(to: now) >= lookInterval else { return }
    do throws(LogError) {
      try log.requireUnchanged()
    } catch {
      throw AnnalsError(error, opening: log.path)
    }
    lastLook = now
  }

  /// Brings `newest` up to the end of the file.
  private func follow(_ standing: LogStanding) throws {
    if standing != .current {
      othersWrote = .now
      isOwnOrderKnown = false
    }
    if isStale { return try reload() }
    switch standing {
    case .current: return
    case .behind:
      var replay = StateReplay(state: newest.state, holdingValues: newest.holdsValues)
      do {
        if var catchUp = try log.catchUp() {
          try replay.run(&catchUp)
          try log.adopt(catchUp)
        }
      } catch LogError.rewound {
        return try reload()
      }
      isStale = true
      adopt(try log.state(after: replay))
    case .replaced: try reload()
    }
  }

  /// Reloads from the file: another process or a rewrite has replaced it, or damage was read.
  package func reload(from choice: StartChoice = .newest) throws {
    var replay = StateReplay(holdingValues: newest.holdsValues)
    // A transaction number may stand for another schema than before.
    knownRules = nil
    isStale = true
    try replay.reload(log, from: choice)
    adopt(try log.state(after: replay), isReloaded: true)
  }

  /// Whether the file was compacted without a checkpoint and has had no commits since.
  func isBare() throws(AnnalsError) -> Bool {
    try enter()
    defer { leave() }
    return bareHead == head.newestPosition.number
  }

  /// Catches up with other processes without the lock; for readers.
  package func refresh() throws {
    try enter()
    defer { leave() }
    guard !isClosed else { throw AnnalsError.closedStore }
    if isFileLocked { return }
    do {
      let standing: LogStanding
      do throws(LogError) {
        standing = try log.standing()
      } catch .rewound {
        standing = .replaced
      }
      try follow(standing)
    } catch {
      throw AnnalsError.translated(error, opening: log.path)
    }
  }

  /// Ends all writing. Safe to call again.
  package func close() throws {
    // Before the watcher's thread is waited for.
    try requireOutside()
    watcher.close()
    try enterAlone()
    defer {
      isFileLocked = false
      // Threads that wait for the group to end learn that the store is closed.
      lock.broadcast()
      writingThread.store(0)
      lock.unlock()
    }
    guard !isClosed else { return }
    isClosed = true
    head.dropWorkingState()
    try AnnalsError.translating { try log.close() }
  }
}
