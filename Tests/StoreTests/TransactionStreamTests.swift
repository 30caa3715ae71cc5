import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// History that goes on with new commits.
@Suite(.deadline) struct TransactionStreamTests {
  @Test func firstWhatWasThenWhatComesNoneLeftOutNoneTwice() async throws {
    let store = try noteStore()
    for number in 1...3 { try store.note("old \(number)") }
    let writer = Task.detached {
      for number in 1...200 {
        try store.note("new \(number)")
        if number % 7 == 0 { await Task.yield() }
      }
      try store.close()
    }
    var numbers: [Int64] = []
    for try await transaction in try store.changes(after: 2) {
      #expect(transaction.changes.count == 1)
      numbers.append(transaction.number)
    }
    try await writer.value
    #expect(numbers == Array(3...204))
  }

  @Test func theConditionChoosesAndTheTokenGoesOn() async throws {
    let store = try noteStore()
    for number in 1...10 {
      try store.note("\(number)", author: number.isMultiple(of: 2) ? "ann" : "bob")
    }
    var iterator = try store.changes(where: .author == "ann").makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(first.number == 3)
    // A reader that saved the token goes on behind it.
    var next = try store.changes(after: first.token, where: .author == "ann").makeAsyncIterator()
    #expect(try await next.next()?.number == 5)
    try store.note("late", author: "ann")
    try store.close()
    var rest: [Int64] = []
    while let transaction = try await iterator.next() { rest.append(transaction.number) }
    #expect(rest == [5, 7, 9, 11, 12])
  }

  /// Small commits and large ones, of objects and of the schema, wake readers of history and of a
  /// live view alike.
  @Test(arguments: [StoreOptions.Durability.full, .deferred])
  func everyKindOfCommitWakesWhoeverWaits(durability: StoreOptions.Durability) async throws {
    var options = StoreOptions()
    options.durability = durability
    let store = try noteStore(options: options)
    let (seen, rows) = (SeenNumbers(), SeenNumbers())
    let readers = [
      Task.detached {
        for try await transaction in try store.changes(after: 1) {
          seen.list.withLock { $0.append(transaction.number) }
        }
      },
      Task.detached {
        for try await update in store.live("Note") {
          rows.list.withLock { $0 = [Int64(update.rows.count)] }
        }
      },
    ]
    func insert(_ count: Int) throws {
      try store.write { tx in
        let first = store.token.number * 1_000
        for number in 0..<count { try tx.insert("Note", ["id": .string("\(first) \(number)")]) }
      }
    }
    let commits: [(String, () throws -> Void)] = [
      ("one", { try insert(1) }), ("few", { try insert(16) }), ("many", { try insert(17) }),
      ("a thousand", { try insert(1_000) }),
      ("a long text", { _ = try store.note("long", text: String(repeating: "x", count: 9_000)) }),
      ("a schema", { try store.require(Schema { Entity("Other") { Attribute("a", .int64) } }) }),
      (
        "both",
        {
          try store.write { tx in
            try tx.require(Schema { Entity("Third") { Attribute("a", .int64) } })
            try tx.insert("Note", ["id": "with a schema"])
          }
        }
      ),
      ("back", { try store.revert(store.token.number) }),
      (
        "none left",
        {
          try store.write { tx in
            for note in try tx.fetch(DynamicFetch("Note")) { try tx.delete(note.objectID) }
          }
        }
      ),
    ]
    for (name, commit) in commits {
      // By now the readers have gone to wait.
      try await Task.sleep(for: .milliseconds(20))
      try commit()
      let count = Int64(try store.snapshot().count(of: "Note"))
      func hasCome() -> Bool {
        seen.list.withLock { $0.last } == store.token.number
          && rows.list.withLock { $0.last } == count
      }
      // If it woke nobody, this ends at the deadline.
      while !hasCome(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
      try #require(hasCome(), "\(name)")
    }
    #expect(seen.list.withLock { $0 } == Array(2...store.token.number))
    try store.close()
    for reader in readers { try await reader.value }
  }

  /// Nothing but the commits themselves wakes the reader here: the store stays open, and there is
  /// always one commit behind which nothing comes. With an exclusive lock, commits that are not
  /// synced move the version on in place.
  @Test(
    arguments: [(StoreOptions.Durability.full, false), (.deferred, false), (.deferred, true)])
  func eachCommitWakesWhoeverWaits(
    durability: StoreOptions.Durability, isExclusive: Bool
  ) async throws {
    for atOnce in [1, 3] {
      try await eachCommitWakesWhoeverWaits(durability, isExclusive, atOnce: atOnce)
    }
  }

  private func eachCommitWakesWhoeverWaits(
    _ durability: StoreOptions.Durability, _ isExclusive: Bool, atOnce: Int
  ) async throws {
    var options = StoreOptions()
    options.durability = durability
    if isExclusive { options.lockMode = .exclusive }
    let store = try noteStore(options: options)
    let seen = SeenNumbers()
    let reader = Task.detached {
      for try await transaction in try store.changes(after: 1) {
        seen.list.withLock { $0.append(transaction.number) }
      }
    }
    for round in 0..<20 {
      // By now the reader has gone to wait.
      try await Task.sleep(for: .milliseconds(5))
      for number in 1...atOnce { try store.note("\(round) \(number)") }
      // If a commit woke nobody, this ends at the deadline.
      while seen.list.withLock({ Int64($0.count) }) < store.token.number - 1 {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    reader.cancel()
    _ = try await reader.value
    #expect(seen.list.withLock { $0 } == Array(2...store.token.number))
  }

  @Test func aCommitWakesAllWhoWait() async throws {
    let store = try noteStore()
    let seen = SeenNumbers()
    let readers = (0..<5).map { _ in
      Task.detached {
        for try await transaction in try store.changes(after: 1) {
          seen.list.withLock { $0.append(transaction.number) }
        }
      }
    }
    for number in 1...10 {
      // By now they have gone to wait.
      try await Task.sleep(for: .milliseconds(5))
      try store.note("\(number)")
      // If one was not woken, this ends at the deadline.
      while seen.list.withLock({ $0.count }) < 5 * number {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    let numbers = (2...11 as ClosedRange<Int64>).flatMap { Array(repeating: $0, count: 5) }
    for reader in readers { reader.cancel() }
    for reader in readers { try await reader.value }
    #expect(seen.list.withLock { $0 } == numbers)
  }

  @Test func cancellingEndsTheWait() async throws {
    let store = try noteStore()
    let reader = Task {
      var count = 0
      for try await _ in try store.changes(after: 0) { count += 1 }
      return count
    }
    try await Task.sleep(for: .milliseconds(20))
    reader.cancel()
    #expect(try await reader.value <= 1)
    #expect(try store.ids() == [])
  }

  @Test func otherProcessesCommitsComeWithARefresh() async throws {
    let file = memoryFile()
    let first = try noteStore(file)
    let second = try noteStore(file, seed: 2)
    var iterator = try second.changes(after: second.token).makeAsyncIterator()
    try first.note("a")
    try second.refresh()
    #expect(try await iterator.next()?.number == 2)
    // Compaction and pruning behind the reader's back disturb nothing that it has yet to read.
    try first.note("b")
    try first.compact()
    try second.refresh()
    #expect(try await iterator.next()?.number == 3)
    try first.note("c")
    try first.note("d")
    try first.prune(first.prunePlan(before: first.token))
    try second.refresh()
    let error = await #expect(throws: AnnalsError.self) { try await iterator.next() }
    #expect(error?.code == .pruned)
  }

  @Test func aPositionThatCannotBeReadIsRefusedAtOnce() throws {
    let store = try noteStore()
    let other = try noteStore(seed: 2)
    #expect(#expect(throws: AnnalsError.self) { try store.changes(after: 5) }?.code == .beyondHead)
    #expect(
      #expect(throws: AnnalsError.self) { try store.changes(after: other.token) }?.code
        == .otherStore)
  }
}

/// What a reader has seen.
final class SeenNumbers: Sendable {
  let list = Locked<[Int64]>([])
}
