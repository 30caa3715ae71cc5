import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// A store whose transactions come from a log that other replicas share: the same ones, in the same
/// order, with the same numbers, dates and authors, so that every replica has the same state at
/// each number.
///
/// Everything is read from `store`, as from any store; what is written goes through the replica:
///
///     let replica = try await Replica.open(path: "posts.annals", records: Post.self, log: log)
///     try await replica.write(author: "me") { tx in try tx.insert(Post(title: "Fog")) }
///     print(try replica.store.snapshot().fetch(Fetch(Post.self)).count)
///
/// A write returns once the log has taken the transaction and the replica's own file has it, too.
/// Where another replica was faster, the transactions of others are applied, and the closure runs
/// again on the newer state. Safe in any task; writes of several tasks travel together.
public final class Replica: Sendable {
  /// The store of this replica, to be read. Writing to it throws `.readOnly`; consumers, prunes,
  /// compaction and backups are each replica's own.
  public let store: Store
  let log: PatientLog
  let options: ReplicaOptions
  let environment: StoreEnvironment
  /// Who prepares, publishes and applies.
  let turn = Turn()
  /// The writes that wait for a batch.
  let queue = SubmissionQueue()
  /// What was published in batches.
  let batches = Locked(BatchCounts())
  /// Runs what blocks, so that no thread of Swift's pool does.
  private let thread = LazyWorkerThread()
  let content: Locked<Content>

  struct Content {
    /// How far the file has come, as far as this replica has seen; only the holder of the turn
    /// changes it.
    var place: ReplicaPlace
    var newestKnown: UInt64 = 0
    var failure: ReplicationError?
    var fileTrouble: AnnalsError?
    var isClosed = false
    /// Erasures whose transactions are in the file, which still has the values.
    var unfinished: [(erasure: Erasure, number: Int64)] = []
    /// What was offered again to the log.
    var restored: RestoredTail?
    /// The branches beside the file.
    var leftBranches: [LeftBranch] = []
    var follower: Task<Void, Never>?
    /// Who wants to be next.
    var courtesy = Courtesy()
    var hearing: Task<Void, Never>?
    var pulse: Task<Void, Never>?
    /// How much the log has grown.
    var volume = LogVolume()
    /// The name of the snapshot that is being got; nil for none.
    var fetching: String?
    /// Whether a snapshot is being made by the policy.
    var isMaking = false
    var upkeep = UpkeepStatus()
    var registering: Task<Void, Never>?
    var keeper: Task<Void, Never>?
    /// The drafts that wait, once somebody has asked for them.
    var outbox: Outbox?
    /// Why the outbox could not be opened, or what it could not send.
    var outboxFailure: (any Error)?
    /// The newest state with the drafts, as it was made last.
    var chain: PendingChain?
    /// Sends what waits.
    var sender: Task<Void, Never>?
  }

  init(
    _ store: Store, log: PatientLog, at place: ReplicaPlace, _ options: ReplicaOptions,
    _ environment: StoreEnvironment
  ) {
    self.store = store
    self.log = log
    self.options = options
    self.environment = environment
    content = Locked(Content(place: place))
  }

  deinit {
    let tasks = content.withLock { content in
      [
        content.follower, content.sender, content.pulse, content.registering, content.keeper,
        content.hearing,
      ]
    }
    for task in tasks { task?.cancel() }
  }

  /// How many batches of several transactions were made, and how many transactions were in them;
  /// for tests.
  package var batchCounts: BatchCounts { batches.withLock { $0 } }

  /// How many writes wait for a batch; for tests.
  package var waitingWrites: Int { queue.count }

  /// Where the replica stands. O(1).
  public var status: ReplicaStatus {
    let token = store.token
    let outage = log.outage.text
    return content.withLock { content in
      ReplicaStatus(
        token: token, sequence: content.place.sequence,
        newestKnown: max(content.newestKnown, content.place.sequence), failure: content.failure,
        outage: outage, fileTrouble: content.fileTrouble, restored: content.restored,
        leftBranches: content.leftBranches,
        outbox: OutboxStatus(content.outbox?.listing.items ?? [], content.outboxFailure),
        upkeep: content.upkeep)
    }
  }

  /// Ends following, waits for the write under way, and closes the store. Safe to call again.
  /// Throws as `Store.close()`.
  public func close() async throws {
    let tasks = content.withLock { content in
      content.isClosed = true
      // It may wait for an answer, and holds nothing.
      content.pulse.take()?.cancel()
      return [
        content.follower.take(), content.sender.take(), content.registering.take(),
        content.keeper.take(), content.hearing.take(),
      ]
    }
    for task in tasks {
      task?.cancel()
      await task?.value
    }
    let outbox = content.withLock { $0.outbox }
    try await turn.run {
      try await blocking { [store] in
        defer { try? outbox?.store.close() }
        try store.close()
      }
    }
  }

  // MARK: Inside

  /// The writer of the store.
  var writer: StoreWriter { store.writer }

  /// Runs `body` on a thread of the replica; the task waits without blocking its own.
  func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let thread = try AnnalsError.translating { try self.thread.running() }
    let call = WaitingCall<Value>(cancellation: .cancelledWrite)
    // What blocks is never begun and left: a cancelled task waits for it.
    return try await Task { try await call.run(on: thread, body) }.value
  }

  func requireOpen() throws(ReplicationError) {
    guard content.withLock({ $0.isClosed }) else { return }
    throw ReplicationError(.closed, "the replica is closed")
  }

  /// How far the file has come. Looks into it where another process has written to it.
  func currentPlace() throws -> ReplicaPlace {
    let place = content.withLock { $0.place }
    let found = try store.version.newestPlace(knowing: place)
    if found.number != place.number { content.withLock { $0.place = found } }
    return found
  }

  /// Notes a failure after which the replica cannot go on, and returns the error.
  func noting(_ error: any Error) -> any Error {
    if let error = error as? ReplicationError, error.isLasting, error.code != .tooLarge {
      content.withLock { $0.failure = error }
    }
    return error
  }
}

extension StoreVersion {
  /// The place of the newest transaction, which mostly is the known one. Throws `.notAReplica` if
  /// it did not come from a log.
  func newestPlace(knowing known: ReplicaPlace) throws -> ReplicaPlace {
    if head.number == known.number { return known }
    // Another process has this file open as a replica, too.
    guard let found = try newestPlace() else { throw ReplicationError.notFromLog(self) }
    return found
  }
}

extension ReplicationError {
  /// The error of a file whose newest transaction did not come from a log.
  static func notFromLog(_ version: StoreVersion) -> ReplicationError {
    ReplicationError(
      .notAReplica,
      "transaction \(version.head.number) of \(version.store) did not come from the shared log: "
        + "the file is of a store of its own, or was written to otherwise. Nothing was changed; "
        + "to let an empty log begin with it, set `startsLog`; otherwise make a replica anew, and "
        + "keep this file")
  }
}
