import AnnalsLog
import AnnalsState
import AnnalsStorage
import Synchronization

// Who may write when: the lock among threads, the file lock among processes, the group that shares
// a sync, the run of a writer that commits again and again.

extension StoreWriter {
  /// How long this store stays off then, if others write too: they ask every half of it.
  private static let pause = Duration.milliseconds(1)
  /// For how long others who wrote are expected to write again.
  private static let othersMemory = Duration.seconds(1)

  /// Waits for the writer's turn among threads; a closure of this store's own write traps.
  func enter() {
    let thread = requireOutside()
    lock.lock()
    waitAtGate()
    writingThread.store(thread, ordering: .relaxed)
  }

  /// Traps inside the closure of a write; returns the number of the thread.
  private func requireOutside() -> UInt64 {
    let thread = CurrentThread.number
    precondition(
      writingThread.load(ordering: .relaxed) != thread,
      "a write inside the closure of another write of the same store; use the transaction given")
    barred.requireOutside("a write, checkpoint or refresh")
    return thread
  }

  /// Waits, under `lock`, while somebody is to write alone, and until the turn is over if it has
  /// been long enough.
  private func waitAtGate() {
    while true {
      if waitingAlone.load(ordering: .relaxed) == 0 {
        guard isFileLocked, options.lockMode == .shared, options.durability == .full, isTurnOver
        else { return }
        // Whoever ended the last group has not come to it yet.
        if !group.isPending { return endTurn() }
      }
      lock.wait()
    }
  }

  /// Whether writers can join the group that fills; for its leader. While there is a group the lock
  /// is not taken anew, so what is looked at stays as it is.
  private var letsOthersIn: Bool {
    waitingAlone.load(ordering: .relaxed) == 0 && (options.lockMode == .exclusive || !isTurnOver)
  }

  /// As `enter`, when nothing waits for a sync. Whoever enters later waits meanwhile, as otherwise
  /// one group might follow the other for ever.
  func enterAlone() {
    let thread = requireOutside()
    lock.lock()
    waitingAlone.wrappingAdd(1, ordering: .relaxed)
    while group.isPending {
      lock.unlock()
      group.drain()
      lock.lock()
    }
    waitingAlone.wrappingSubtract(1, ordering: .relaxed)
    writingThread.store(thread, ordering: .relaxed)
  }

  /// Whether the file lock was held for so long that it goes to others as soon as no sync needs it.
  private var isTurnOver: Bool {
    lockedSince.duration(to: .now) > longestTurn
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

  /// Ends what `enterAlone` began.
  func leaveAlone() {
    leave()
    lock.broadcast()
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
  /// thread of this process takes back what is left to other processes; longer if they write.
  private func endTurn(of run: CommitRun, at now: ContinuousClock.Instant) {
    guard lockedSince.duration(to: now) >= run.length else { return }
    releaseFileLock()
    if othersWrite { stayOffForAWhile() } else { CommitRun.yield() }
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
    lock.broadcast()
  }

  /// Waits until the commit is synced and published.
  func acknowledge(_ member: GroupCommit.Membership) throws(AnnalsError) {
    let duties = GroupCommit.Duties(
      mayWait: { self.letsOthersIn },
      sync: { () throws(AnnalsError) in
        self.head.closeGroup()
        _ = try self.sync()
      },
      publish: { self.head.publishGroup() }, discard: { self.head.discardPending() })
    do throws(AnnalsError) {
      if try group.acknowledge(member, duties) { endGroup() }
    } catch {
      // Nothing waits for a sync any more: others may have the lock, and those who wait for the
      // turn to end must learn that the store is poisoned.
      endGroup()
      throw error
    }
  }

  /// Lets go of the file lock if no other group needs it.
  private func endGroup() {
    // The next group's end sees to it otherwise.
    guard options.lockMode == .shared, !group.isPending else { return }
    lock.lock()
    if isFileLocked, !group.isPending { endTurn() }
    lock.unlock()
  }

  /// Notes that the file lock was taken: a new turn, or the one before goes on. `standing` is what
  /// was found of others' commits.
  func beginTurn(at now: ContinuousClock.Instant, _ standing: LogStanding) {
    if standing == .current, let interrupted = turnInterruption.take(),
      interrupted.duration(to: now) < longestInterruption
    {
      return
    }
    lockedSince = now
  }

  /// Gives the file lock up after the last sync, for the holder of `lock`; stays off for a moment
  /// if the turn is over and others write too. A thread that took it back at once after each of its
  /// commits would hardly ever let in those who ask for it now and then.
  private func endTurn() {
    let isOver = isTurnOver
    turnInterruption = isOver ? nil : .now
    if isOver, othersWrite { stayOffForAWhile() }
    releaseFileLock()
  }

  /// Whether other processes have written lately, and may wait for the lock.
  private var othersWrite: Bool {
    othersWrote.map { $0.duration(to: .now) < StoreWriter.othersMemory } ?? false
  }

  private func stayOffForAWhile() {
    staysOffUntil = .now.advanced(by: StoreWriter.pause)
  }

  /// Waits, under `lock`, while the file lock is left to others.
  func stayOff() {
    guard let end = staysOffUntil.take() else { return }
    sleepThread(for: ContinuousClock.now.duration(to: end))
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
