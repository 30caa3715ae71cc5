import Annals
import AnnalsFaults
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Synchronization
import Testing

@testable import AnnalsEngine

/// Where a batch of writes of tasks ends.
///
/// While the tasks come, a thread writes; so the first is a batch of its own, and the others wait
/// for the next.
@Suite(.deadline) struct TaskBatchTests {
  private let disk = FaultyFileSystem()

  /// How many closures ran between two syncs.
  private final class Batches: @unchecked Sendable {
    private let disk: FaultyFileSystem
    private let lock = NSLock()
    private var syncs: [Int] = []

    init(_ disk: FaultyFileSystem) { self.disk = disk }

    /// Call it in each closure.
    func note() {
      let count = disk.callCount(.sync)
      lock.withLock { syncs.append(count) }
    }

    var sizes: [Int] {
      let seen = lock.withLock { syncs }
      return Set(seen).sorted().map { count in seen.filter { $0 == count }.count }
    }
  }

  private typealias Body = @Sendable (WriteTransaction) throws -> Void

  /// So many bodies that do no more.
  private func nothing(_ count: Int) -> [Body] { Array(repeating: { _ in }, count: count) }

  /// A store with turns and checkpoints that do not end a batch.
  private func makeStore(_ lockMode: StoreOptions.LockMode = .shared) throws -> Store {
    var options = StoreOptions()
    options.lockMode = lockMode
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location, options: options)
    store.writer.longestTurn = .seconds(3_600)
    store.writer.checkpointThreshold.store(.max, ordering: .relaxed)
    return store
  }

  /// Runs these bodies, each with a note, as writes of tasks that all wait at once; returns how
  /// many were in each batch.
  private func sizes(_ store: Store, _ bodies: [Body]) async throws -> [Int] {
    let batches = Batches(disk)
    let holder = try LockHeld(by: store)
    var tasks: [Task<Void, any Error>] = []
    let writes = store.writer.taskWrites
    for (index, body) in bodies.enumerated() {
      tasks.append(
        Task {
          try await store.write { tx in
            batches.note()
            _ = try tx.insert("Note", ["id": .string("\(index)")])
            try body(tx)
          }
        })
      // The first two in this order, the second when the thread has taken the first.
      while index < 2, writes.addedCount <= index, !Task.isCancelled { await Task.yield() }
      while index == 0, writes.waitingCount > 0, !Task.isCancelled { await Task.yield() }
    }
    while writes.addedCount < bodies.count, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    holder.release()
    for task in tasks { try await task.value }
    return batches.sizes
  }

  @Test func aBatchHasAtMost1024Commits() async throws {
    let store = try makeStore()
    #expect(try await sizes(store, nothing(1_030)) == [1, 1_024, 5])
    #expect(try store.snapshot().count(of: "Note") == 1_030)
  }

  /// What the log had before does not count.
  @Test func aBatchsBytesAreItsOwn() async throws {
    let long = Value.string(String(repeating: "0123456789", count: 500_000))
    let first: Body = { tx in _ = try tx.insert("Note", ["id": "long", "text": long]) }
    let store = try makeStore()
    #expect(try await sizes(store, [first] + nothing(5)) == [1, 5])
    #expect(store.writer.log.bytesSinceCheckpoint > 5_000_000)
  }

  @Test(arguments: [StoreOptions.LockMode.shared, .exclusive])
  func aBatchEndsWithItsTurn(lockMode: StoreOptions.LockMode) async throws {
    let store = try makeStore(lockMode)
    store.writer.longestTurn = .zero
    #expect(try await sizes(store, nothing(4)) == [1, 1, 1, 1])
  }

  /// Nobody else wants the file lock, which the store has had since it was opened.
  @Test func anExclusiveStoresBatchesAreAsLong() async throws {
    let store = try makeStore(.exclusive)
    store.writer.longestTurn = .seconds(600)
    store.writer.lockedSince = .now.advanced(by: .seconds(-3_600))
    #expect(try await sizes(store, nothing(6)) == [1, 5])
  }

  @Test func aBatchEndsForWhoWritesAlone() async throws {
    let store = try makeStore(.exclusive)
    // However long a thread waits for its processor.
    store.writer.longestTurn = .seconds(600)
    let writers = Writers(store)
    let second: Body = { _ in
      writers.run("checkpoint") { try $0.checkpoint() }
      let deadline = ContinuousClock.now.advanced(by: .seconds(20))
      until {
        store.writer.waitingAlone.load(ordering: .relaxed) == 1 || ContinuousClock.now > deadline
      }
    }
    #expect(try await sizes(store, nothing(1) + [second] + nothing(2)) == [1, 1, 2])
    writers.wait()
    #expect(writers.failures.isEmpty)
    #expect(store.writer.log.changesSinceCheckpoint == 2)
  }

  @Test func aClosureOfACancelledTaskDoesNotRun() async throws {
    let store = try makeStore()
    let holder = try LockHeld(by: store)
    var tasks: [Task<Void, any Error>] = []
    for id in 0..<3 {
      tasks.append(
        Task {
          try await store.write { tx in _ = try tx.insert("Note", ["id": .string("\(id)")]) }
        })
      while store.writer.taskWrites.addedCount <= id, !Task.isCancelled { await Task.yield() }
    }
    tasks[1].cancel()
    let error = await #expect(throws: AnnalsError.self) { try await tasks[1].value }
    #expect(error?.code == .cancelled)
    holder.release()
    for task in [tasks[0], tasks[2]] { try await task.value }
    #expect(try store.ids() == ["0", "2"] && store.token.number == 3)
  }

  /// Another process keeps the file lock, and only cancelled tasks wait for it.
  @Test func cancelledTasksKeepNobodyWaitingForTheFile() async throws {
    let store = try makeStore()
    let other = try noteStore(StoreLocation(fileSystem: disk, path: "/a.annals"), seed: 2)
    let holder = try LockHeld(by: other)
    let task = Task { try await store.write { tx in _ = try tx.insert("Note", ["id": "a"]) } }
    while store.writer.taskWrites.addedCount < 1, !Task.isCancelled { await Task.yield() }
    task.cancel()
    await #expect(throws: AnnalsError.self) { try await task.value }
    let writers = Writers(store)
    writers.run("refresh") { try $0.refresh() }
    let deadline = ContinuousClock.now.advanced(by: .seconds(20))
    while writers.acknowledged.isEmpty, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(writers.acknowledged == ["refresh"])
    holder.release()
    writers.wait()
    #expect(try store.ids() == [])
  }
}
