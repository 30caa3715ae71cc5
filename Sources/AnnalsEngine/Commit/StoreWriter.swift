import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

/// The one writer of a store: the log, the head and the file lock together.
///
/// Invariants:
/// - The holder of `lock` makes and appends transactions, one at a time. `head` has the state after
///   each of them, acknowledged or not.
/// - The file lock is held from before a transaction's closure until its group is synced, so no
///   other process sees or extends a group that may yet fail. Consecutive groups keep it for a
///   turn; with `.deferred`, so does a run (`CommitRun`).
/// - Readers see a commit after its sync; with `.deferred`, after its write.
/// - After a failure whose outcome is unknown nothing more is written: `log.isPoisoned`.
package final class StoreWriter: @unchecked Sendable {
  package let log: LogFile
  let options: StoreOptions
  /// The clock.
  let now: @Sendable () -> Timestamp
  let group = GroupCommit()
  /// Writes of tasks.
  let taskWrites = TaskWrites()

  /// The log must grow by this much before a checkpoint is due.
  let checkpointThreshold = Atomic<UInt64>(StoreWriter.leastCheckpointInterval)
  /// The least growth that makes a checkpoint due.
  static let leastCheckpointInterval: UInt64 = 1 << 20
  let lock = ConditionLock(.writer)
  /// The thread between `enter` and `leave`.
  let writingThread: WritingThread
  /// The process that opened the store; no other may write through it.
  private let owner = OwningProcess()
  /// Whether writes are refused, and none waits for the file lock.
  let isSuspended = Atomic<Bool>(false)
  /// Whether the order of transactions is decided elsewhere: drafts are not committed here.
  let isOrderedElsewhere = Atomic<Bool>(false)
  /// Whether the log exceeded the threshold at the last commit.
  let isCheckpointDue = Atomic<Bool>(false)
  /// How long a sync takes, in nanoseconds; the greatest number if none was timed.
  let usualSync = Atomic<Int64>(.max)
  /// Whether syncs are timed: since the store's thread first wrote for a task.
  let timesSyncs = Atomic<Bool>(false)
  /// How many threads are about to write alone; reduced under `lock`.
  let waitingAlone = Atomic<Int>(0)
  // Everything below is guarded by `lock`, so exclusive access needs no check.
  /// Whether the log has advanced and the state could not follow: then reload.
  @exclusivity(unchecked) var isStale = false
  @exclusivity(unchecked) var isFileLocked = false
  /// Whether the newest transaction was found not to come from a shared log.
  @exclusivity(unchecked) var isOwnOrderKnown = false
  /// When the turn began in which the file lock is held. The turn of closely following commits,
  /// with nobody else's in between, goes on though the lock is released after each.
  @exclusivity(unchecked) var lockedSince = ContinuousClock.now
  /// When the lock was given up within a turn.
  @exclusivity(unchecked) var turnInterruption: ContinuousClock.Instant?
  /// The longest interruption of a turn.
  @exclusivity(unchecked) package var longestInterruption = Duration.milliseconds(1)
  /// When the file was last checked to be the one that was written.
  @exclusivity(unchecked) var lastLook = ContinuousClock.now
  /// How often to check, at most, while the lock is kept.
  @exclusivity(unchecked) package var lookInterval = Duration.milliseconds(5)
  /// How long consecutive groups keep the file lock.
  @exclusivity(unchecked) package var longestTurn = Duration.milliseconds(5)
  /// When other processes were last found to have written.
  @exclusivity(unchecked) var othersWrote: ContinuousClock.Instant?
  /// Until when the file lock is left to them.
  @exclusivity(unchecked) var yieldsUntil: ContinuousClock.Instant?
  /// The membership of this entry's commits, which wait for their sync.
  @exclusivity(unchecked) var joined: GroupCommit.Membership?
  @exclusivity(unchecked) var isClosed = false
  /// The run; nil if nothing is kept from one commit for the next.
  let run: CommitRun?
  /// When the last commit ended, and whether this entry has committed.
  @exclusivity(unchecked) var lastCommit: ContinuousClock.Instant?
  @exclusivity(unchecked) var hasCommitted = false
  /// Whether a run goes on and its thread watches for the end.
  @exclusivity(unchecked) var isRunWatched = false
  /// What commits obey by the schema that a transaction set, and its number.
  @exclusivity(unchecked) var knownRules: (version: Int64, rules: CommitRules)?
  /// The position of the transaction on which one is being proposed, if the log does not have it.
  @exclusivity(unchecked) var proposedPosition: LogPosition?
  /// The head of a file that was compacted without a checkpoint; closing adds no checkpoint while
  /// it stays the head.
  @exclusivity(unchecked) package var bareHead: Int64?
  /// A failure in the background that may have lost deferred commits. Rethrown by `close()`.
  let backgroundFailure = Locked<AnnalsError?>(nil)
  /// Follows other processes while somebody listens.
  let watcher = CommitWatcher()
  /// The threads that run the code of projections.
  package let barred = BarredThreads()
  /// The projections whose states checkpoints save; nil until the store has them.
  package let projections = Locked<(any ProjectionSaving)?>(nil)
  /// The newest state, and what of it readers see.
  package let head: StoreHead

  /// Creates the writer of a store that was just opened.
  package init(
    log: LogFile, newest: StoreVersion, options: StoreOptions,
    now: @escaping @Sendable () -> Timestamp, run: CommitRun?
  ) {
    self.log = log
    self.options = options
    self.now = now
    self.run = run
    writingThread = WritingThread(path: log.path)
    head = StoreHead(newest)
  }

  /// The version after every transaction in `log.view`, acknowledged or not.
  package var newest: StoreVersion { head.materializeNewest() }

  /// Runs `body` as the only writer, on the newest state, with the file lock held; then waits until
  /// its commits are acknowledged. Stops waiting for the file lock once `isCancelled` is true.
  package func write<R>(
    unless isCancelled: (@Sendable () -> Bool)? = nil, _ body: (StoreWriter) throws -> R
  ) throws -> R {
    try enter()
    let result: Result<R, any Error>
    do {
      try lockAndCatchUp(unless: isCancelled)
      result = .success(try body(self))
    } catch {
      result = .failure(error)
    }
    let joined = joined.take()
    leave()
    return try end(result, joined)
  }

  /// Waits until the commits of a turn are acknowledged; returns or throws its result. Throws the
  /// sync's error if the turn did not throw.
  func end<R>(_ result: Result<R, any Error>, _ joined: GroupCommit.Membership?) throws -> R {
    do throws(AnnalsError) {
      // A leader must sync its group even if what followed its commit failed.
      if let joined { try acknowledge(joined) }
    } catch {
      if case .success = result { throw error }
    }
    return try result.get()
  }

  /// Runs `body` as the only writer with no sync pending: for checkpoints, rewrites and closing.
  /// `wait` is how long to wait for other processes; nil for the options' timeout.
  package func writeAlone<R>(
    waiting wait: LockWait? = nil, _ body: (StoreWriter) throws -> R
  ) throws -> R {
    try enterAlone()
    defer { leaveAlone() }
    try lockAndCatchUp(wait)
    return try body(self)
  }

  /// Whether the calling process is the one that opened the store, and no fork of it.
  package var isOwned: Bool { owner.isCurrent }

  /// Throws `.forked` in a fork of the process that opened the store.
  package func requireOwner() throws(AnnalsError) {
    if !isOwned { throw .forked }
  }

  /// Adopts a state that no commit of this store made: after a catch-up, a reload, or a checkpoint.
  /// After a reload a transaction number may stand for another schema than before.
  func adopt(_ state: State, isReloaded: Bool = false) {
    let version = newest.successor(state: state, view: log.view, isReloaded: isReloaded)
    isStale = false
    head.replace(with: version)
  }
}

extension StoreWriter {
  /// Starts listening to the feed. Throws `.io` if no thread can be started to watch the file.
  package func listen() throws(AnnalsError) -> FeedListener {
    try requireOwner()
    do throws(StorageError) {
      try watcher.add(
        watch: { log.watch() }, catchUp: { [weak self] in self?.catchUpForListeners() },
        report: { [head] error in
          if let error { head.fail(error) } else { head.endFailure() }
        })
    } catch {
      throw AnnalsError(.io, "other processes' commits cannot be followed: \(error)")
    }
    return FeedListener(watcher)
  }

  /// Whether the file is watched for commits of other processes.
  package var isWatching: Bool { watcher.isRunning }

  /// How often the file was looked at since somebody listens; for tests.
  package var watchLookCount: Int { watcher.lookCount }

  /// Catches up with the commits of other processes. Returns why they cannot be read now.
  private func catchUpForListeners() -> AnnalsError? {
    do {
      try refresh()
      return nil
    } catch {
      let error = AnnalsError.translated(error)
      return error.code == .closed ? nil : error
    }
  }
}

// Suspension: a process that the system may stop keeps no lock meanwhile.

extension StoreWriter {
  /// Refuses writes from now on, waits until those under way are acknowledged, and releases the
  /// file lock, in every lock mode. Writes that wait for the lock of another process end at once.
  package func suspend() throws(AnnalsError) {
    try requireOutside()
    if log.hasPendingAdvances, !log.isPoisoned {
      ignoringFailure(waiting: LockWait.none) { try $0.appendAdvances() }
    }
    isSuspended.store(true, ordering: .releasing)
    try enterAlone()
    if isFileLocked { releaseFileLock() }
    leaveAlone()
    head.dropWorkingState()
  }

  /// Accepts writes again.
  package func resume() throws(AnnalsError) {
    try requireOwner()
    isSuspended.store(false, ordering: .releasing)
  }
}
