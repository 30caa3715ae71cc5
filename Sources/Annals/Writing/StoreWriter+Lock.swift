import AnnalsLog
import AnnalsState
import AnnalsStorage
import Synchronization

// Who may write when: the lock among threads, the file lock among processes, the group that shares
// a sync, the turn of a writer that commits again and again.

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
    if options.lockMode == .shared, isFileLocked, !group.isPending {
      if hasCommitted { endCommit() } else { releaseFileLock() }
    }
    hasCommitted = false
    writingThread.store(0, ordering: .relaxed)
    lock.unlock()
  }

  /// After a commit that waits for nothing any more: gives the file lock up unless there is a turn
  /// that goes on. Where one is over it pauses, under `lock`, so that other threads of this process
  /// do not take back what is left to other processes.
  private func endCommit() {
    guard let turn else { return releaseFileLock() }
    let now = ContinuousClock.now
    let pause = lastCommit?.duration(to: now)
    lastCommit = now
    let isFrequent = pause.map { $0 < turn.length } ?? false
    let isOver =
      lockedSince.duration(to: now) >= turn.length
      || commitsUnderLock >= StoreWriter.largestGroup
    if isFrequent, !isOver, watch(turn) { return }
    releaseFileLock()
    if isOver { LockTurn.yield() }
  }

  /// Sees to it that the lock is given up when no more commits come; returns whether it will be.
  private func watch(_ turn: LockTurn) -> Bool {
    if isTurnWatched { return true }
    isTurnWatched = turn.watch { [weak self] in self?.end(turn) ?? true }
    return isTurnWatched
  }

  /// Gives the file lock up if no commits come any more; returns false if there is something to
  /// wait for. While they come, the one at whose end the turn is over gives it up, and pauses.
  private func end(_ turn: LockTurn) -> Bool {
    lock.lock()
    let now = ContinuousClock.now
    let isIdle = lastCommit.map { $0.duration(to: now) >= turn.length } ?? true
    if isIdle, isFileLocked, !group.isPending { releaseFileLock() }
    let isOver = isIdle && !isFileLocked
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
      endGroup(isFailed: true)
      throw error
    }
  }

  /// Lets go of the file lock after the sync of the last commit under it, unless a turn goes on.
  private func endGroup(isFailed: Bool = false) {
    guard options.lockMode == .shared else { return }
    lock.lock()
    if isFileLocked, !group.isPending {
      if isFailed { releaseFileLock() } else { endCommit() }
    }
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
