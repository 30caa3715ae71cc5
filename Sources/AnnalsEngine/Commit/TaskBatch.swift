import AnnalsLog
import AnnalsStorage

/// Commits of tasks that share a sync: appended in one turn or in several, as their tasks come.
struct TaskBatch {
  /// The most commits of a batch.
  private static let mostJobs = 1_024
  /// The most bytes that it appends before its sync, but for its last commit.
  private static let mostBytes: UInt64 = 4 << 20

  /// The jobs that had their turn.
  private(set) var jobs: [TaskWrites.Job] = []
  /// Whether it must sync before others append.
  private(set) var isFull = false
  /// When its first turn began.
  private(set) var start = ContinuousClock.now
  private var bytes: UInt64 = 0
  private var membership: GroupCommit.Membership?

  /// Runs these jobs in one turn, as many as there is room for. Returns the others. If no turn is
  /// given, all of them end with its error.
  mutating func append(
    _ added: [TaskWrites.Job], with writer: StoreWriter
  ) -> ArraySlice<TaskWrites.Job> {
    do {
      guard try writer.enter(after: membership) else {
        isFull = true
        return added[...]
      }
      defer {
        membership = writer.joined.take()
        writer.leave()
      }
      try writer.lockAndCatchUp(unless: { added.allSatisfy { $0.isCancelled } })
      if jobs.isEmpty { start = .now }
      return run(added, with: writer)
    } catch {
      for job in added { job.end(error) }
      return []
    }
  }

  private mutating func run(
    _ added: [TaskWrites.Job], with writer: StoreWriter
  ) -> ArraySlice<TaskWrites.Job> {
    var end = writer.log.bytesSinceCheckpoint
    for (index, job) in added.enumerated() {
      job.run(writer)
      jobs.append(job)
      let newEnd = writer.log.bytesSinceCheckpoint
      bytes += newEnd > end ? newEnd - end : 0
      end = newEnd
      isFull =
        jobs.count >= TaskBatch.mostJobs || bytes >= TaskBatch.mostBytes
        || writer.mustEndBatch(since: start)
      if isFull { return added[(index + 1)...] }
    }
    return []
  }

  /// Waits until the batch is synced. Returns the error that keeps its commits from being
  /// acknowledged.
  func acknowledge(with writer: StoreWriter) -> AnnalsError? {
    guard let membership else { return nil }
    do throws(AnnalsError) {
      try writer.acknowledge(membership)
      return nil
    } catch {
      return error
    }
  }
}
