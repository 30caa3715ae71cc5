import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// Projections of a program's own: kept level with the history, as of any position, whatever
/// happens to the store.
@Suite(.deadline) struct ProjectionTests {
  /// Sees that the projection is what its state says, now and as of every position kept.
  private func compare(_ store: Store) throws {
    #expect(try store.projection(NotesPerText.self) == .counted(store.snapshot()))
    for number in store.base.number...store.token.number {
      let expected = try NotesPerText.counted(store.snapshot(at: number))
      #expect(try store.projection(NotesPerText.self, at: number) == expected, "at \(number)")
    }
  }

  @Test func itIsLevelWithTheHistory() throws {
    let store = try noteStore()
    #expect(try store.projection(NotesPerText.self).counts.isEmpty)
    let fog = try store.note("a", text: "fog", author: "ann")
    let before = store.snapshot()
    #expect(try store.projection(NotesPerText.self).counts == ["fog": 1])
    try store.note("b", text: "fog")
    try store.write { tx in try tx.update(fog, ["text": "mist"]) }
    #expect(try store.projection(NotesPerText.self).counts == ["fog": 1, "mist": 1])
    #expect(
      try store.projection(NotesPerText.self, at: before.token).counts == ["fog": 1])
    try store.write { tx in try tx.delete(fog) }
    #expect(try store.projection(NotesPerText.self).counts == ["fog": 1])
    try compare(store)
    #expect(try store.projection(CommitsPerAuthor.self).counts == ["": 4, "ann": 1])
    #expect(try store.verify() == [])
  }

  @Test func withinAWriteItIsTheStateBefore() throws {
    let store = try noteStore()
    try store.note("a", text: "fog")
    try store.write { tx in
      try tx.insert("Note", ["id": "b", "text": "fog"])
      #expect(try store.projection(NotesPerText.self).counts == ["fog": 1])
    }
    #expect(try store.projection(NotesPerText.self).counts == ["fog": 2])
  }

  @Test func aTransactionInManyFramesIsTakenInWhole() throws {
    let store = try noteStore()
    try store.write { tx in
      for index in 0..<60_000 {
        try tx.insert("Note", ["id": .string("\(index)"), "text": .string("\(index % 7)")])
      }
    }
    #expect(try store.projection(NotesPerText.self) == .counted(store.snapshot()))
    #expect(try store.projection(CommitsPerAuthor.self).counts == ["": 2])
  }

  @Test func otherStoresCommitsAndRewritesAreFollowed() throws {
    let location = memoryFile()
    let (first, second) = (try noteStore(location), try noteStore(location, seed: 2))
    _ = try first.projection(NotesPerText.self)
    try second.note("a", text: "fog")
    try first.refresh()
    try compare(first)
    try second.compact()
    try second.note("b", text: "fog")
    try first.refresh()
    try compare(first)
    try second.prune(second.prunePlan(before: 3))
    try second.note("c", text: "mist")
    try first.refresh()
    try compare(first)
    #expect(try first.verify() == [])
  }

  /// What was kept of a commit whose sync failed is not gone on from.
  @Test func aLostBranchIsLeft() throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let (first, second) = (try noteStore(location), try noteStore(location, seed: 2))
    try first.note("a", text: "fog")
    disk.inject(FaultInjection(.sync, .ioError, count: 1))
    let (written, seen) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    disk.duringNextSync {
      written.signal()
      seen.wait()
    }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = try? first.note("lost", text: "lost")
      done.signal()
    }
    written.waitUnlessCancelled()
    try second.refresh()
    #expect(try second.projection(NotesPerText.self).counts["lost"] == 1)
    seen.signal()
    done.waitUnlessCancelled()
    try second.note("b", text: "mist")
    try compare(second)
    #expect(try second.projection(NotesPerText.self).counts["lost"] == nil)
  }

  @Test func aPrunedStoreBeginsAtItsBase() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    for id in ["a", "b", "c"] { try store.note(id, text: "fog", author: "ann") }
    try store.prune(store.prunePlan(before: 3))
    try store.close()
    let again = try noteStore(location, seed: 2)
    try again.note("d", text: "mist")
    try compare(again)
    let error = #expect(throws: AnnalsError.self) { try again.projection(CommitsPerAuthor.self) }
    #expect(error?.code == .pruned && error?.gap?.oldestValid.number == 2)
    #expect(
      error?.message.hasPrefix("the projection \"commits per author\" needs the whole") == true)
    #expect(
      try again.verify().map(\.message).filter { $0.contains("projection") } == [
        "the projection \"commits per author\" cannot be rebuilt, as older history is pruned; it "
          + "was not compared"
      ])
  }

  /// What is kept in memory goes on over a prune by this very store.
  @Test func whatIsKeptSurvivesAPrune() throws {
    let store = try noteStore()
    for id in ["a", "b", "c"] { try store.note(id, text: "fog", author: "ann") }
    #expect(try store.projection(CommitsPerAuthor.self).counts == ["": 1, "ann": 3])
    try store.prune(store.prunePlan(before: 4))
    try store.note("d", text: "mist")
    #expect(try store.projection(CommitsPerAuthor.self).counts == ["": 2, "ann": 3])
    try compare(store)
  }

  @Test func manyThreadsReadWhileOthersWrite() throws {
    let store = try noteStore()
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      do {
        for index in 0..<40 {
          if thread < 2 {
            try store.note("\(thread)-\(index)", text: "\(index % 3)")
          } else if thread < 5 {
            let snapshot = store.snapshot()
            let counts = try store.projection(NotesPerText.self, at: snapshot.token)
            if try counts != .counted(snapshot) { failures.withLock { $0.append("differs") } }
          } else {
            let total = try store.projection(CommitsPerAuthor.self).counts.values.reduce(0, +)
            if Int64(total) > store.token.number { failures.withLock { $0.append("too many") } }
          }
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    try compare(store)
  }

  @Test func itsCodeCannotComeBackToTheStore() async {
    await #expect(processExitsWith: .failure) {
      let store = try noteStore()
      Caller.call.withLock { $0 = { _ in try store.note("a") } }
      _ = try store.projection(Caller.self)
    }
    await #expect(processExitsWith: .failure) {
      let store = try noteStore()
      Caller.call.withLock { $0 = { _ in _ = try store.projection(NotesPerText.self) } }
      _ = try store.projection(Caller.self)
    }
    await #expect(processExitsWith: .failure) {
      let store = try noteStore()
      Caller.call.withLock { $0 = { _ in try store.refresh() } }
      _ = try store.projection(Caller.self)
    }
  }

  @Test func itsCodeMayReadTheStore() throws {
    let store = try noteStore()
    let text = String(repeating: "fog", count: 3_000)
    try store.note("a", text: text)
    let read = Locked(0)
    Caller.call.withLock {
      $0 = { transaction in
        guard case .large(let large) = transaction.changes.first?.after("text") else { return }
        let length = try store.bytes(of: large).count
        read.withLock { $0 = length }
      }
    }
    _ = try store.projection(Caller.self)
    #expect(read.withLock { $0 } == text.utf8.count)
  }

  @Test func oneNameIsOneType() async {
    await #expect(processExitsWith: .failure) {
      let store = try noteStore()
      store.register(NotesPerText.self)
      store.register(Namesake.self)
    }
  }
}

/// What goes wrong in a projection's own code is told, and harms nothing.
@Suite(.serialized) struct FaultyProjectionTests {
  @Test func whatItThrowsIsTold() throws {
    let store = try noteStore()
    try store.note("a")
    let error = #expect(throws: AnnalsError.self) {
      try FaultyCount.with(.throwsInApply) { try store.projection(FaultyCount.self) }
    }
    #expect(error?.code == .projectionFailed && error?.thrown is Mismatch)
    #expect(
      error?.message.hasPrefix("the projection \"faulty count\" failed at transaction 1: ") == true)
    // It is made anew, not gone on from.
    try store.note("b")
    #expect(try store.projection(FaultyCount.self).count == 2)
    #expect(try store.verify() == [])
  }

  @Test func aBrokenApplyIsFoundByVerify() throws {
    let store = try noteStore()
    try store.note("a")
    _ = try FaultyCount.with(.countsTwice) { try store.projection(FaultyCount.self) }
    let findings = try store.verify()
    #expect(findings.map(\.severity) == [.error])
    #expect(
      findings.first?.message.hasPrefix(
        "the projection \"faulty count\" differs, as it is kept as of transaction 2, from what")
        == true)
  }

  @Test(arguments: [
    (FaultyCount.Fault.throwsInApply, "cannot be rebuilt: "),
    (.throwsInEncoding, "cannot be saved or rebuilt: "),
    (.throwsInDecoding, "cannot be saved or rebuilt: "),
    (.decodesWrongly, "is another value when it has been encoded and decoded"),
    (.forgetsTheBase, "differs from what it makes of the newest state alone"),
  ])
  func brokenCodeIsFoundByVerify(fault: FaultyCount.Fault, text: String) throws {
    let store = try noteStore()
    try store.note("a")
    store.register(FaultyCount.self)
    let findings = try FaultyCount.with(fault) { try store.verify() }
    #expect(findings.map(\.severity) == [.error])
    #expect(findings.first?.message.hasPrefix("the projection \"faulty count\" \(text)") == true)
    #expect(try store.verify() == [])
  }
}

/// Does what a test tells it to do in `apply`.
private struct Caller: Projection, Codable {
  static let name = "caller"
  static let version = 1
  static let call = Locked<(@Sendable (Transaction) throws -> Void)?>(nil)

  mutating func apply(_ transaction: Transaction) throws {
    let call = Caller.call.withLock { $0 }
    try call?(transaction)
  }
}

private struct Namesake: Projection, Codable {
  static let name = NotesPerText.name
  static let version = 1
  mutating func apply(_ transaction: Transaction) throws {}
}
