import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

/// The one place that changes a store: state in memory and log together.
///
/// Invariants:
/// - `newest` is the state after every transaction in `log.view`, acknowledged or not. Only the
///   holder of `lock` reads or changes it.
/// - `working`, if there is one, is the same state as `newest`, and shares with it what was not
///   changed lately. It is what transactions change while they follow each other closely, so that
///   neither has to be copied for the other's sake.
/// - The file lock is held from before a transaction's closure until its group is synced, so no
///   other process sees or extends a group that may yet fail. In `.deferred` a writer that commits
///   again and again keeps it for a turn (`CommitRun`).
/// - `published` (in `Store`) follows `newest` after the sync; in `.deferred`, after the write.
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
  // All that follows is guarded by `lock`, so exclusive access needs no check.
  /// The newest version, where it may be ahead of the published one; nil where it is that, which
  /// then has no other holder, or will be made by `settle`.
  @exclusivity(unchecked) private var unpublished: StoreVersion?
  /// The newest transaction, if the published version is to move on by it once it is synced.
  @exclusivity(unchecked) private var step: Int64?
  /// The position of the newest version, and the last transaction that changed its schema.
  @exclusivity(unchecked) var newestHead: LogPosition
  @exclusivity(unchecked) var newestSchemaVersion: Int64
  @exclusivity(unchecked) var working: State?
  /// Whether the log has gone on and the state could not follow: then it must be read anew.
  @exclusivity(unchecked) var isStale = false
  @exclusivity(unchecked) var isFileLocked = false
  @exclusivity(unchecked) var lockedSince = ContinuousClock.now
  @exclusivity(unchecked) var commitsUnderLock = 0
  @exclusivity(unchecked) var isClosed = false
  /// Nil if nothing is kept from one commit for the next.
  let run: CommitRun?
  /// When the last commit ended, and whether this entry has committed.
  @exclusivity(unchecked) var lastCommit: ContinuousClock.Instant?
  @exclusivity(unchecked) var hasCommitted = false
  /// Whether commits follow each other, and a thread sees to the end of that.
  @exclusivity(unchecked) var isRunWatched = false
  /// The memory of the last transaction's batch, for the next.
  @exclusivity(unchecked) var spareBatch = ChangeBatch()
  /// The rules of the schema that the transaction of this number brought.
  @exclusivity(unchecked) var knownRules: [EntityRules?] = []
  @exclusivity(unchecked) var knownRulesVersion: Int64 = -1
  /// The timestamp of the last transaction that took the clock's.
  @exclusivity(unchecked) var lastOwnTimestamp: Timestamp?
  /// The head of a file that was compacted without a checkpoint; closing adds none as long as it
  /// stays the head.
  @exclusivity(unchecked) package var bareHead: Int64?
  /// What failed while nobody asked for anything, and may have taken deferred commits; thrown when
  /// the store is closed.
  package let untoldFailure = Locked<AnnalsError?>(nil)
  let published: PublishedVersion

  package init(
    log: LogFile, newest: StoreVersion, options: StoreOptions,
    now: @escaping @Sendable () -> Timestamp, run: CommitRun?, published: PublishedVersion
  ) {
    self.log = log
    unpublished = options.durability == .full ? newest : nil
    newestHead = newest.head
    newestSchemaVersion = newest.schemaVersion
    self.options = options
    self.now = now
    self.run = run
    self.published = published
    group.reset(to: newest.head.number)
  }

  /// The version after every transaction in `log.view`, acknowledged or not.
  package var newest: StoreVersion {
    settle()
    return unpublished ?? published.current
  }

  /// Runs `body` as the only writer, on the newest state, with the file lock held; then waits for
  /// what it appended to be acknowledged.
  package func write<R>(_ body: (StoreWriter) throws -> R) throws -> R {
    enter()
    let result: R
    let appended: Int64
    do {
      try prepare()
      let before = newestHead.number
      result = try body(self)
      appended = newestHead.number > before ? newestHead.number : 0
    } catch {
      leave()
      throw error
    }
    leave()
    if appended > 0, options.durability == .full { try acknowledge(appended) }
    return result
  }

  /// Runs `body` as the only writer with nothing waiting for a sync: for checkpoints, rewrites and
  /// the end.
  package func writeAlone<R>(_ body: (StoreWriter) throws -> R) throws -> R {
    while true {
      enter()
      if options.durability == .deferred || !group.isPending { break }
      leave()
      group.drain()
    }
    defer { leave() }
    try prepare()
    return try body(self)
  }

  /// Takes over a version that `log` has arrived at: after a commit, a catch-up, or a reload.
  func advance(to state: State, isCommit: Bool, isReloaded: Bool = false) {
    let version = newest.successor(state: state, view: log.view, isReloaded: isReloaded)
    working = nil
    newestHead = version.head
    newestSchemaVersion = version.schemaVersion
    isStale = false
    hasCommitted = isCommit
    guard options.durability == .full else {
      published.replace(with: version)
      return
    }
    unpublished = version
    guard isCommit else {
      group.reset(to: version.head.number)
      published.replace(with: version)
      return
    }
    commitsUnderLock += 1
    group.append(version)
  }

  /// Whether a commit with these changes may move the published version on: if that is the one
  /// before, another commit is expected to follow soon, and readers need not wait long.
  func canMoveOn(by batch: ChangeBatch) -> Bool {
    (run == nil || isRunWatched) && batch.changes.count <= StoreWriter.mostChangesMovedOn
      && (options.durability == .deferred || !group.isPending)
  }

  /// How many changes are applied while readers wait.
  private static let mostChangesMovedOn = 16

  /// Takes over the state after a commit all of whose changes are in the batch, as `advance` does,
  /// and keeps it for the next transaction. What the batch holds afterwards is of no use.
  func moveOn(by batch: inout ChangeBatch, to state: State) {
    let view = log.view
    newestHead = view.head
    hasCommitted = true
    working = state
    guard options.durability == .full else {
      return published.moveOn(by: batch, to: state, view: view)
    }
    unpublished = nil
    step = view.head.number
    commitsUnderLock += 1
    group.append(&batch, to: state, view: view)
  }

  /// Makes a version after the newest transaction, if that has none and waits for its sync still.
  func settle() {
    guard let number = step else { return }
    step = nil
    guard !group.hasPublished(number) else { return }
    guard let working else { preconditionFailure("a step is of the state that was worked on") }
    unpublished = published.current.successor(state: working, view: log.view)
  }

  /// The newest state for a transaction to change, if one is kept; it is not kept any longer.
  func takeWorkingState() -> State? { working.take() }
}
