import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

/// Disks that fail.
@Suite struct FailureTests {
  private func location(_ disk: FaultyFileSystem) -> StoreLocation {
    StoreLocation(fileSystem: disk, path: "/a.annals")
  }

  @Test(arguments: [StorageError.Operation.write, .sync])
  func afterAFailedWriteOrSyncNothingMoreIsWritten(operation: StorageError.Operation) throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    try store.note("a")
    disk.inject(FaultInjection(operation, .ioError, count: 1))
    let error = #expect(throws: AnnalsError.self) { try store.note("b") }
    #expect(error?.code == .outcomeUnknown)
    #expect(error?.underlying == .ioError)
    #expect(try store.ids() == ["a"])
    for call in [
      { _ = try store.note("c") }, { try store.checkpoint() }, { try store.sync() },
    ] as [() throws -> Void] {
      let code = #expect(throws: AnnalsError.self, performing: call)?.code
      #expect(code == .poisoned || code == .outcomeUnknown)
    }
    // Another opening goes on at once: the lock is free.
    let other = try noteStore(location(disk), seed: 2)
    #expect(try other.ids() == ["a"])
    try other.note("d")
    try store.close()
    #expect(try Store(location(disk), creates: false).ids() == ["a", "d"])
  }

  @Test(arguments: [true, false])
  func whatAFailedSyncLeftInTheCacheIsMadeDurable(hasReadPastCache: Bool) throws {
    // The cache shows deferred transactions and calls them clean, though the disk has none of them.
    let disk = FaultyFileSystem()
    disk.hasReadPastCache = hasReadPastCache
    let store = try noteStore(location(disk), options: .deferred)
    try store.note("a")
    try store.sync()
    try store.note("b")
    try store.note("c")
    disk.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    let error = #expect(throws: AnnalsError.self) { try store.sync() }
    #expect(error?.code == .outcomeUnknown && error?.underlying == .ioError)
    let later = #expect(throws: AnnalsError.self) { try store.note("d") }
    #expect(later?.code == .poisoned && later?.underlying == .ioError)
    try store.close()
    let restarted = disk.afterKill()
    let next = try noteStore(location(restarted), seed: 2)
    #expect(try next.ids() == ["a", "b", "c"])
    try next.note("e")
    restarted.cutPower()
    try restarted.forEachSurvivor { survivor in
      let ids = try Store(location(survivor.files), creates: false).ids()
      #expect(ids == ["a", "b", "c", "e"], "\(survivor.description)")
    }
  }

  @Test func closingSaysThatItsCheckpointFailedBeforeDeferredCommitsWereSynced() throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk), options: .deferred)
    try store.sync()
    try store.write { tx in
      for number in 0..<5_001 { try tx.insert("Note", ["id": .string("\(number)")]) }
    }
    disk.inject(FaultInjection(.sync, .ioError, effect: .cacheDrops))
    let error = #expect(throws: AnnalsError.self) { try store.close() }
    #expect(error?.code == .outcomeUnknown && error?.underlying == .ioError)
    try store.close()
    // Nothing that was promised is gone.
    #expect(try Store(location(disk.afterKill()), creates: false).ids() == [])
  }

  @Test func aNameThatItsMakerCouldNotSyncIsMadeDurableByTheFirstWriter() throws {
    let disk = FaultyFileSystem()
    disk.inject(FaultInjection(.syncDirectory, .ioError))
    let error = #expect(throws: AnnalsError.self) { try noteStore(location(disk)) }
    #expect(error?.code == .io)
    #expect(disk.paths == [], "nothing is left")
    // A maker that dies before the sync leaves the store, its name not durable.
    let rehearsal = FaultyFileSystem()
    try noteStore(location(rehearsal)).close()
    let sync = try #require(rehearsal.points.firstIndex { $0.operation == .syncDirectory })
    let killed = FaultyFileSystem()
    killed.crash(at: sync)
    #expect(throws: AnnalsError.self) { try noteStore(location(killed)) }
    let restarted = killed.afterKill()
    try noteStore(location(restarted), seed: 2).note("a")
    restarted.cutPower()
    try restarted.forEachSurvivor { survivor in
      let ids = try Store(location(survivor.files), creates: false).ids()
      #expect(ids == ["a"], "\(survivor.description)")
    }
  }

  @Test(arguments: [StorageError.Operation.size, .read, .lock, .identify])
  func aCatchUpThatFailsLeavesTheStoreWhereItWas(operation: StorageError.Operation) throws {
    for number in 0..<12 {
      let disk = FaultyFileSystem()
      let store = try noteStore(location(disk))
      let other = try noteStore(location(disk), seed: 2)
      try store.note("a")
      try other.note("b")
      disk.inject(FaultInjection(operation, after: number, .ioError))
      if (try? store.note("c")) == nil { try store.note("c") }
      if (try? other.note("d")) == nil { try other.note("d") }
      // Whatever did not meet the failure is not to meet it here.
      let again = try Store(location(disk.afterKill()), creates: false)
      #expect(try again.ids() == ["a", "b", "c", "d"], "\(operation) \(number)")
      #expect(try again.verifyHistory() == [], "\(operation) \(number)")
      try again.close()
    }
  }

  @Test func aPruneIsDoneThoughTheNewFileCannotBeReadAtOnce() throws {
    for mode in [StoreOptions.LockMode.shared, .exclusive] {
      var options = StoreOptions()
      options.lockMode = mode
      var number = 0
      var hasFailed = true
      while hasFailed {
        let disk = FaultyFileSystem()
        let store = try noteStore(location(disk), options: options)
        for id in ["a", "b", "c"] { try store.note(id) }
        let plan = try store.prunePlan(before: 3)
        disk.inject(FaultInjection(.read, after: number, .ioError))
        let isPruned = (try? store.prune(plan)) != nil
        hasFailed = disk.injectedCount > 0
        // Where pruning reads less, this meets the failure; then it works.
        if (try? store.note("d")) == nil { try store.note("d") }
        #expect(store.base.number == (isPruned ? 2 : 0), "read \(number)")
        #expect(try store.ids() == ["a", "b", "c", "d"])
        try store.close()
        number += 1
      }
      #expect(number > 3)
    }
  }

  @Test func aFullDiskLeavesNothing() throws {
    let disk = FaultyFileSystem()
    let store = try noteStore(location(disk))
    try store.note("a")
    let head = store.token
    disk.capacity = 100_000
    let large = String(repeating: "x", count: 300_000)
    for id in ["b", "c"] {
      let error = #expect(throws: AnnalsError.self) { try store.note(id, text: large) }
      #expect(error?.code == .noSpace)
      #expect(error?.underlying == .noSpace)
    }
    var random = SeededRandom(seed: 1)
    let many = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        for _ in 0..<20_000 { try tx.insert("Note", ["id": .string("\(random.next())")]) }
      }
    }
    #expect(many?.code == .noSpace)
    #expect(store.token == head)
    try store.note("d")
    disk.capacity = .max
    try store.note("e", text: large)
    #expect(try store.ids() == ["a", "d", "e"])
    #expect(try store.verifyHistory() == [])
    try store.close()
    let again = try Store(location(disk), creates: false)
    #expect(try again.ids() == ["a", "d", "e"])
    #expect(try again.verifyHistory() == [])
  }

  @Test func powerMayFailAtAnyPoint() throws {
    func work(_ disk: FaultyFileSystem) throws -> [String] {
      var acknowledged: [String] = []
      do {
        let store = try noteStore(location(disk))
        for id in ["a", "b", "c"] {
          try store.note(id, text: id == "b" ? String(repeating: "x", count: 9_000) : nil)
          acknowledged.append(id)
          if id == "b" { try store.checkpoint() }
        }
        try store.close()
      } catch let error as AnnalsError {
        guard error.underlying == .operationNotSupportedByDevice || error.code == .poisoned else {
          throw error
        }
      }
      return acknowledged
    }
    let count = FaultyFileSystem()
    #expect(try work(count) == ["a", "b", "c"])
    for point in 0..<count.pointCount {
      let disk = FaultyFileSystem(seed: UInt64(point))
      disk.crash(at: point)
      let acknowledged = try work(disk)
      disk.forEachSurvivor(limit: 12) { survivor in
        check(survivor, acknowledged, "point \(point) \(count.points[point])")
      }
    }
  }

  /// After a power cut the store opens, holds all that was acknowledged and at most one more, and
  /// goes on.
  private func check(_ survivor: Survivor, _ acknowledged: [String], _ place: String) {
    let place = "\(place), \(survivor)"
    do {
      let again = try noteStore(location(survivor.files), seed: 5)
      let ids = try again.ids().map { "\($0.keyText ?? "")" }
      #expect(
        ids.starts(with: acknowledged) && ids.count <= acknowledged.count + 1, "\(place): \(ids)")
      try again.note("z")
      #expect(try again.verifyHistory() == [], "\(place)")
      if ids.contains("b") { #expect(try again.texts()[1].byteCount == 9_000, "\(place)") }
    } catch {
      Issue.record("\(place): \(error)")
    }
  }
}
