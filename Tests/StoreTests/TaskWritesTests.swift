import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

@testable import AnnalsEngine

/// Writes of many tasks that share a sync.
///
/// Another store holds the file lock while the tasks come, so that they wait in a known order: the
/// first in a batch of its own, the others for the next.
@Suite(.deadline) struct TaskWritesTests {
  private let disk = FaultyFileSystem()
  private let store: Store
  private let holder: LockHeld

  init() throws {
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    store = try noteStore(location)
    // However long the closures take, a batch does not end for it.
    store.writer.longestTurn = .seconds(3_600)
    holder = try LockHeld(by: noteStore(location, seed: 2))
  }

  /// Starts a task that writes, and returns when it waits.
  private func start(
    expecting: Token? = nil, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async -> Task<Commit<Void>, any Error> {
    let count = store.writer.taskWrites.addedCount
    let store = store
    let task = Task(executorPreference: ThreadPerJob()) {
      try await store.commit(expecting: expecting, body)
    }
    while store.writer.taskWrites.addedCount == count, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(1))
    }
    return task
  }

  private func startNotes(_ ids: some Sequence<Int>) async -> [Task<Commit<Void>, any Error>] {
    var tasks: [Task<Commit<Void>, any Error>] = []
    for id in ids {
      tasks.append(await start { tx in _ = try tx.insert("Note", ["id": .string("\(id)")]) })
    }
    return tasks
  }

  @Test func manyTasksShareASyncAndKeepTheirOrder() async throws {
    let tasks = await startNotes(0..<40)
    let syncs = disk.callCount(.sync)
    holder.release()
    var numbers: [Int64] = []
    for task in tasks { numbers.append(try await task.value.token.number) }
    // One for the first, one for the others, one for the holder's empty write at most.
    #expect((2...3).contains(disk.callCount(.sync) - syncs))
    #expect(numbers == (2...41).map { Int64($0) })
    #expect(try store.ids() == (0..<40).map { .string("\($0)") })
    disk.cutPower()
    disk.forEachSurvivor(limit: 4) { survivor in
      let file = StoreLocation(fileSystem: survivor.files, path: "/a.annals")
      #expect((try? Store(file, creates: false).ids().count) == 40, "\(survivor.description)")
    }
  }

  @Test func whatIsRefusedIsRefusedAlone() async throws {
    struct Refusal: Error {}
    let first = await startNotes(0..<2)
    let thrown = await start { tx in
      _ = try tx.insert("Note", ["id": "gone"])
      throw Refusal()
    }
    let double = await start { tx in _ = try tx.insert("Note", ["id": "1"]) }
    let long = await start { tx in
      let text = String(repeating: "x", count: 9_999)
      _ = try tx.insert("Note", ["id": "gone", "text": .string(text)])
      throw Refusal()
    }
    let last = await startNotes(2..<4)
    holder.release()
    for task in first + last { _ = try await task.value }
    await #expect(throws: Refusal.self) { try await thrown.value }
    await #expect(throws: Refusal.self) { try await long.value }
    let error = await #expect(throws: AnnalsError.self) { try await double.value }
    #expect(error?.code == .invalidChange)
    #expect(try store.ids() == ["0", "1", "2", "3"] && store.token.number == 5)
    #expect(try store.problems() == [])
  }

  @Test func expectingSeesTheCommitsBeforeItInTheBatch() async throws {
    let token = store.token
    var tasks: [Task<Commit<Void>, any Error>] = []
    for id in 0..<5 {
      tasks.append(
        await start(expecting: token) { tx in
          #expect(try tx.count(of: "Note") == 0)
          _ = try tx.insert("Note", ["id": .string("\(id)")])
        })
    }
    holder.release()
    _ = try await tasks[0].value
    for task in tasks.dropFirst() {
      let error = await #expect(throws: AnnalsError.self) { try await task.value }
      #expect(error?.code == .conflict)
    }
    #expect(try store.ids() == ["0"])
  }

  @Test func aClosureSeesTheCommitsBeforeItInTheBatch() async throws {
    var tasks = await startNotes(0..<1)
    for count in 1..<20 {
      tasks.append(
        await start { tx in
          #expect(try tx.count(of: "Note") == count)
          _ = try tx.insert("Note", ["id": .string("\(count)")])
        })
    }
    holder.release()
    for task in tasks { _ = try await task.value }
    #expect(try store.ids().count == 20)
  }

  @Test func aFailedSyncFailsTheWholeBatch() async throws {
    let tasks = await startNotes(0..<6)
    disk.inject(FaultInjection(.sync, .ioError, count: 100))
    holder.release()
    for task in tasks {
      let error = await #expect(throws: AnnalsError.self) { try await task.value }
      #expect([.outcomeUnknown, .poisoned].contains(error?.code))
    }
    #expect(try store.ids().isEmpty)
  }

  @Test func aBatchIsBounded() async throws {
    let text = String(repeating: "0123456789", count: 150_000)
    var tasks: [Task<Commit<Void>, any Error>] = []
    for id in 0..<9 {
      tasks.append(
        await start { tx in
          _ = try tx.insert("Note", ["id": .string("\(id)"), "text": .string(text + "\(id)")])
        })
    }
    let syncs = disk.callCount(.sync)
    holder.release()
    for task in tasks { _ = try await task.value }
    // The first alone, then three batches of at most three: 4.5 MB each.
    #expect(disk.callCount(.sync) - syncs >= 4)
    #expect(try store.ids().count == 9)
  }

  @Test func aClosedStoreRefusesAllThatWait() async throws {
    let tasks = await startNotes(0..<3)
    for task in tasks.dropFirst() { task.cancel() }
    for task in tasks.dropFirst() {
      let error = await #expect(throws: AnnalsError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
    holder.release()
    _ = try await tasks[0].value
    try store.close()
    let error = await #expect(throws: AnnalsError.self) {
      try await store.write { tx in _ = try tx.insert("Note", ["id": "late"]) }
    }
    #expect(error?.code == .closed)
  }
}
