import AnnalsStorage
import Synchronization

/// Writes of tasks: closures that wait for the writer, run on a thread of the store.
///
/// The thread takes all that wait, runs and appends one after the other, syncs once, and resumes
/// their tasks. A closure sees the commits before it in its batch. One that throws, or breaks a
/// rule, refuses its own commit; a failed sync fails the whole batch.
///
/// A write that finds nobody before it, and a disk that syncs quickly, runs on its task's own
/// thread: to change threads twice would take longer.
final class TaskWrites: @unchecked Sendable {
  /// A closure that waits for the writer.
  final class Job: @unchecked Sendable {
    private let body: @Sendable (StoreWriter) throws -> Void
    let call = WaitingCall<Void>(cancellation: .cancelledWrite)
    /// Why nothing was recorded; only for the thread that runs the job.
    @exclusivity(unchecked) private var refusal: (any Error)?

    init(_ body: @escaping @Sendable (StoreWriter) throws -> Void) {
      self.body = body
    }

    /// Whether the task does not wait any more.
    var isCancelled: Bool { call.isCancelled }

    /// Runs the closure, which appends its draft; for the holder of the turn.
    func run(_ writer: StoreWriter) {
      do {
        try call.begin()
        try body(writer)
      } catch {
        refusal = error
      }
    }

    /// Resumes the task: also with the error that kept its commit from being acknowledged.
    func end(_ failure: (any Error)?) {
      call.end(with: (failure ?? refusal).map { .failure($0) } ?? .success(()))
    }
  }

  /// Guards what follows; the thread waits on it for tasks to come back.
  private let lock = ConditionLock(.tasks)
  @exclusivity(unchecked) private var waiting: [Job] = []
  /// Whether somebody runs jobs, and will see those that are added.
  @exclusivity(unchecked) private var isRunning = false
  /// How many jobs were ever added; for tests.
  @exclusivity(unchecked) private var added = 0
  /// Whether the thread waits for the next job.
  @exclusivity(unchecked) private var isAwaiting = false

  private let thread = LazyWorkerThread()

  /// No writes yet, and no thread.
  init() {}

  /// How many writes of tasks ever waited; for tests.
  var addedCount: Int { lock.withLock { added } }

  /// How many writes of tasks the thread has not taken yet.
  var waitingCount: Int { lock.withLock { waiting.count } }

  /// Whether no write of a task runs or waits; for tests.
  var isIdle: Bool { lock.withLock { !isRunning } }

  /// Runs `body` with the writer when its turn comes, and waits until what it appended is
  /// acknowledged. Blocks the task's thread for no longer than a quick sync takes. Throws what
  /// `body` throws; `.cancelled` if the task is cancelled before `body` has begun; and as a commit
  /// does.
  func run(
    with writer: StoreWriter, _ body: @escaping @Sendable (StoreWriter) throws -> Void
  ) async throws {
    try writer.requireOwner()
    if try await runAtOnce(with: writer, body) { return }
    writer.timesSyncs.store(true, ordering: .relaxed)
    let thread = try AnnalsError.translating { try self.thread.running() }
    let job = Job(body)
    try await job.call.wait { add(job, thread, writer) }
  }

  /// Runs `body` on the task's thread, unless others write, or a sync takes long. Returns false if
  /// it has not run.
  private func runAtOnce(
    with writer: StoreWriter, _ body: @Sendable (StoreWriter) throws -> Void
  ) async throws -> Bool {
    guard writer.syncsQuickly, begin() else { return false }
    defer { end(with: writer) }
    if Task.isCancelled { throw AnnalsError.cancelledWrite }
    switch try writer.writeIfFree(body) {
    case .busy: return false
    case .acknowledged: return true
    case .appended(let commit): try await acknowledge(commit, with: writer)
    }
    return true
  }

  /// Waits for a long sync on the store's thread.
  private func acknowledge(
    _ commit: GroupCommit.Membership, with writer: StoreWriter
  ) async throws {
    guard let thread = try? thread.running() else { return try writer.acknowledge(commit) }
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      thread.submit { continuation.resume(with: Result { try writer.acknowledge(commit) }) }
    }
  }

  /// Notes that a write of a task runs, if none does.
  private func begin() -> Bool {
    lock.withLock {
      if isRunning { return false }
      isRunning = true
      return true
    }
  }

  /// Ends `begin`: lets the thread run what waits by now, and write a checkpoint if one is due.
  private func end(with writer: StoreWriter) {
    let isLast = endIfNoneWaits()
    guard !isLast || writer.isCheckpointDue.load(ordering: .relaxed) else { return }
    let rest: @Sendable () -> Void = {
      writer.checkpointIfDue()
      if !isLast { self.runAll(with: writer) }
    }
    if let thread = try? thread.running() { thread.submit(rest) } else { rest() }
  }

  private func add(_ job: Job, _ thread: WorkerThread, _ writer: StoreWriter) {
    let (mustStart, mustWake) = lock.withLock {
      waiting.append(job)
      added += 1
      defer { isRunning = true }
      return (!isRunning, isAwaiting)
    }
    if mustStart { thread.submit { self.runAll(with: writer) } }
    if mustWake { lock.signal() }
  }

  /// Runs the jobs that wait, in batches, until none is left.
  private func runAll(with writer: StoreWriter) {
    var returning = ReturningWriters()
    while true {
      var batch = TaskBatch()
      while let jobs = jobs(for: batch, returning) { putBack(batch.append(jobs, with: writer)) }
      if !returning.isComplete(batch.jobs.count) { returning.end(with: batch.jobs.count) }
      if batch.jobs.isEmpty, endIfNoneWaits() { return }
      let failure = batch.acknowledge(with: writer)
      // Before the tasks go on: those that write again at once are expected, and not yet here.
      let joined = waitingCount
      if writer.options.durability == .full {
        returning.begin(
          released: batch.jobs.count, joined: joined,
          since: batch.jobs.count > 1 ? batch.start : nil)
      }
      for job in batch.jobs { job.end(failure) }
      writer.checkpointIfDue()
    }
  }

  /// The jobs that wait and may join the batch; nil if it gets no more. Tasks that the last batch
  /// resumed mostly write again at once: a batch waits for them as a group does for threads, and
  /// appends those that have come.
  private func jobs(for batch: TaskBatch, _ returning: ReturningWriters) -> [Job]? {
    let count = batch.jobs.count
    if batch.isFull || count > 0 && count >= returning.expected { return nil }
    return lock.withLock {
      if let deadline = returning.deadline {
        isAwaiting = true
        while waiting.isEmpty, lock.wait(until: deadline) {}
        isAwaiting = false
      }
      if waiting.isEmpty { return nil }
      defer { waiting = [] }
      return waiting
    }
  }

  /// Lets jobs for which a batch has no room wait again, before all others.
  private func putBack(_ jobs: ArraySlice<Job>) {
    if !jobs.isEmpty { lock.withLock { waiting.insert(contentsOf: jobs, at: 0) } }
  }

  /// Notes that nobody runs jobs, unless one waits; returns whether none does. The next job then
  /// starts the thread again.
  private func endIfNoneWaits() -> Bool {
    lock.withLock {
      if waiting.isEmpty { isRunning = false }
      return !isRunning
    }
  }
}
