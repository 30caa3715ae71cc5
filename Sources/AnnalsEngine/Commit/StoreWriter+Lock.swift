import AnnalsLog
import AnnalsState
import AnnalsStorage
import Synchronization

// Who may write when: the lock among threads, the file lock among processes, the group that shares
// a sync, and the run of closely following commits.

extension StoreWriter {
  /// How long this store leaves the file lock to other processes that write too; they ask twice as
  /// often.
  private static let pause = Duration.milliseconds(1)
  /// How long after their last write other processes are expected to write again.
  private static let othersMemory = Duration.seconds(1)

  /// Locks the writer for the thread. Throws `.nestedWrite` inside the closure of this
  /// store's own write.
  func enter() throws(AnnalsError) {
    let thread = try requireOutside()
    lock.lock()
    waitAtGate()
    writingThread.store(thread)
  }

  /// Returns the number of the thread; throws `.nestedWrite` inside the closure of a write, which
  /// the thread would wait for, and `.forked` before it waits for threads that a fork does not
  /// have.
  @discardableResult
  package func requireOutside() throws(AnnalsError) -> UInt64 {
    try requireOwner()
    let thread = CurrentThread.number
    if writingThread.isThread(thread) { throw .nestedWrite }
    barred.requireOutside("a write, checkpoint or refresh")
    return thread
  }

  /// Waits, under `lock`, while somebody is about to write alone; also until the turn ends if it
  /// has lasted long enough.
  private func waitAtGate() {
    while true {
      if waitingAlone.load(ordering: .relaxed) == 0 {
        guard isFileLocked, options.lockMode == .shared, options.durability == .full, isTurnOver
        else { return }
        // The thread that ended the last group has not ended the turn yet.
        if !group.isPending { return endTurn() }
      }
      lock.wait()
    }
  }

  /// Whether writers can still join the open group; for its leader. The file lock is not taken
  /// while a group exists, so the answer does not change meanwhile.
  var admitsMembers: Bool {
    waitingAlone.load(ordering: .relaxed) == 0 && (options.lockMode == .exclusive || !isTurnOver)
  }

  /// Whether the holder of the turn must sync now what it has appended since `start`: others wait
  /// to write alone, or its time is over. The turn of an exclusive store does not end, so there the
  /// batch's own time counts.
  func mustEndBatch(since start: ContinuousClock.Instant) -> Bool {
    if waitingAlone.load(ordering: .relaxed) > 0 { return true }
    return options.lockMode == .exclusive ? start.duration(to: .now) > longestTurn : isTurnOver
  }

  /// As `enter`, and waits until no sync is pending. Later writers wait meanwhile, since otherwise
  /// groups might follow each other for ever.
  func enterAlone() throws(AnnalsError) {
    let thread = try requireOutside()
    // Before the lock, which the holder of a batch keeps until it learns of this.
    waitingAlone.wrappingAdd(1, ordering: .relaxed)
    lock.lock()
    while group.isPending {
      lock.unlock()
      group.drain()
      lock.lock()
    }
    waitingAlone.wrappingSubtract(1, ordering: .relaxed)
    writingThread.store(thread)
  }

  /// Whether the file lock was held so long that other processes get it once no sync needs it.
  private var isTurnOver: Bool {
    lockedSince.duration(to: .now) > longestTurn
  }

  /// Ends `enter`. Releases the file lock unless a sync or a turn still needs it.
  func leave() {
    let now = hasCommitted ? extendRun() : nil
    hasCommitted = false
    if options.lockMode == .shared, isFileLocked, !group.isPending {
      if let now, let run, options.durability == .deferred {
        endTurn(of: run, at: now)
      } else {
        releaseFileLock()
      }
    }
    writingThread.store(0)
    lock.unlock()
  }

  /// Ends `enterAlone`.
  func leaveAlone() {
    leave()
    lock.broadcast()
  }

  /// Notes a commit. Returns the moment if the commit belongs to a run whose end will be noticed.
  private func extendRun() -> ContinuousClock.Instant? {
    guard let run else { return nil }
    let now = ContinuousClock.now
    let rest = lastCommit?.duration(to: now)
    lastCommit = now
    guard let rest, rest < run.length else { return nil }
    if !isRunWatched { isRunWatched = run.watch { [weak self] in self?.end(run) ?? true } }
    return isRunWatched ? now : nil
  }

  /// Releases the file lock if the turn is over. Then pauses, under `lock`, so that no other thread
  /// of this process takes the lock before other processes can; longer if they write.
  private func endTurn(of run: CommitRun, at now: ContinuousClock.Instant) {
    guard lockedSince.duration(to: now) >= run.length else { return }
    releaseFileLock()
    if othersWrite { beginYielding() } else { CommitRun.yield() }
  }

  /// Ends a run that has no more commits and releases what it keeps. Returns false if it may go on.
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

  /// Releases the file lock; for the holder of `lock`.
  func releaseFileLock() {
    log.unlock()
    isFileLocked = false
    lock.broadcast()
  }

  /// Waits until the commit is synced and published.
  func acknowledge(_ member: GroupCommit.Membership) throws(AnnalsError) {
    let duties = GroupCommit.Duties(
      mayWait: { self.admitsMembers },
      sync: { () throws(AnnalsError) in
        self.head.closeGroup()
        try self.syncGroup()
      },
      publish: { self.head.publishGroup() }, discard: { self.head.discardPending() })
    do throws(AnnalsError) {
      if try group.acknowledge(member, duties) { endGroup() }
    } catch {
      // No sync is pending any more: others may have the lock, and threads that wait for the turn
      // to end must learn that the store is poisoned.
      endGroup()
      throw error
    }
  }

  /// Releases the file lock if no other group needs it.
  private func endGroup() {
    // Otherwise the end of the next group releases it.
    guard options.lockMode == .shared, !group.isPending else { return }
    lock.lock()
    if isFileLocked, !group.isPending { endTurn() }
    lock.unlock()
  }

  /// Notes that the file lock was taken: a new turn begins, or the one before goes on. `standing`
  /// says whether others have committed meanwhile.
  func beginTurn(at now: ContinuousClock.Instant, _ standing: LogStanding) {
    if standing == .current, let interrupted = turnInterruption.take(),
      interrupted.duration(to: now) < longestInterruption
    {
      return
    }
    lockedSince = now
  }

  /// Releases the file lock after the last sync; for the holder of `lock`. Leaves it to other
  /// processes for a moment if the turn is over and they write too: a thread that took it again
  /// after each of its commits would hardly ever let in a process that only asks now and then.
  private func endTurn() {
    let now = ContinuousClock.now
    let isOver = lockedSince.duration(to: now) > longestTurn
    turnInterruption = isOver ? nil : now
    if isOver, othersWrite { beginYielding() }
    releaseFileLock()
  }

  /// Whether other processes have written recently and may wait for the lock.
  private var othersWrite: Bool {
    othersWrote.map { $0.duration(to: .now) < StoreWriter.othersMemory } ?? false
  }

  private func beginYielding() {
    yieldsUntil = .now.advanced(by: StoreWriter.pause)
  }

  /// Waits, under `lock`, while the file lock is left to others.
  func yieldToOthers() {
    guard let end = yieldsUntil.take() else { return }
    sleepThread(for: ContinuousClock.now.duration(to: end))
  }

  /// Syncs the log. Returns the position that is now durable.
  package func sync() throws(AnnalsError) -> LogPosition {
    try AnnalsError.translating { try log.sync() }
  }
}
