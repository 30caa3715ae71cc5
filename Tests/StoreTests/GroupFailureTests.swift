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

/// Groups whose sync fails, and writers that die with groups under way.
@Suite(.deadline) struct GroupFailureTests {
  private let disk = FaultyFileSystem()
  private let location: StoreLocation

  init() { location = StoreLocation(fileSystem: disk, path: "/a.annals") }

  /// What a new opening finds.
  private func idsAfterwards(_ disk: FaultyFileSystem) throws -> [Value] {
    let again = try Store(
      StoreLocation(fileSystem: disk, path: "/a.annals"), creates: false)
    defer { try? again.close() }
    #expect(try again.verifyHistory() == [])
    return try again.ids()
  }

  @Test func aFailedSyncFailsTheGroupBehindIt() throws {
    let store = try exclusiveStore(on: disk)
    try store.note("a")
    let writers = Writers(store)
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("c", "d", "e") }
    }
    let error = #expect(throws: AnnalsError.self) { try store.note("b") }
    writers.wait()
    #expect(error?.code == .outcomeUnknown)
    #expect(
      writers.failures == ["c": .outcomeUnknown, "d": .outcomeUnknown, "e": .outcomeUnknown])
    #expect(try store.ids() == ["a"])
    #expect(#expect(throws: AnnalsError.self) { try store.note("f") }?.code == .poisoned)
    try store.close()
    // All of it was taken out again.
    #expect(try idsAfterwards(disk) == ["a"])
  }

  /// The group before was acknowledged while this one filled: only this one is taken back.
  @Test func aFailedSyncLeavesTheGroupBeforeIt() throws {
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    disk.inject(FaultInjection(.sync, after: 1, .ioError, count: 1))
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("b", "c") }
    }
    try store.note("a")
    writers.wait()
    #expect(writers.failures == ["b": .outcomeUnknown, "c": .outcomeUnknown])
    #expect(try store.ids() == ["a"])
    disk.cutPower()
    try disk.forEachSurvivor { survivor in
      let ids = try idsAfterwards(survivor.files)
      #expect(ids.first == "a" && ["a", "b", "c"].starts(with: ids), "\(survivor.description)")
    }
    #expect(try idsAfterwards(disk.afterKill()) == ["a"])
  }

  @Test(arguments: ["checkpoint", "sync", "close"])
  func whoDrainsWhileASyncFailsLearnsOfIt(_ call: String) throws {
    let store = try exclusiveStore(on: disk)
    try store.note("a")
    let writers = Writers(store)
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("c") }
      writers.run(call) { store in
        switch call {
        case "checkpoint": try store.checkpoint()
        case "sync": try store.sync()
        default: try store.close()
        }
      }
      until { store.writer.waitingAlone.load(ordering: .relaxed) == 1 }
      // These wait behind it.
      writers.start("d")
      writers.start("e")
    }
    #expect(throws: AnnalsError.self) { try store.note("b") }
    writers.wait()
    var failures = writers.failures
    #expect(failures["c"] == .outcomeUnknown)
    let isClosing = call == "close"
    #expect(failures[call] == (isClosing ? nil : .poisoned))
    for id in ["d", "e"] {
      let code = failures.removeValue(forKey: id)
      #expect(code == .poisoned || code == .outcomeUnknown || (isClosing && code == .closed))
    }
    #expect(try store.ids() == ["a"])
    try store.close()
    #expect(try idsAfterwards(disk) == ["a"])
  }

  @Test func whoWaitsForItsTurnWhileTheStoreIsClosedIsToldSo() throws {
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    disk.duringNextSync {
      #expect(throws: Never.self) { try writers.append("b") }
      writers.run("close") { store in
        try store.close()
      }
      until { store.writer.waitingAlone.load(ordering: .relaxed) == 1 }
      for id in ["c", "d", "e"] { writers.start(id) }
    }
    try store.note("a")
    writers.wait()
    #expect(writers.acknowledged == ["b", "close"])
    #expect(writers.failures == ["c": .closed, "d": .closed, "e": .closed])
    #expect(try idsAfterwards(disk) == ["a", "b"])
  }

  /// A process dies with one group in its sync and another behind it; the next writer stands on
  /// what it left, and makes sure of it.
  @Test(arguments: [true, false])
  func theNextWriterMakesSureOfADeadOnesGroups(hasReadPastCache: Bool) throws {
    disk.hasReadPastCache = hasReadPastCache
    let store = try exclusiveStore(on: disk)
    let writers = Writers(store)
    let dead = Locked<FaultyFileSystem?>(nil)
    disk.duringNextSync {
      disk.duringNextSync {
        #expect(throws: Never.self) { try writers.append("d", "e") }
        dead.withLock { $0 = disk.afterKill() }
      }
      #expect(throws: Never.self) { try writers.append("b", "c") }
    }
    try store.note("a")
    writers.wait()
    let left = try #require(dead.withLock { $0 })
    // Had the power failed then, what was acknowledged is there, and nothing behind a hole.
    let cut = left.afterKill()
    cut.cutPower()
    let all: [Value] = ["a", "b", "c", "d", "e"]
    try cut.forEachSurvivor { survivor in
      let ids = try idsAfterwards(survivor.files)
      #expect(ids.first == "a" && all.starts(with: ids), "\(survivor.description)")
    }
    let next = try noteStore(StoreLocation(fileSystem: left, path: "/a.annals"), seed: 2)
    // However slow the machine is, its turn does not end while the test is at work.
    next.writer.longestTurn = .seconds(3600)
    #expect(try next.ids() == all)
    // The first commit sees to what is there, with syncs of its own.
    try next.note("f")
    let others = Writers(next)
    left.duringNextSync {
      #expect(throws: Never.self) { try others.append("h") }
    }
    try next.note("g")
    others.wait()
    left.cutPower()
    try left.forEachSurvivor { survivor in
      let ids = try idsAfterwards(survivor.files)
      #expect(ids == all + ["f", "g", "h"], "\(survivor.description)")
    }
  }

  /// The rewrite has copied a commit that waits for its sync; that fails, and takes it out.
  @Test func aCompactionThatCopiedWhatIsTakenBackChangesNothing() throws {
    let store = try exclusiveStore(on: disk)
    for id in 0..<50 { try store.note("\(id)", text: String(repeating: "a", count: 200)) }
    let writers = Writers(store)
    disk.inject(FaultInjection(.sync, .ioError, count: 1, pathSuffix: "a.annals"))
    disk.duringNextSync {
      writers.run("compact") { store in
        try store.compact(smallest: true)
      }
      until { store.writer.waitingAlone.load(ordering: .relaxed) == 1 }
    }
    #expect(throws: AnnalsError.self) { try store.note("lost") }
    writers.wait()
    #expect(writers.failures == ["compact": .poisoned])
    #expect(disk.paths == ["/a.annals"])
    try store.close()
    #expect(try idsAfterwards(disk).count == 50)
  }

  /// As before, of another process, which had read the commit without the lock.
  @Test func anothersCompactionThatCopiedWhatIsTakenBackChangesNothing() throws {
    let store = try noteStore(location)
    for id in 0..<50 { try store.note("\(id)", text: String(repeating: "a", count: 200)) }
    let other = try noteStore(location, seed: 2)
    let others = Writers(other)
    disk.inject(FaultInjection(.sync, .ioError, count: 1, pathSuffix: "a.annals"))
    disk.duringNextSync {
      #expect(throws: Never.self) { try other.refresh() }
      #expect((try? other.ids().count) == 51)
      let locks = disk.callCount(.lock)
      others.run("compact") { other in
        try other.compact(smallest: true)
      }
      // The temporary file's lock, and then that of the store, which is held here.
      until { disk.callCount(.lock) >= locks + 2 }
    }
    #expect(throws: AnnalsError.self) { try store.note("lost") }
    others.wait()
    #expect(others.failures["compact"] != nil)
    try store.close()
    #expect(disk.paths == ["/a.annals"])
    try other.note("after")
    #expect(try other.ids().count == 51 && other.ids().last == "after")
    try other.compact(smallest: true)
    try other.close()
    #expect(try idsAfterwards(disk).count == 51)
  }
}
