import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import AnnalsEngine

/// On which thread the write of a task runs.
///
/// A task that does not wait goes on with its thread; so a closure that runs on the thread on which
/// its task began was not handed over.
@Suite(.deadline) struct TaskThreadTests {
  private let disk = FaultyFileSystem()
  private let location: StoreLocation
  /// A sync that takes an hour; no real one of a test does.
  private static let slow: Int64 = 3_600_000_000_000

  init() { location = StoreLocation(fileSystem: disk, path: "/a.annals") }

  /// A store whose syncs took so many nanoseconds until now.
  private func makeStore(
    usualSync: Int64 = 0, _ durability: StoreOptions.Durability = .full
  ) throws -> Store {
    var options = StoreOptions()
    options.durability = durability
    let store = try noteStore(location, options: options)
    store.writer.longestTurn = .seconds(3_600)
    store.writer.usualSync.store(usualSync, ordering: .relaxed)
    return store
  }

  /// Writes a note in a task; returns whether the closure ran on the task's thread.
  private func writesAtOnce(_ store: Store, _ id: Int, text: String = "") async throws -> Bool {
    // On a crowded machine the sync before took its time.
    let isQuick = store.writer.usualSync.load(ordering: .relaxed) < TaskThreadTests.slow
    if isQuick { store.writer.usualSync.store(0, ordering: .relaxed) }
    let task = CurrentThread.number
    let seen = Atomic<UInt64>(0)
    try await store.write { tx in
      _ = try tx.insert("Note", ["id": .string("\(id)"), "text": .string(text)])
      seen.store(CurrentThread.number, ordering: .relaxed)
    }
    return seen.load(ordering: .relaxed) == task
  }

  @Test func aWriteThatFindsNobodyRunsOnItsTasksThread() async throws {
    let store = try makeStore()
    let syncs = disk.callCount(.sync)
    for id in 0..<3 {
      #expect(try await writesAtOnce(store, id))
    }
    #expect(disk.callCount(.sync) - syncs == 3)
    #expect(store.writer.taskWrites.addedCount == 0)
    #expect(try store.ids() == ["0", "1", "2"])
  }

  @Test(arguments: [Int64.max, slow])
  func noThreadOfThePoolWaitsForASlowOrUnknownDisk(usualSync: Int64) async throws {
    let store = try makeStore(usualSync: usualSync)
    let isAtOnce = try await writesAtOnce(store, 0)
    #expect(!isAtOnce)
    #expect(try store.ids() == ["0"])
  }

  @Test func aDeferredWriteNeedsNoSync() async throws {
    let store = try makeStore(usualSync: .max, .deferred)
    let syncs = disk.callCount(.sync)
    #expect(try await writesAtOnce(store, 0))
    #expect(disk.callCount(.sync) == syncs)
    #expect(try store.ids() == ["0"])
  }

  @Test func aSlowSyncIsForgottenAfterSixteen() throws {
    let writer = try makeStore().writer
    writer.noteSync(TaskThreadTests.slow)
    #expect(!writer.syncsQuickly)
    writer.usualSync.store(2_000_000, ordering: .relaxed)
    for count in 0..<16 {
      #expect(!writer.syncsQuickly, "\(count)")
      writer.noteSync(50_000)
    }
    #expect(writer.syncsQuickly)
  }

  /// By the sync of the first write, which the store's thread makes.
  @Test func whetherTheDiskIsQuickIsLearntFromTheFirstWrite() async throws {
    let writer = try makeStore(usualSync: .max).writer
    try writer.write { _ in }
    #expect(writer.usualSync.load(ordering: .relaxed) == .max)
    let store = try noteStore(StoreLocation(fileSystem: disk, path: "/b.annals"))
    #expect(try await !writesAtOnce(store, 0))
    #expect(store.writer.usualSync.load(ordering: .relaxed) < TaskThreadTests.slow)
    until { store.writer.taskWrites.isIdle }
    #expect(try await writesAtOnce(store, 1))
  }

  @Test func aWriteThatOthersPrecedeDoesNotWaitOnItsThread() async throws {
    let store = try makeStore()
    let holder = try LockHeld(by: store)
    let isAtOnce = Task(executorPreference: ThreadPerJob()) { try await writesAtOnce(store, 0) }
    until { store.writer.taskWrites.addedCount == 1 }
    holder.release()
    let wasAtOnce = try await isAtOnce.value
    #expect(!wasAtOnce)
  }

  @Test func aWriteThatAnotherProcessKeepsOutDoesNotWaitOnItsThread() async throws {
    let store = try makeStore()
    let holder = try LockHeld(by: noteStore(location, seed: 2))
    let atOnce = Task(executorPreference: ThreadPerJob()) { try await writesAtOnce(store, 0) }
    until { store.writer.taskWrites.addedCount == 1 }
    holder.release()
    let wasAtOnce = try await atOnce.value
    #expect(!wasAtOnce)
    #expect(try store.ids() == ["0"])
  }

  /// The writer is free again, and its commit is not synced yet.
  @Test func aWriteBehindASyncDoesNotWaitOnItsThread() async throws {
    let store = try makeStore()
    let goOn = DispatchSemaphore(value: 0)
    let begun = DispatchSemaphore(value: 0)
    disk.duringNextSync {
      begun.signal()
      goOn.waitUnlessCancelled()
    }
    let writers = Writers(store)
    writers.run("write") { try $0.write { tx in _ = try tx.insert("Note", ["id": "thread"]) } }
    begun.waitUnlessCancelled()
    let atOnce = Task(executorPreference: ThreadPerJob()) { try await writesAtOnce(store, 0) }
    until { store.writer.taskWrites.addedCount == 1 }
    goOn.signal()
    let wasAtOnce = try await atOnce.value
    #expect(!wasAtOnce)
    writers.wait()
    #expect(try Set(store.ids()) == ["0", "thread"])
  }

  /// What another process wrote is read first, which may take long.
  @Test func aWriteBehindAnotherProcessesRunsOnTheStoresThread() async throws {
    let store = try makeStore()
    let other = try noteStore(location, seed: 2)
    _ = try await other.write { tx in try tx.insert("Note", ["id": "other"]) }
    let isAtOnce = try await writesAtOnce(store, 0)
    #expect(!isAtOnce)
    until { store.writer.taskWrites.isIdle }
    #expect(try await writesAtOnce(store, 1))
    #expect(try Set(store.ids()) == ["0", "1", "other"])
  }

  /// A large commit is synced by the store's thread: what it comes to reaches the task.
  @Test func theSyncOfALargeCommitIsHandedOver() async throws {
    let store = try makeStore()
    let text = (0..<60_000).map { "\($0 &* 7_919 % 1_000_003)" }.joined()
    let task = CurrentThread.number
    let syncing = Atomic<UInt64>(0)
    disk.duringNextSync { syncing.store(CurrentThread.number, ordering: .relaxed) }
    #expect(try await writesAtOnce(store, 0, text: text))
    #expect(![0, task].contains(syncing.load(ordering: .relaxed)))
    #expect(try store.ids() == ["0"])

    disk.inject(FaultInjection(.sync, .ioError, count: 100))
    let error = await #expect(throws: AnnalsError.self) {
      try await writesAtOnce(store, 1, text: text + text)
    }
    #expect(error?.code == .outcomeUnknown)
    #expect(try store.ids() == ["0"])
  }

  @Test func whatFailsOnTheTasksThreadFailsAsElsewhere() async throws {
    struct Refusal: Error {}
    let store = try makeStore()
    await #expect(throws: Refusal.self) { try await store.write { _ in throw Refusal() } }
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await writesAtOnce(store, 0)
    }
    let error = await #expect(throws: AnnalsError.self) { try await cancelled.value }
    #expect(error?.code == .cancelled)
    #expect(store.token.number == 1)
    disk.inject(FaultInjection(.sync, .ioError, count: 100))
    let failed = await #expect(throws: AnnalsError.self) { try await writesAtOnce(store, 1) }
    #expect(failed?.code == .outcomeUnknown)
    #expect(store.writer.taskWrites.addedCount == 0)
    try? store.close()
    let closed = await #expect(throws: AnnalsError.self) { try await writesAtOnce(store, 2) }
    #expect(closed?.code == .closed)
  }

  @Test func thoseThatComeMeanwhileRunOnTheStoresThread() async throws {
    let store = try makeStore()
    let writes = store.writer.taskWrites
    let begun = DispatchSemaphore(value: 0)
    let first = Task(executorPreference: ThreadPerJob()) {
      try await store.write { tx in
        begun.signal()
        _ = try tx.insert("Note", ["id": "first"])
        until { writes.addedCount == 2 }
      }
    }
    begun.waitUnlessCancelled()
    let others = [1, 2].map { id in
      Task(executorPreference: ThreadPerJob()) { try await writesAtOnce(store, id) }
    }
    try await first.value
    for other in others {
      let isAtOnce = try await other.value
      #expect(!isAtOnce)
    }
    #expect(try Set(store.ids()) == ["1", "2", "first"])
    // And the next is alone again.
    until { writes.isIdle }
    #expect(try await writesAtOnce(store, 3))
  }

  @Test func aCheckpointThatIsDueIsWrittenByTheStoresThread() async throws {
    let store = try makeStore()
    store.writer.isCheckpointDue.store(true, ordering: .relaxed)
    #expect(try await writesAtOnce(store, 0))
    until { !store.writer.isCheckpointDue.load(ordering: .relaxed) }
    let isDue = store.writer.isCheckpointDue.load(ordering: .relaxed)
    #expect(!isDue)
    try store.close()
  }
}

/// A batch that appends in several turns.
@Suite(.deadline) struct TaskTurnTests {
  private let disk = FaultyFileSystem()
  private let store: Store

  init() throws {
    store = try noteStore(StoreLocation(fileSystem: disk, path: "/a.annals"))
    store.writer.longestTurn = .seconds(3_600)
  }

  private func job(_ id: String) -> TaskWrites.Job {
    TaskWrites.Job { writer in
      _ = try writer.append(TransactionOrigin(author: nil, context: nil, metadata: [:])) { tx in
        _ = try tx.insert("Note", ["id": .string(id)])
      }
    }
  }

  @Test func severalTurnsShareASync() throws {
    let syncs = disk.callCount(.sync)
    var batch = TaskBatch()
    for id in ["a", "b", "c"] {
      #expect(batch.append([job(id)], with: store.writer).isEmpty)
    }
    #expect(disk.callCount(.sync) == syncs && batch.jobs.count == 3 && !batch.isFull)
    #expect(try store.ids() == [])
    #expect(batch.acknowledge(with: store.writer) == nil)
    #expect(disk.callCount(.sync) == syncs + 1)
    #expect(try store.ids() == ["a", "b", "c"])
  }

  /// They would wait for the batch's own sync.
  @Test func aBatchGetsNoTurnWhenOthersWait() throws {
    var batch = TaskBatch()
    #expect(batch.append([job("a")], with: store.writer).isEmpty)
    let writers = Writers(store)
    writers.run("checkpoint") { try $0.checkpoint() }
    until { store.writer.waitingAlone.load(ordering: .relaxed) == 1 }
    #expect(batch.append([job("b"), job("c")], with: store.writer).count == 2 && batch.isFull)
    #expect(batch.acknowledge(with: store.writer) == nil)
    writers.wait()
    #expect(writers.failures.isEmpty)

    batch = TaskBatch()
    #expect(batch.append([job("b")], with: store.writer).isEmpty)
    store.writer.longestTurn = .zero
    #expect(batch.append([job("c")], with: store.writer).count == 1 && batch.isFull)
    #expect(batch.acknowledge(with: store.writer) == nil)
    #expect(try store.ids() == ["a", "b"])
  }

  /// Nothing of a batch waits for a sync if all its closures threw.
  @Test func aBatchWithoutCommitsSyncsNothing() throws {
    struct Refusal: Error {}
    let syncs = disk.callCount(.sync)
    var batch = TaskBatch()
    for _ in 0..<2 {
      #expect(batch.append([.init { _ in throw Refusal() }], with: store.writer).isEmpty)
    }
    #expect(batch.acknowledge(with: store.writer) == nil)
    #expect(disk.callCount(.sync) == syncs && !store.writer.isFileLocked)
  }
}
