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
///   again and again keeps it for a turn (`LockTurn`).
/// - `published` (in `Store`) follows `newest` after the sync; in `.deferred`, after the write.
/// - After a failure whose outcome is unknown nothing more is written: `log.isPoisoned`.
final class StoreWriter: @unchecked Sendable {
  let log: LogFile
  let options: StoreOptions
  let environment: StoreEnvironment
  let group = GroupCommit()

  /// The log is not worth a checkpoint before it has grown by this much.
  let checkpointThreshold = Atomic<UInt64>(StoreWriter.leastCheckpointInterval)
  /// How much log is always left without a checkpoint.
  static let leastCheckpointInterval: UInt64 = 1 << 20
  private let lock = Condition()
  /// The thread inside `enter` … `leave`; 0 for none.
  private let writingThread = Atomic<UInt64>(0)
  // All that follows is guarded by `lock`, so exclusive access needs no check.
  /// The newest version with `.full`; nil with `.deferred`, where it is the published one, which
  /// then has no other holder.
  @exclusivity(unchecked) private var unpublished: StoreVersion?
  /// The position of the newest version, and the last transaction that changed its schema.
  @exclusivity(unchecked) private(set) var newestHead: LogPosition
  @exclusivity(unchecked) private(set) var newestSchemaVersion: Int64
  @exclusivity(unchecked) private var working: State?
  /// Whether the log has gone on and the state could not follow: then it must be read anew.
  @exclusivity(unchecked) private var isStale = false
  @exclusivity(unchecked) private var isFileLocked = false
  @exclusivity(unchecked) private var lockedSince = ContinuousClock.now
  @exclusivity(unchecked) private var commitsUnderLock = 0
  @exclusivity(unchecked) private var isClosed = false
  /// Nil if the file lock is given up after each deferred commit.
  private let turn: LockTurn?
  /// When the last deferred commit ended, and whether this entry has committed.
  @exclusivity(unchecked) private var lastCommit: ContinuousClock.Instant?
  @exclusivity(unchecked) private var hasCommitted = false
  /// Whether a thread sees to the end of the turn.
  @exclusivity(unchecked) private var isTurnWatched = false
  /// The memory of the last transaction's batch, for the next.
  @exclusivity(unchecked) var spareBatch = ChangeBatch()
  /// The rules of the schema that the transaction of this number brought.
  @exclusivity(unchecked) var knownRules: [EntityRules?] = []
  @exclusivity(unchecked) var knownRulesVersion: Int64 = -1
  /// The timestamp of the last transaction that took the clock's.
  @exclusivity(unchecked) var lastOwnTimestamp: Timestamp?
  /// The head of a file that was compacted without a checkpoint; closing adds none as long as it
  /// stays the head.
  @exclusivity(unchecked) var bareHead: Int64?
  /// What failed while nobody asked for anything, and may have taken deferred commits; thrown when
  /// the store is closed.
  let untoldFailure = Locked<AnnalsError?>(nil)
  private let published: PublishedVersion

  /// A group closes after this many commits, or this long, so that other processes get a turn.
  private static let largestGroup = 64
  private static let longestGroup = Duration.milliseconds(5)

  init(
    log: LogFile, newest: StoreVersion, options: StoreOptions, environment: StoreEnvironment,
    turn: LockTurn?, published: PublishedVersion
  ) {
    self.log = log
    unpublished = options.durability == .full ? newest : nil
    newestHead = newest.head
    newestSchemaVersion = newest.schemaVersion
    self.options = options
    self.environment = environment
    self.turn = options.durability == .deferred && options.lockMode == .shared ? turn : nil
    self.published = published
    group.reset(to: newest.head.number)
  }

  /// The version after every transaction in `log.view`, acknowledged or not.
  var newest: StoreVersion { unpublished ?? published.current }

  /// Runs `body` as the only writer, on the newest state, with the file lock held; then waits for
  /// what it appended to be acknowledged.
  func write<R>(_ body: (StoreWriter) throws -> R) throws -> R {
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
  func writeAlone<R>(_ body: (StoreWriter) throws -> R) throws -> R {
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
    guard options.durability == .full else {
      hasCommitted = isCommit
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

  /// Whether a commit with these changes may move the published version on: if another is expected
  /// to follow soon, and readers need not wait long.
  func canMoveOn(by batch: ChangeBatch) -> Bool {
    options.durability == .deferred && (turn == nil || isTurnWatched)
      && batch.changes.count <= StoreWriter.mostChangesMovedOn
  }

  /// How many changes are applied while readers wait.
  private static let mostChangesMovedOn = 16

  /// Takes over the state after a commit all of whose changes are in the batch, as `advance` does,
  /// and keeps it for the next transaction.
  func moveOn(by batch: ChangeBatch, to state: State) {
    let view = log.view
    published.moveOn(by: batch, to: state, view: view)
    newestHead = view.head
    hasCommitted = true
    working = state
  }

  /// The newest state for a transaction to change, if one is kept; it is not kept any longer.
  func takeWorkingState() -> State? { working.take() }

  // MARK: The lock

  private func enter() {
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

  private func leave() {
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

  private func releaseFileLock() {
    log.unlock()
    isFileLocked = false
    commitsUnderLock = 0
    lock.broadcast()
  }

  private func acknowledge(_ number: Int64) throws(AnnalsError) {
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

  func sync() throws(AnnalsError) -> LogPosition {
    do throws(LogError) {
      return try log.sync()
    } catch {
      throw AnnalsError(error)
    }
  }

  /// Takes the file lock and catches up with other processes.
  private func prepare() throws {
    guard !isClosed else { throw AnnalsError.closedStore }
    guard !options.isReadOnly else { throw AnnalsError.readOnlyStore(log.path) }
    if isFileLocked {
      if isStale { try reload() }
      return
    }
    do {
      let standing: LogStanding
      do throws(LogError) {
        standing = try log.lock(.until(ContinuousClock.now.advanced(by: options.lockTimeout)))
      } catch .rewound {
        // The lock is held; what was read and never synced by its writer is gone.
        standing = .replaced
      }
      isFileLocked = true
      lockedSince = .now
      commitsUnderLock = 0
      try follow(standing)
    } catch {
      // Whoever comes next must catch up first.
      if isFileLocked { releaseFileLock() }
      throw AnnalsError.wrapping(error)
    }
  }

  /// Brings `newest` to where the file stands.
  private func follow(_ standing: LogStanding) throws {
    if isStale { return try reload() }
    switch standing {
    case .current: return
    case .behind:
      var replay = StateReplay(state: newest.state)
      do {
        try log.catchUp { try replay.apply(&$0) }
      } catch LogError.rewound {
        return try reload()
      }
      isStale = true
      advance(to: try log.state(after: replay), isCommit: false)
    case .replaced: try reload()
    }
  }

  /// Reads the file anew: another process or a rewrite replaced it, or what was read is damaged.
  func reload(from choice: StartChoice = .newest) throws {
    var replay = StateReplay()
    // A number may stand for another schema than before.
    knownRulesVersion = -1
    isStale = true
    try log.reload(
      from: choice, restore: { try replay.restore($0) }, apply: { try replay.apply(&$0) })
    advance(to: try log.state(after: replay), isCommit: false, isReloaded: true)
  }

  /// Whether the file is one that was compacted without a checkpoint, and nothing was added since.
  var isBare: Bool {
    enter()
    defer { leave() }
    return bareHead == newestHead.number
  }

  /// Catches up with other processes without the lock: for readers.
  func refresh() throws {
    enter()
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
      throw AnnalsError.wrapping(error)
    }
  }

  /// Ends all writing; safe to call again.
  func close() throws {
    while true {
      enter()
      if options.durability == .deferred || !group.isPending { break }
      leave()
      group.drain()
    }
    defer {
      isFileLocked = false
      // Those who wait for the group to end learn that the store is closed.
      lock.broadcast()
      writingThread.store(0, ordering: .relaxed)
      lock.unlock()
    }
    guard !isClosed else { return }
    isClosed = true
    working = nil
    do throws(LogError) {
      try log.close()
    } catch {
      throw AnnalsError(error)
    }
  }
}
