import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// Two openings of one file: as two processes would.
@Suite(.deadline) struct TwoStoresTests {
  @Test func eachCatchesUpWithTheOther() throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    #expect(second.token == first.token)
    let a = try first.note("a")
    #expect(second.token.number == 1)
    try second.refresh()
    #expect(second.token == first.token)
    try second.write { try $0.update(a, ["text": "by the second"]) }
    try first.write { tx in
      #expect(try tx.object(a)?["text"] == "by the second")
      try tx.update(a, ["count": .int(1)])
    }
    #expect(first.token.number == 4)
    #expect(try first.transaction(3).processID == 2)
    #expect(try first.transaction(4).processID == 1)
    try second.refresh()
    #expect(try second.snapshot().object(a)?["count"] == .int(1))
    #expect(try second.verifyHistory() == [])
  }

  @Test func keysAreCheckedAgainstTheOthersData() throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    let a = try first.note("a")
    let error = #expect(throws: AnnalsError.self) { try second.note("a") }
    #expect(error?.violations.first?.rule == .unique(ObjectReference(entity: 1, row: a.row)))
    try second.note("b")
    #expect(throws: AnnalsError.self) { try first.note("b") }
    try second.write { try $0.delete(a) }
    try first.note("a")
    #expect(try first.ids() == ["b", "a"])
  }

  @Test func aSchemaChangeOfOneIsSeenByTheOther() throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    try first.require(Schema { Entity("Extra") { Attribute("x", .int64) } })
    try second.write { try $0.insert("Extra", ["x": .int(1)]) }
    try first.refresh()
    #expect(try first.snapshot().count(of: "Extra") == 1)
  }

  @Test func oneAddsWhatTheOtherAddedMeanwhile() throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    let extra = Schema { Entity("Extra") { Attribute("x", .int64) } }
    try first.require(extra)
    // The second still believes that it is missing, until it holds the lock.
    try second.require(extra)
    #expect(second.token.number == 2)
    #expect(second.schema.entities.count == 3)
  }

  @Test func anExclusiveStoreKeepsTheOtherOut() throws {
    let location = memoryFile()
    var options = StoreOptions()
    options.lockMode = .exclusive
    let first = try noteStore(location, options: options)
    try first.note("a")
    var impatient = StoreOptions()
    impatient.lockTimeout = .milliseconds(20)
    let second = try Store(location, creates: false, options: impatient)
    #expect(try second.ids() == ["a"])
    #expect(#expect(throws: AnnalsError.self) { try second.note("b") }?.code == .busy)
    try first.close()
    try second.note("b")
    #expect(try second.ids() == ["a", "b"])
  }

  // The second store waited ten seconds for the lock that its own thread held.
  @Test func aWriteInsideTheWriteOfAnotherStoreOfTheFileIsRefusedAtOnce() throws {
    let location = memoryFile()
    let first = try noteStore(location)
    // Another file is not concerned, nor another thread.
    let elsewhere = try noteStore()
    let second = try noteStore(location, seed: 2)
    let extra = Schema { Entity("Extra") { Attribute("x", .int64) } }
    try first.write { tx in
      try tx.insert("Note", ["id": "a"])
      for nested in [
        { _ = try second.note("b") }, { try second.checkpoint() }, { try second.sync() },
        { _ = try second.compact() }, { _ = try Store(location, schema: extra) },
      ] {
        let error = #expect(throws: AnnalsError.self) { try nested() }
        #expect(error?.code == .nestedWrite)
      }
      try elsewhere.note("b")
      try second.refresh()
    }
    try second.note("b")
    #expect(try second.ids() == ["a", "b"])
  }

  @Test func aBusyStoreOfThisProcessSaysSo() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.path("a.annals"))
    var options = StoreOptions()
    options.lockMode = .exclusive
    let first = try noteStore(location, options: options)
    options.lockMode = .shared
    options.lockTimeout = .zero
    let second = try Store(location, creates: false, options: options)
    let error = #expect(throws: AnnalsError.self) { try second.note("b") }
    #expect(error?.code == .busy)
    #if os(Linux)
      #expect(error?.message.contains("held by another open store of this process") ?? false)
    #endif
    try first.close()
    try second.note("b")
  }

  @Test(arguments: [true, false]) func aRewriteWaitsForAnother(erases: Bool) throws {
    let files = MemoryFileSystem()
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try noteStore(location)
    let first = try store.note("0")
    for number in 1...300 { try store.note("\(number)") }
    var impatient = StoreOptions()
    impatient.lockTimeout = .milliseconds(20)
    let other = try Store(location, creates: false, options: impatient)
    let unfinished = try files.create("/test.annals.new", like: nil, requiresOwner: false)
    #expect(try unfinished.lock(.exclusive, wait: .none))
    #expect(#expect(throws: AnnalsError.self) { try other.compact() }?.code == .busy)
    // What is refused records nothing.
    let refused = #expect(throws: AnnalsError.self) { try other.erase(first, reason: "r") }
    #expect(refused?.code == .busy && other.token == store.token)
    let plan = try store.prunePlan(before: 100)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.03)
      try? files.remove("/test.annals.new")
      unfinished.close()
    }
    if erases {
      #expect(try store.erase(first, reason: "r").token == store.token)
    } else {
      #expect(try store.prune(plan).isRewritten)
    }
    try other.compact(smallest: true)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test(arguments: [StoreOptions.Durability.full, .deferred])
  func aWriterThatNeverRestsGivesOthersTheirTurn(_ durability: StoreOptions.Durability) throws {
    let location = StoreLocation(
      fileSystem: MemoryFileSystem(), path: "/test.annals", commitRun: .milliseconds(2))
    var options = StoreOptions()
    options.durability = durability
    let first = try noteStore(location, options: options)
    let second = try noteStore(location, options: options, seed: 2)
    let (ready, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let state = Locked((count: 0, isOver: false))
    Thread.detachNewThread {
      while !state.withLock(\.isOver) {
        let number = state.withLock { state in
          state.count += 1
          return state.count
        }
        _ = try? first.note("first \(number)")
        if number == 100 { ready.signal() }
      }
      done.signal()
    }
    ready.waitUnlessCancelled()
    for number in 1...10 { try second.note("second \(number)") }
    state.withLock { $0.isOver = true }
    done.waitUnlessCancelled()
    // Whoever has stopped keeps nothing.
    try noteStore(location, seed: 3).note("third")
    try first.refresh()
    #expect(try first.ids().count == state.withLock(\.count) + 11)
    #expect(try first.verifyHistory() == [])
  }

  @Test func aDurableWriterKeepsNoLockBetweenCommits() throws {
    let (first, second) = try storesInARunOfTheFirst(.full)
    for number in 2...5 {
      try first.note("\(number)")
      try second.note("b\(number)")
    }
    #expect(try second.ids().count == 9)
  }

  @Test func aDeferredWriterKeepsTheLockForItsTurn() throws {
    let (first, second) = try storesInARunOfTheFirst(.deferred)
    for number in 2...100 { try first.note("\(number)") }
    #expect(#expect(throws: AnnalsError.self) { try second.note("b") }?.code == .busy)
    try first.close()
    try second.note("b")
    #expect(try second.ids().count == 101)
  }

  @Test func aStoreThatFailedInItsTurnKeepsNoLock() throws {
    let disk = FaultyFileSystem()
    let (first, second) = try storesInARunOfTheFirst(.deferred, disk)
    disk.inject(FaultInjection(.write, .ioError, count: 1))
    #expect(throws: AnnalsError.self) { try first.note("lost") }
    try second.note("b")
    #expect(try second.ids() == ["1", "b"])
    #expect(try second.verifyHistory() == [])
  }

  @Test func aWriteThatRecordsNothingEndsATurn() throws {
    let (first, second) = try storesInARunOfTheFirst(.deferred)
    try first.write { _ in }
    try second.note("b")
  }

  /// Two openings: one in a run of commits that ends by no clock, and one that does not wait for
  /// the lock.
  private func storesInARunOfTheFirst(
    _ durability: StoreOptions.Durability, _ files: any FileSystem = MemoryFileSystem()
  ) throws -> (Store, Store) {
    let location = StoreLocation(fileSystem: files, path: "/test.annals", commitRun: .seconds(60))
    var options = StoreOptions()
    options.durability = durability
    let first = try noteStore(location, options: options)
    options.lockTimeout = .zero
    let second = try Store(location, creates: false, options: options)
    // The schema was the first commit; the second follows it, and begins the run.
    try first.note("1")
    return (first, second)
  }

  @Test func readersFollowAnUnsyncedTailThatIsTakenBack() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    try first.note("a")
    let (written, seen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    disk.duringNextSync {
      written.signal()
      seen.wait()
    }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      #expect(throws: AnnalsError.self) { try first.note("lost") }
      done.signal()
    }
    // Between the write and the failure of its sync, the second sees it.
    written.waitUnlessCancelled()
    try second.refresh()
    #expect(second.token.number == 3)
    let lost = second.token
    seen.signal()
    done.waitUnlessCancelled()
    try second.note("b")
    #expect(try second.ids() == ["a", "b"])
    #expect(second.token.number == 3 && second.token != lost)
    #expect(
      #expect(throws: AnnalsError.self) { try second.snapshot(at: lost) }?.code == .lostBranch)
    try second.refresh()
    #expect(try second.verifyHistory() == [])
  }
}
