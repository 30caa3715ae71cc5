import AnnalsLog
import AnnalsStorage
import Synchronization

/// Writes of tasks: closures that wait for the writer, run on a thread of the store.
///
/// The thread takes all that wait, runs and appends one after the other, syncs once, and resumes
/// their tasks. A closure sees the commits before it in its batch. One that throws, or breaks a
/// rule, refuses its own commit; a failed sync fails the whole batch.
final class TaskWrites: @unchecked Sendable {
  /// A closure that waits for the writer.
  struct Job: Sendable {
    /// Runs the closure, appends its draft, and keeps the result; for the holder of the turn.
    let run: @Sendable (StoreWriter) -> Void
    /// Resumes the task: with its result, or with the error that kept it from being acknowledged.
    let end: @Sendable ((any Error)?) -> Void
    /// Whether the task does not wait any more.
    let isCancelled: @Sendable () -> Bool
  }

  /// Guards what follows; the thread waits on it for tasks to come back.
  private let lock = ConditionLock(.tasks)
  @exclusivity(unchecked) private var waiting: [Job] = []
  /// Whether the thread runs jobs, and will see those that are added.
  @exclusivity(unchecked) private var isRunning = false
  /// How many jobs were ever added; for tests.
  @exclusivity(unchecked) private var added = 0
  /// The number of waiting jobs at which the thread goes on; 0 if it does not wait.
  @exclusivity(unchecked) private var awaited = 0

  private let thread = LazyWorkerThread()

  /// No writes yet, and no thread.
  init() {}

  /// How many writes of tasks were ever added; for tests.
  var addedCount: Int { lock.withLock { added } }

  /// How many writes of tasks the thread has not taken yet; for tests.
  var waitingCount: Int { lock.withLock { waiting.count } }

  /// Runs `body` with the writer when its turn comes, and waits until what it appended is
  /// acknowledged, without blocking the task's thread. Throws what `body` throws; `.cancelled` if
  /// the task is cancelled before `body` has begun; and as a commit does.
  func run<Value: Sendable>(
    with writer: StoreWriter, _ body: @escaping @Sendable (StoreWriter) throws -> Value
  ) async throws -> Value {
    try writer.requireOwner()
    let thread = try AnnalsError.translating { try self.thread.running() }
    let call = WaitingCall<Value>(cancellation: .cancelledWrite)
    let result = Locked<Result<Value, any Error>?>(nil)
    let job = Job(
      run: { writer in
        let value = Result {
          try call.begin()
          return try body(writer)
        }
        result.withLock { $0 = value }
      },
      end: { failure in
        let value = result.withLock { $0 }
        call.end(with: failure.map(Result.failure) ?? value ?? .failure(AnnalsError.closedStore))
      },
      isCancelled: { call.isCancelled })
    return try await call.wait { self.add(job, thread, writer) }
  }

  private func add(_ job: Job, _ thread: WorkerThread, _ writer: StoreWriter) {
    let (mustStart, mustWake) = lock.withLock {
      waiting.append(job)
      added += 1
      defer { isRunning = true }
      return (!isRunning, waiting.count == awaited)
    }
    if mustStart { thread.submit { self.runAll(with: writer) } }
    if mustWake { lock.signal() }
  }

  /// Runs the jobs that wait, in batches, until none is left.
  private func runAll(with writer: StoreWriter) {
    var returning = ReturningWriters()
    var jobs: [Job] = []
    while true {
      takeJobs(into: &jobs, &returning)
      guard !jobs.isEmpty else { return }
      let start = ContinuousClock.now
      let (count, failure) = writer.commit(jobs)
      // Before the tasks go on: those that write again at once are expected, and not yet here.
      let joined = jobs.count - count + lock.withLock { waiting.count }
      returning.begin(released: count, joined: joined, since: count > 1 ? start : nil)
      for job in jobs.prefix(count) { job.end(failure) }
      jobs.removeFirst(count)
      writer.checkpointIfDue()
    }
  }

  /// Adds the jobs that wait. Tasks that the last batch resumed mostly write again at once; a batch
  /// waits for them as a group does for threads.
  private func takeJobs(into jobs: inout [Job], _ returning: inout ReturningWriters) {
    let left = jobs.count
    lock.withLock {
      if let deadline = returning.deadline {
        awaited = returning.expected - left
        while waiting.count < awaited, lock.wait(until: deadline) {}
        awaited = 0
      }
      jobs += waiting
      waiting = []
      // The next one starts the thread again.
      if jobs.isEmpty { isRunning = false }
    }
    if !returning.isComplete(jobs.count) { returning.end(with: jobs.count) }
  }
}

extension StoreWriter {
  /// The most commits of tasks that share a sync.
  private static let mostInBatch = 1_024
  /// The most bytes that a batch appends before its sync, but for its last commit.
  private static let mostBytesInBatch: UInt64 = 4 << 20

  /// Runs a commit of a task: `body` appends it. Waits until it is acknowledged.
  package func commitOfTask<Value: Sendable>(
    _ body: @escaping @Sendable (StoreWriter) throws -> Value
  ) async throws -> Value {
    try await taskWrites.run(with: self, body)
  }

  /// Runs jobs, as many as one sync may serve. Returns how many, and the error that kept them from
  /// being acknowledged: nobody had a turn, or the sync failed for those who had.
  fileprivate func commit(_ jobs: [TaskWrites.Job]) -> (count: Int, failure: (any Error)?) {
    var count = 0
    do {
      try write(unless: { jobs.allSatisfy { $0.isCancelled() } }) { writer in
        let start = ContinuousClock.now
        let before = writer.log.bytesSinceCheckpoint
        for job in jobs {
          job.run(writer)
          count += 1
          let bytes = writer.log.bytesSinceCheckpoint
          guard count < StoreWriter.mostInBatch, bytes >= before,
            bytes - before < StoreWriter.mostBytesInBatch, !writer.mustEndBatch(since: start)
          else { break }
        }
      }
      return (count, nil)
    } catch {
      return (count == 0 ? jobs.count : count, error)
    }
  }
}
