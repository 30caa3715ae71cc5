import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import SystemPackage
import Testing

/// Many threads writing to one store.
@Suite(.deadline) struct GroupCommitTests {
  /// Runs the body on so many threads at once, and waits for all; returns what they threw.
  private func run(
    threads: Int, _ body: @escaping @Sendable (Int) throws -> Void
  ) -> [any Error] {
    let errors = Errors()
    let group = DispatchGroup()
    for index in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        do { try body(index) } catch { errors.append(error) }
        group.leave()
      }
    }
    group.waitUnlessCancelled()
    return errors.all
  }

  @Test(arguments: [StoreOptions(), .deferred])
  func everyAcknowledgedCommitIsThereAndNumbersAreDense(options: StoreOptions) throws {
    let disk = FaultyFileSystem(syncDelay: .microseconds(300))
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location, options: options)
    let tokens = Tokens()
    let errors = run(threads: 8) { thread in
      for index in 0..<40 {
        let token = try store.commit(author: "t\(thread)") {
          try $0.insert("Note", ["id": .string("\(thread) \(index)")])
        }.token
        tokens.append(token.number)
        // What was acknowledged can be read at once.
        guard store.token.number >= token.number else { throw Mismatch("not published") }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(tokens.all.sorted() == (2...321).map { Int64($0) })
    #expect(try store.snapshot().count(of: "Note") == 320)
    if options.durability == .deferred { try store.sync() }
    // Power fails now: nothing that was acknowledged is lost.
    disk.cutPower()
    var survivors = 0
    disk.forEachSurvivor(limit: 8) { survivor in
      survivors += 1
      let again = try? Store(
        StoreLocation(fileSystem: survivor.files, path: "/a.annals"), creates: false)
      #expect((try? again?.snapshot().count(of: "Note")) == 320, "\(survivor)")
    }
    #expect(survivors > 0)
  }

  @Test func writersReadersAndCheckpointsAtOnce() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let errors = run(threads: 8) { thread in
      for index in 0..<25 {
        switch thread {
        case 0: try store.checkpoint()
        case 1:
          let snapshot = store.snapshot()
          let past = try store.snapshot(at: snapshot.number)
          let counts = try (snapshot.count(of: "Note"), past.count(of: "Note"))
          guard counts.0 == counts.1 else { throw Mismatch("\(counts) at \(snapshot.number)") }
          _ = try store.history(after: max(snapshot.number - 10, 0)).collect()
        case 2: try store.refresh()
        default: try store.note("\(thread) \(index)")
        }
      }
    }
    #expect(errors.isEmpty, "\(errors)")
    #expect(store.token.number == 126)
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try Store(location, creates: false).snapshot().count(of: "Note") == 125)
  }

  @Test func twoStoresOnOneFileTakeTurnsUnderLoad() throws {
    let folder = try TemporaryFolder()
    let location = StoreLocation.file(folder.path("a.annals"))
    let stores = [try noteStore(location), try noteStore(location, seed: 2)]
    let errors = run(threads: 4) { thread in
      for index in 0..<30 { try stores[thread % 2].note("\(thread) \(index)") }
    }
    #expect(errors.isEmpty, "\(errors)")
    for store in stores {
      try store.refresh()
      #expect(store.token.number == 121)
      #expect(try store.snapshot().count(of: "Note") == 120)
      #expect(try store.verifyHistory() == [])
    }
  }

  @Test func closingWhileOthersWriteLosesNothingAcknowledged() throws {
    let location = StoreLocation(
      fileSystem: FaultyFileSystem(syncDelay: .microseconds(500)), path: "/a.annals")
    let store = try noteStore(location)
    let tokens = Tokens()
    let errors = run(threads: 6) { thread in
      for index in 0..<40 {
        if thread == 0, index == 10 { return try store.close() }
        if thread == 0 {
          Thread.sleep(forTimeInterval: 0.001)
        } else {
          try store.note("\(thread) \(index)")
          tokens.append(1)
        }
      }
    }
    #expect(errors.allSatisfy { ($0 as? AnnalsError)?.code == .closed }, "\(errors)")
    let again = try Store(location, creates: false)
    #expect(try again.snapshot().count(of: "Note") == tokens.all.count)
    #expect(try again.verifyHistory() == [])
  }

  @Test func aFailedSyncFailsItsWholeGroupAndNobodyWaitsForEver() throws {
    let disk = FaultyFileSystem(syncDelay: .milliseconds(2))
    let store = try noteStore(StoreLocation(fileSystem: disk, path: "/a.annals"))
    try store.note("first")
    let points = disk.pointCount
    disk.inject(FaultInjection(.sync, after: 3, .ioError, count: 1))
    let tokens = Tokens()
    let errors = run(threads: 8) { thread in
      for index in 0..<30 {
        try store.note("\(thread) \(index)")
        tokens.append(1)
      }
    }
    #expect(disk.pointCount > points)
    #expect(errors.count == 8)
    let codes = Set(errors.compactMap { ($0 as? AnnalsError)?.code })
    #expect(codes.isSubset(of: [.outcomeUnknown, .poisoned]) && codes.contains(.outcomeUnknown))
    let later = #expect(throws: AnnalsError.self) { try store.note("later") }
    #expect(later?.code == .poisoned || later?.code == .outcomeUnknown)
    // A commit that is appended while a group closes is synced and shown with it, and may then be
    // told of the next one's failure: its outcome is unknown to its caller alone. What is shown is
    // on the disk, whatever the power does.
    let shown = try store.snapshot().count(of: "Note")
    #expect(shown >= tokens.all.count + 1 && shown <= tokens.all.count + 1 + errors.count)
    let cut = disk.afterKill()
    cut.cutPower()
    try cut.forEachSurvivor(limit: 8) { survivor in
      let location = StoreLocation(fileSystem: survivor.files, path: "/a.annals")
      let rest = try Store(location, creates: false)
      #expect(try rest.snapshot().count(of: "Note") >= shown, "\(survivor)")
    }
    try store.close()
    let again = try Store(StoreLocation(fileSystem: disk, path: "/a.annals"), creates: false)
    #expect(try again.snapshot().count(of: "Note") >= shown)
    try again.note("after")
    #expect(try again.verifyHistory() == [])
  }
}

/// Errors gathered from several threads.
private final class Errors: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [any Error] = []

  func append(_ error: any Error) { lock.withLock { list.append(error) } }
  var all: [any Error] { lock.withLock { list } }
}

/// Numbers gathered from several threads.
private final class Tokens: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [Int64] = []

  func append(_ number: Int64) { lock.withLock { list.append(number) } }
  var all: [Int64] { lock.withLock { list } }
}
