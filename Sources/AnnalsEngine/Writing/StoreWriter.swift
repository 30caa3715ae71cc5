import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

/// The one place that changes a store: log, head and file lock together.
///
/// Invariants:
/// - Transactions are made and appended by the holder of `lock`, one at a time. `head` has the
///   state after each of them, acknowledged or not.
/// - The file lock is held from before a transaction's closure until its group is synced, so no
///   other process sees or extends a group that may yet fail. Groups that follow each other keep it
///   for a turn; so does, with `.deferred`, a writer that commits again and again (`CommitRun`).
/// - Readers see a commit after its sync; in `.deferred`, after its write.
/// - After a failure whose outcome is unknown nothing more is written: `log.isPoisoned`.
package final class StoreWriter: @unchecked Sendable {
  package let log: LogFile
  let options: StoreOptions
  /// The clock.
  let now: @Sendable () -> Timestamp
  let group = GroupCommit()

  /// The log is not worth a checkpoint before it has grown by this much.
  let checkpointThreshold = Atomic<UInt64>(StoreWriter.leastCheckpointInterval)
  /// How much log is always left without a checkpoint.
  static let leastCheckpointInterval: UInt64 = 1 << 20
  let lock = Condition()
  /// The thread inside `enter` … `leave`; 0 for none.
  let writingThread = Atomic<UInt64>(0)
  /// Whether the log has outgrown the threshold, as far as the last commit saw.
  let isCheckpointDue = Atomic<Bool>(false)
  /// How many wait to write with nothing waiting for a sync; changed under `lock`.
  let waitingAlone = Atomic<Int>(0)
  // All that follows is guarded by `lock`, so exclusive access needs no check.
  /// Whether the log has gone on and the state could not follow: then it must be read anew.
  @exclusivity(unchecked) var isStale = false
  @exclusivity(unchecked) var isFileLocked = false
  /// When the turn began in which the file lock is held: that of commits that follow each other
  /// closely, with nobody else's in between, goes on though the lock is given up after each.
  @exclusivity(unchecked) var lockedSince = ContinuousClock.now
  /// When the lock was given up within a turn.
  @exclusivity(unchecked) var turnInterruption: ContinuousClock.Instant?
  /// How long a turn is interrupted, at most.
  @exclusivity(unchecked) package var longestInterruption = Duration.milliseconds(1)
  /// When the file was last seen to be the one that was written.
  @exclusivity(unchecked) var lastLook = ContinuousClock.now
  /// How often to look, at most, while the lock is kept.
  @exclusivity(unchecked) package var lookInterval = Duration.milliseconds(5)
  /// How long groups that follow each other keep the file lock.
  @exclusivity(unchecked) package var longestTurn = Duration.milliseconds(5)
  /// When other processes were last seen to have written.
  @exclusivity(unchecked) var othersWrote: ContinuousClock.Instant?
  /// Until when the file lock is left to them.
  @exclusivity(unchecked) var staysOffUntil: ContinuousClock.Instant?
  /// Where the commits of this entry wait for their sync.
  @exclusivity(unchecked) var joined: GroupCommit.Membership?
  @exclusivity(unchecked) var isClosed = false
  /// Nil if nothing is kept from one commit for the next.
  let run: CommitRun?
  /// When the last commit ended, and whether this entry has committed.
  @exclusivity(unchecked) var lastCommit: ContinuousClock.Instant?
  @exclusivity(unchecked) var hasCommitted = false
  /// Whether commits follow each other, and a thread sees to the end of that.
  @exclusivity(unchecked) var isRunWatched = false
  /// The rules of the schema that the transaction of this number brought.
  @exclusivity(unchecked) var knownRules: [EntityRules?] = []
  @exclusivity(unchecked) var knownRulesVersion: Int64 = -1
  /// The timestamp of the last transaction that took the clock's.
  @exclusivity(unchecked) var lastOwnTimestamp: Timestamp?
  /// The head of a file that was compacted without a checkpoint; closing adds none as long as it
  /// stays the head.
  @exclusivity(unchecked) package var bareHead: Int64?
  /// What failed while nobody asked for anything, and may have taken deferred commits. Rethrown by
  /// `close()`.
  let backgroundFailure = Locked<AnnalsError?>(nil)
  /// Follows other processes while somebody listens.
  let watcher = CommitWatcher()
  /// Threads that run the code of projections.
  package let barred = BarredThreads()
  /// Who knows the projections whose states checkpoints save.
  package let projections = Locked<(any ProjectionKeeper)?>(nil)
  /// The newest state, and what of it readers see.
  package let head: StoreHead

  /// The writer of a store that was just opened.
  package init(
    log: LogFile, newest: StoreVersion, options: StoreOptions,
    now: @escaping @Sendable () -> Timestamp, run: CommitRun?
  ) {
    self.log = log
    self.options = options
    self.now = now
    self.run = run
    head = StoreHead(newest)
  }

  /// The version after every transaction in `log.view`, acknowledged or not.
  package var newest: StoreVersion { head.materializeNewest() }

  /// Runs `body` as the only writer, on the newest state, with the file lock held; then waits for
  /// what it appended to be acknowledged.
  package func write<R>(_ body: (StoreWriter) throws -> R) throws -> R {
    enter()
    let result: Result<R, any Error>
    do {
      try lockAndCatchUp()
      result = .success(try body(self))
    } catch {
      result = .failure(error)
    }
    let joined = joined.take()
    leave()
    do throws(AnnalsError) {
      // Whoever leads a group has to, also if what came behind its commit failed.
      if let joined { try acknowledge(joined) }
    } catch {
      if case .success = result { throw error }
    }
    return try result.get()
  }

  /// Runs `body` as the only writer with nothing waiting for a sync: for checkpoints, rewrites and
  /// the end. `wait` is how long to wait for other processes, if not as the options say.
  package func writeAlone<R>(
    waiting wait: LockWait? = nil, _ body: (StoreWriter) throws -> R
  ) throws -> R {
    enterAlone()
    defer { leaveAlone() }
    try lockAndCatchUp(wait)
    return try body(self)
  }

  /// Takes over a state that `log` has arrived at by no commit of this store: after a catch-up, a
  /// reload, or a checkpoint. After a reload a number may stand for another schema than before.
  func adopt(_ state: State, isReloaded: Bool = false) {
    let version = newest.successor(state: state, view: log.view, isReloaded: isReloaded)
    isStale = false
    head.replace(with: version)
  }
}
