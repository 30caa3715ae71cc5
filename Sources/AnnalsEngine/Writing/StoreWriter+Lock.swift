import AnnalsLog
import AnnalsState
import AnnalsStorage
import Synchronization

// Who may write when: the lock among threads, the file lock among processes, the group that shares
// a sync, the run of a writer that commits again and again.

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
    let now = hasCommitted ? goOnRunning() : nil
    hasCommitted = false
    if options.lockMode == .shared, isFileLocked, !group.isPending {
      if let now, let run, options.durability == .deferred {
        endTurn(of: run, at: now)
      } else {
        releaseFileLock()
      }
    }
    writingThread.store(0, ordering: .relaxed)
    lock.unlock()
  }

  /// Notes a commit; returns the moment if it belongs to a run, whose end will be noticed.
  private func goOnRunning() -> ContinuousClock.Instant? {
    guard let run else { return nil }
    let now = ContinuousClock.now
    let rest = lastCommit?.duration(to: now)
    lastCommit = now
    guard let rest, rest < run.length else { return nil }
    if !isRunWatched { isRunWatched = run.watch { [weak self] in self?.end(run) ?? true } }
    return isRunWatched ? now : nil
  }

  /// Gives the file lock up if the turn is over. Then it pauses, under `lock`, so that no other
  /// thread of this process takes back what is left to other processes.
  private func endTurn(of run: CommitRun, at now: ContinuousClock.Instant) {
    guard lockedSince.duration(to: now) >= run.length else { return }
    releaseFileLock()
    CommitRun.yield()
  }

  /// Gives up what is kept for a run if no commits come any more; returns false if there is
  /// something to wait for.
  private func end(_ run: CommitRun) -> Bool {
    lock.lock()
    let isIdle = lastCommit.map { $0.duration(to: .now) >= run.length } ?? true
    let isOver = isIdle && !group.isPending
    if isOver {
      if options.lockMode == .shared, isFileLocked { releaseFileLock() }
      isRunWatched = false
    }
    lock.unlock()
    if isOver { head.dropWorkingState() }
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
      let duties = GroupCommit.Duties(
        sync: { () throws(AnnalsError) in try self.sync().number },
        publish: { self.head.publish(upTo: $0) }, discard: { self.head.discardPending() })
      if try group.acknowledge(number, duties) { endGroup() }
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
  package func sync() throws(AnnalsError) -> LogPosition {
    do throws(LogError) {
      return try log.sync()
    } catch {
      throw AnnalsError(error)
    }
  }
}
