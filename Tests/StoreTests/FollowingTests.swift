import Annals
import AnnalsFaults
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

/// Commits of other processes, which another store on the same file stands for: they arrive by
/// themselves where somebody listens.
@Suite(.deadline) struct FollowingTests {
  /// Runs `body` with a file in memory, and with one on the disk.
  private func onEach(_ body: (StoreLocation) async throws -> Void) async throws {
    try await body(memoryFile())
    let folder = try TemporaryFolder()
    try await body(.file(folder.path("a.annals")))
  }

  @Test func whatAnotherStoreCommitsArrivesByItself() async throws {
    try await onEach { location in
      let first = try noteStore(location)
      let second = try noteStore(location, seed: 2)
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      // The writer goes on until all was read: nothing else wakes the reader.
      for number in 1...20 {
        let writing = Task.detached { try second.note("\(number)") }
        let transaction = try #require(await iterator.next())
        #expect(transaction.number == Int64(number) + 1)
        #expect(transaction.processID == 2)
        _ = try await writing.value
        // What has arrived is in snapshots too.
        #expect(first.snapshot().number >= transaction.number)
      }
      try second.close()
      try first.close()
    }
  }

  /// Listeners learn that the file cannot be read, and are not told so any more when it can be.
  @Test func aFileThatCannotBeReadForAWhile() async throws {
    let files = FaultyFileSystem(seed: 1)
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    let seen = first.token
    try second.note("a")
    let changes = try first.changes(after: seen)
    // Until it is seen: a second look may come first where other tests keep the listener waiting.
    files.inject(FaultInjection(.read, .ioError, count: .max))
    let error = await #expect(throws: AnnalsError.self) {
      var iterator = changes.makeAsyncIterator()
      _ = try await iterator.next()
    }
    #expect(error?.code == .io && files.injectedCount > 0)
    files.removeInjections()
    var found: Int64?
    while found == nil {
      var iterator = try first.changes(after: seen).makeAsyncIterator()
      found = try? await iterator.next()?.number
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(found == 2)
    try second.close()
    try first.close()
  }

  /// One that goes on listening is served as soon as the file can be read again, though nobody
  /// writes any more.
  @Test func whoGoesOnListeningIsServedAgain() async throws {
    let files = FaultyFileSystem(seed: 1)
    let location = StoreLocation(fileSystem: files, path: "/test.annals")
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    var iterator = try first.changes(after: first.token).makeAsyncIterator()
    try second.note("a")
    #expect(try await iterator.next()?.number == 2)
    // The file cannot be read once a commit is written: until the listener looks too late for it.
    var (last, hasFailed) = (Int64?.none, false)
    for round in 1...100 where !hasFailed {
      files.duringNextSync { files.inject(FaultInjection(.read, .ioError, count: .max)) }
      _ = try? second.note("\(round)")
      do { last = try await iterator.next()?.number } catch { hasFailed = true }
      files.removeInjections()
    }
    #expect(hasFailed)
    let head = second.token.number
    // If it is not, this ends at the deadline.
    while last != head {
      try await Task.sleep(for: .milliseconds(10))
      if let next = try? await iterator.next()?.number { last = next }
    }
    try second.close()
    try first.close()
  }

  /// The file is watched until the last listener has left, in whatever order they leave.
  @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]])
  func whoStaysIsServedWhenOthersLeave(_ order: [Int]) async throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    let seen = SeenNumbers()
    let readers = (0..<3).map { reader in
      Task.detached {
        for try await transaction in try first.changes(after: 1) {
          seen.list.withLock { $0.append(transaction.number * 10 + Int64(reader)) }
        }
      }
    }
    func expectAll(_ number: Int64, by left: Set<Int>) async throws {
      let wanted = Set(left.map { number * 10 + Int64($0) })
      // If one was not served, this ends at the deadline.
      while !wanted.isSubset(of: Set(seen.list.withLock { $0 })) {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    var left: Set = [0, 1, 2]
    for (place, leaving) in order.enumerated() {
      try second.note("\(place)")
      try await expectAll(Int64(place) + 2, by: left)
      readers[leaving].cancel()
      try await readers[leaving].value
      left.remove(leaving)
      #expect(first.writer.isWatching == !left.isEmpty, "\(left)")
    }
    try second.close()
    try first.close()
  }

  @Test func aRewriteByAnotherStoreIsFollowed() async throws {
    try await onEach { location in
      let first = try noteStore(location)
      let second = try noteStore(location, seed: 2)
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      try second.note("before")
      #expect(try await iterator.next()?.number == 2)
      try second.compact()
      try second.note("between")
      #expect(try await iterator.next()?.number == 3)
      try second.compact()
      try second.note("after")
      #expect(try await iterator.next()?.number == 4)
      try second.close()
      try first.close()
    }
  }

  /// Checkpoints, root slots and rewrites bring the file to another length, and no transaction.
  @Test func framesWithoutTransactionsWakeNobody() async throws {
    try await onEach { location in
      let first = try noteStore(location)
      let second = try noteStore(location, seed: 2)
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      for number in 1...3 { try second.note("\(number)") }
      for number in 2...4 { #expect(try await iterator.next()?.number == Int64(number)) }
      let edition = try first.writer.head.feedPosition().edition
      let looks = first.writer.watchLookCount
      try second.checkpoint()
      try first.refresh()
      try second.compact()
      try first.refresh()
      try second.prune(second.prunePlan(before: 3))
      try second.close()
      try first.refresh()
      try first.checkpoint()
      try first.compact()
      #expect(first.base.number == 2)
      #expect(try first.writer.head.feedPosition().edition == edition)
      #expect(first.writer.isWatching && first.writer.watchLookCount >= looks)
      // What comes then still does.
      let third = try noteStore(location, seed: 3)
      try third.note("4")
      #expect(try await iterator.next()?.number == 5)
      #expect(try first.writer.head.feedPosition().edition == edition + 1)
      try third.close()
      try first.close()
    }
  }

  /// Commits and rewrites while nobody reads: all comes in order, and once.
  @Test func aReaderThatSleptIsToldEverything() async throws {
    try await onEach { location in
      let first = try noteStore(location)
      let second = try noteStore(location, seed: 2)
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      var view = first.live("Note").makeAsyncIterator()
      try second.note("0")
      #expect(try await iterator.next()?.number == 2)
      _ = try await view.next()
      for number in 1...30 {
        try second.note("\(number)")
        switch number % 10 {
        case 0: try second.compact()
        case 5: try second.checkpoint()
        default: break
        }
      }
      try second.prune(second.prunePlan(before: 3))
      for number in 3...32 { #expect(try await iterator.next()?.number == Int64(number)) }
      var rows = 0
      while rows < 31 { rows = try await view.next()?.rows.count ?? 99 }
      #expect(rows == 31)
      try second.close()
      try first.close()
    }
  }

  /// Who only listens does nothing as long as nobody writes, and looks once at most for each write.
  @Test func anIdleReaderDoesNothing() async throws {
    try await onEach { location in
      let first = try noteStore(location)
      let second = try noteStore(location, seed: 2)
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      let writing = Task.detached { try second.note("a") }
      #expect(try await iterator.next()?.number == 2)
      _ = try await writing.value
      // The last look of the write is over when none follows for a while.
      var looks = -1
      while looks != first.writer.watchLookCount {
        looks = first.writer.watchLookCount
        try await Task.sleep(for: .milliseconds(200))
      }
      try await Task.sleep(for: .milliseconds(500))
      #expect(first.writer.watchLookCount == looks)
      for number in 1...50 { try second.note("\(number)") }
      for number in 3...52 { #expect(try await iterator.next()?.number == Int64(number)) }
      // Each commit writes, and may lengthen the file before.
      #expect(first.writer.watchLookCount - looks <= 101)
      try second.close()
      try first.close()
    }
  }

  @Test func nobodyWatchesLongerThanSomebodyListens() async throws {
    let location = memoryFile()
    let first = try noteStore(location)
    let second = try noteStore(location, seed: 2)
    #expect(!first.writer.isWatching)
    do {
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      let writing = Task.detached { try second.note("a") }
      #expect(try await iterator.next()?.number == 2)
      _ = try await writing.value
    }
    #expect(!first.writer.isWatching)
    // A reader that waits ends with the store, and so does the watch.
    let reading = Task.detached {
      var iterator = try first.changes(after: first.token).makeAsyncIterator()
      return try await iterator.next()?.number
    }
    while !first.writer.isWatching { try await Task.sleep(for: .milliseconds(1)) }
    try first.close()
    #expect(!first.writer.isWatching)
    #expect(try await reading.value == nil)
    try second.close()
  }
}

/// What is published carries its changes while they are few.
@Suite(.deadline) struct FeedTests {
  @Test(arguments: [StoreOptions(), .deferred])
  func aListenerThatKeepsUpIsGivenTheChanges(options: StoreOptions) throws {
    let store = try noteStore(options: options)
    let head = store.writer.head
    let before = store.token.number
    try store.note("a", text: "fog")
    let publication = head.publication(after: before)
    #expect(publication.version.token == store.token)
    let batch = try #require(publication.batch)
    #expect(batch.changes.map(\.kind) == [.insert])
    // One that is behind reads the log.
    try store.note("b")
    #expect(head.publication(after: before).batch == nil)
    #expect(head.publication(after: before + 1).batch?.changes.count == 1)
    // Many changes are read from the log too.
    try store.write { tx in
      for number in 0..<100 { try tx.insert("Note", ["id": .string("many \(number)")]) }
    }
    #expect(head.publication(after: before + 2).batch == nil)
    try store.close()
  }

  /// A batch that a listener holds is not written over by later commits.
  @Test func theChangesOfAListenerStay() throws {
    let store = try noteStore(options: .deferred)
    let before = store.token.number
    try store.note("a")
    let held = store.writer.head.publication(after: before)
    let row = try #require(held.batch?.changes.first?.row)
    for number in 0..<5 { try store.note("\(number)") }
    #expect(held.batch?.changes.map(\.row) == [row])
    #expect(held.version.head.number == before + 1)
    try store.close()
  }
}
