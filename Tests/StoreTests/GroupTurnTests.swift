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

/// Who leads a group, who is woken, and when the file lock goes to others.
@Suite(.deadline) struct GroupTurnTests {
  @Test func aGroupFillsWhileTheOneBeforeIsSynced() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    let syncs = disk.callCount(.sync)
    let wakeUps = store.writer.group.wakeUpCount
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("b", "c", "d", "e", "f", "g", "h") }
      // Nobody sees what is not synced.
      #expect((try? store.ids()) == [])
    }
    try store.note("a")
    writers.wait()
    #expect(writers.acknowledged == ["b", "c", "d", "e", "f", "g", "h"])
    #expect(disk.callCount(.sync) - syncs == 2)
    // The second group's leader for its turn, its followers at its end, and nobody twice.
    #expect(store.writer.group.wakeUpCount - wakeUps <= 7)
    #expect(try store.ids() == ["a", "b", "c", "d", "e", "f", "g", "h"])
    #expect(try store.verifyHistory() == [])
  }

  /// Each group fills during the sync of the one before, for as long as there is one.
  @Test func groupsFollowEachOther() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    let syncs = disk.callCount(.sync)
    let wakeUps = store.writer.group.wakeUpCount
    @Sendable func fill(_ group: Int) {
      guard group < 20 else { return }
      disk.duringNextSync {
        fill(group + 1)
        #expect(throws: Never.self) {
          try writers.append("\(group) a", "\(group) b", "\(group) c")
        }
        // What was acknowledged before stays as it was read.
        #expect((try? store.snapshot().count(of: "Note")) == max(0, group * 3 - 2))
      }
    }
    fill(0)
    try store.note("first")
    writers.wait()
    #expect(writers.failures.isEmpty)
    #expect(disk.callCount(.sync) - syncs == 21)
    #expect(store.writer.group.wakeUpCount - wakeUps <= 60)
    #expect(try store.snapshot().count(of: "Note") == 61)
    #expect(try store.verifyHistory() == [])
  }

  @Test func snapshotsStayAsTheyWereWhileGroupsGoOn() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    let id = try store.note("a", text: "0")
    var held: [Snapshot] = []
    for round in 1...10 {
      held.append(store.snapshot())
      disk.duringNextSync {
        for part in ["b", "c", "d"] {
          let inside = DispatchSemaphore(value: 0)
          writers.run("\(round) \(part)") { store in
            try store.write { tx in
              inside.signal()
              try tx.update(id, ["text": .string("\(round) \(part)"), "count": .int(1)])
            }
          }
          inside.waitUnlessCancelled()
        }
        #expect(throws: Never.self) { try store.refresh() }
      }
      try store.write { try $0.update(id, ["text": .string("\(round) a")]) }
      writers.wait()
    }
    let texts = try held.map { try $0.object(id)?["text"] }
    #expect(texts == [.string("0")] + (1...9).map { .string("\($0) d") })
    #expect(try store.texts() == [.string("10 d")])
    #expect(writers.failures.isEmpty)
    #expect(try store.verifyHistory() == [])
  }

  /// A writer that comes when the lock was held for long waits until it was given up.
  @Test func aTurnEndsAfterAWhile() throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: disk, path: "/a.annals"))
    let writers = Writers(store)
    let locks = disk.callCount(.lock)
    disk.duringNextSync {
      let deadline = ContinuousClock.now.advanced(by: store.writer.longestTurn * 2)
      until { ContinuousClock.now > deadline }
      for id in ["b", "c", "d"] { writers.start(id) }
      sleepThread(for: .milliseconds(1))
    }
    try store.note("a")
    writers.wait()
    #expect(writers.failures.isEmpty)
    #expect(disk.callCount(.lock) - locks >= 2)
    #expect(store.writer.yieldsUntil == nil, "nobody else writes")
    #expect(try store.snapshot().count(of: "Note") == 4)
  }

  @Test func afterALongTurnOthersGetTheLockIfTheyWrite() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location)
    let other = try noteStore(location, seed: 2)
    try other.note("a")
    disk.duringNextSync {
      let deadline = ContinuousClock.now.advanced(by: store.writer.longestTurn * 2)
      until { ContinuousClock.now > deadline }
    }
    try store.note("b")
    #expect(store.writer.yieldsUntil != nil)
    try store.note("c")
    #expect(store.writer.yieldsUntil == nil)
    try other.note("d")
    #expect(try other.ids() == ["a", "b", "c", "d"])
  }

  /// One thread gives the lock up after each commit, and takes it back before others have noticed:
  /// all that is one turn, at whose end they get theirs.
  @Test func commitsThatFollowEachOtherAreOneTurn() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location)
    let other = try noteStore(location, seed: 2)
    let writer = store.writer
    writer.longestInterruption = .seconds(3_600)
    writer.longestTurn = .seconds(3_600)
    try store.note("a")
    let first = writer.lockedSince
    try store.note("b")
    #expect(writer.lockedSince == first && writer.yieldsUntil == nil)
    // What others commit in between ends it.
    try other.note("c")
    try store.note("d")
    let second = writer.lockedSince
    #expect(second != first)
    writer.longestTurn = .zero
    try store.note("e")
    #expect(writer.lockedSince == second && writer.yieldsUntil != nil)
    try store.note("f")
    #expect(writer.lockedSince != second)
    // A pause ends it, too.
    writer.longestTurn = .seconds(3_600)
    try store.note("g")
    writer.longestInterruption = .zero
    let third = writer.lockedSince
    try store.note("h")
    #expect(writer.lockedSince != third)
  }

  /// Commits come all the time, so that there is never a moment without a group.
  @Test func whoWritesAloneGetsItsTurn() throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("b", "c") }
      writers.run("checkpoint") { try $0.checkpoint() }
      until { store.writer.waitingAlone.load(ordering: .relaxed) == 1 }
      writers.start("d")
      sleepThread(for: .milliseconds(1))
    }
    try store.note("a")
    writers.wait()
    #expect(writers.failures.isEmpty)
    #expect(try store.ids() == ["a", "b", "c", "d"])
    // Behind the checkpoint there is at most the one who came later.
    #expect(store.writer.log.changesSinceCheckpoint == 1)
  }

  @Test func aTaskThatIsCancelledWhileItsTurnIsNotThereRecordsNothing() async throws {
    let disk = FaultyFileSystem()
    let store = try exclusiveStore(on: disk)
    let (isSyncing, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    disk.duringNextSync {
      isSyncing.signal()
      mayGoOn.wait()
    }
    // Its sync may keep its thread waiting.
    let first = Task(executorPreference: ThreadPerJob()) {
      try await store.commit { tx in _ = try tx.insert("Note", ["id": "a"]) }.token
    }
    await Task.detached { await wait(isSyncing) }.value
    let second = Task {
      try await store.write { tx in _ = try tx.insert("Note", ["id": "b"]) }
    }
    second.cancel()
    first.cancel()
    mayGoOn.signal()
    // It was begun: its cancellation comes too late.
    #expect(try await first.value.number == 2)
    let error = await #expect(throws: AnnalsError.self) { try await second.value }
    #expect(error?.code == .cancelled)
    #expect(try store.ids() == ["a"])
  }
}

/// Waits on a thread of its own, as tasks may not.
private func wait(_ semaphore: DispatchSemaphore) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      semaphore.wait()
      continuation.resume()
    }
  }
}
