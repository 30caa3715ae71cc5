import Annals
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation
import Testing

/// Commits of other processes, which another store on the same file stands for: they arrive by
/// themselves where somebody listens.
@Suite struct FollowingTests {
  /// Runs `body` with a file in memory, and with one on the disk.
  private func onEach(_ body: (StoreLocation) async throws -> Void) async throws {
    try await body(memoryFile())
    let folder = FileManager.default.temporaryDirectory.appending(path: "annals-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(.file(folder.appending(path: "a.annals").path))
  }

  @Test(.timeLimit(.minutes(60))) func whatAnotherStoreCommitsArrivesByItself() async throws {
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

  @Test(.timeLimit(.minutes(60))) func aRewriteByAnotherStoreIsFollowed() async throws {
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

  @Test(.timeLimit(.minutes(60))) func nobodyWatchesLongerThanSomebodyListens() async throws {
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
    while !first.writer.isWatching { await Task.yield() }
    try first.close()
    #expect(!first.writer.isWatching)
    #expect(try await reading.value == nil)
    try second.close()
  }
}

/// What is published carries its changes while they are few.
@Suite struct FeedTests {
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
