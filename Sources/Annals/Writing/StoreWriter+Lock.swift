import AnnalsLog
import AnnalsState
import AnnalsStorage
import Synchronization

// Who may write when: the lock among threads, the file lock among processes, the group that shares
// a sync, the turn of a deferred writer.

extension StoreWriter {
  /// A group closes after this many commits, or this long, so that other processes get a turn.
  private static let largestGroup = 64
  private static let longestGroup = Duration.milliseconds(5)

  /// Waits for the writer's turn among threads; a closure of this store's own write traps.
  func enter() {
    let thread = CurrentThread.number
    precondition(
      writingThread.load(ordering: .relaxed) != thread,
      "a write inside the closure of another write of the same store; use the transaction given")
    lock.lock()
    while isFileLocked, options.lockMode == .shared, isGroupClosed { lock.wait() }
    writingThread.store(thread, ordering: .relaxed)
  }

  private var isGroupClosed: Bool {
    commitsUnderLock > 0 && group.isPending
      && (commitsUnderLock >= StoreWriter.largestGroup
        || lockedSince.duration(to: .now) > StoreWriter.longestGroup)
  }

  /// Ends what `enter` began, and gives the file lock up unless a sync or a turn needs it still.
  func leave() {
    var isTurnOver = false
    if options.lockMode == .shared, isFileLocked {
      switch options.durability {
      case .full: if !group.isPending { releaseFileLock() }
      case .deferred: isTurnOver = leaveDeferred()
      }
    }
    writingThread.store(0, ordering: .relaxed)
    lock.unlock()
    if isTurnOver { LockTurn.yield() }
  }

  /// Gives the file lock up unless there is a turn that goes on; returns whether one is over.
  private func leaveDeferred() -> Bool {
    defer { hasCommitted = false }
    guard hasCommitted, turn != nil else {
      releaseFileLock()
      return false
    }
    let now = ContinuousClock.now
    let pause = lastCommit?.duration(to: now)
    lastCommit = now
    let isFrequent = pause.map { $0 < LockTurn.length } ?? false
    let isOver = lockedSince.duration(to: now) >= LockTurn.length
    if isFrequent, !isOver, watchTurn() { return false }
    releaseFileLock()
    return isOver
  }

  /// Sees to it that the lock is given up when no more commits come; returns whether it will be.
  private func watchTurn() -> Bool {
    if isTurnWatched { return true }
    isTurnWatched = turn?.watch { [weak self] in self?.endTurn() ?? true } ?? false
    return isTurnWatched
  }

  /// Gives the file lock up if the turn is over; returns false if there is something to wait for.
  private func endTurn() -> Bool {
    lock.lock()
    let now = ContinuousClock.now
    let isPast = !isFileLocked || lockedSince.duration(to: now) >= LockTurn.length
    if isPast, isFileLocked { releaseFileLock() }
    let isIdle = lastCommit.map { $0.duration(to: now) >= LockTurn.length } ?? true
    let isOver = isPast && (isIdle || working == nil)
    var old: State?
    if isOver {
      swap(&old, &working)
      isTurnWatched = false
    }
    lock.unlock()
    // What only it held ends outside the lock.
    withExtendedLifetime(old) {}
    return isOver
  }

  /// Gives the file lock up; for the holder of `lock`.
  func releaseFileLock() {
    log.unlock()
    isFileLocked = false
    commitsUnderLock = 0
    lock.broadcast()
  }

  /// Waits until the commit of this number is synced and published.
  func acknowledge(_ number: Int64) throws(AnnalsError) {
    do throws(AnnalsError) {
      let led = try group.acknowledge(number, sync: sync) { published.replace(with: $0) }
      if led { endGroup() }
    } catch {
      // Nothing waits for a sync any more: others may have the lock, and those who wait for the
      // group to end must learn that the store is poisoned.
      endGroup()
      throw error
    }
  }

  /// Lets go of the file lock after the sync of the last commit under it.
  private func endGroup() {
    guard options.lockMode == .shared else { return }
    lock.lock()
    if isFileLocked, !group.isPending { releaseFileLock() }
    lock.unlock()
  }

  /// Syncs the log; returns the position that is durable then.
  func sync() throws(AnnalsError) -> LogPosition {
    do throws(LogError) {
      return try log.sync()
    } catch {
      throw AnnalsError(error)
    }
  }
}
