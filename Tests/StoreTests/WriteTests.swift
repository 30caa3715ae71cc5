import Annals
import AnnalsModel
import Foundation
import Testing

@Suite struct WriteTests {
  @Test func whatCancelsOutRecordsNothing() throws {
    let store = try noteStore()
    let id = try store.note("a", text: "x")
    let large = String(repeating: "x", count: 5_000)
    try store.write { try $0.update(id, ["text": .string(large)]) }
    let head = store.token
    let bodies: [(WriteTransaction) throws -> Void] = [
      { _ in },
      { try $0.update(id, ["text": .string(large)]) },
      { try $0.update(id, [:]) },
      { tx in
        try tx.update(id, ["text": "other", "count": .int(1)])
        try tx.update(id, ["text": .string(large), "count": .null])
      },
      { try $0.delete(try $0.insert("Note", ["id": "b"])) },
      { tx in
        try tx.delete(id)
        _ = try tx.draft.insert(entity: tx.schema.entities[0], row: id.row)
        try tx.update(id, ["id": "a", "text": .string(large)])
      },
    ]
    for (index, body) in bodies.enumerated() {
      #expect(try store.commit(author: "ann", body).token == head, "body \(index)")
    }
    #expect(store.token == head)
    try store.importTransaction { _ in }
    #expect(store.token.number == head.number + 1)
  }

  @Test func whatTheClosureReturnsIsReturned() throws {
    let store = try noteStore()
    let id = try store.write { try $0.insert("Note", ["id": "a"]) }
    #expect(try store.snapshot().object(id)?["id"] == "a")
    let none: Int? = try store.write { _ in nil }
    #expect(none == nil)
    let before = store.token
    let commit = try store.commit(author: "ann") { tx in
      try tx.update(id, ["text": "x"])
      return try tx.count(of: "Note")
    }
    #expect(commit.value == 1)
    #expect(commit.token == store.token && commit.token > before)
    // The position is that of this commit, whatever came since.
    try store.write { try $0.update(id, ["text": "y"]) }
    #expect(try store.snapshot(at: commit.token).object(id)?["text"] == "x")
  }

  @Test func theSameTextInOtherBytesIsAChange() throws {
    let store = try noteStore()
    let id = try store.note("a", text: "é")
    try store.write { try $0.update(id, ["text": "e\u{301}"]) }
    #expect(store.token.number == 3)
    #expect(try store.transaction(3).changes[0].before("text") == "é")
  }

  @Test func anUnorderedListIsKeptSortedAndEachOnce() throws {
    let schema = Schema {
      Entity("A") { Relationship("all", to: "A", isToMany: true) }
    }
    let store = try Store(.memory, schema: schema)
    let references = (1...3).map { ObjectReference(entity: 1, row: $0) }
    try store.write { tx in
      for _ in 0..<3 { try tx.insert("A") }
      try tx.insert("A", ["all": .objects([references[2], references[0], references[2]])])
    }
    let id = ObjectID(store: RawUUID(store.id), entity: 1, row: 4)
    #expect(try store.snapshot().object(id)?["all"] == .objects([references[0], references[2]]))
    let head = store.token
    #expect(
      try store.commit {
        try $0.update(id, ["all": .objects([references[0], references[2], references[0]])])
      }.token == head)
  }

  @Test func aThrowingClosureLeavesNoTrace() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    try store.note("a")
    let head = store.token
    #expect(throws: Mismatch.self) {
      try store.write { tx in
        for index in 0..<1_000 {
          try tx.insert(
            "Note",
            ["id": .string("n\(index)"), "text": .string(String(repeating: "y", count: 6_000))])
        }
        throw Mismatch("no")
      }
    }
    #expect(store.token == head)
    #expect(try store.ids() == ["a"])
    let id = try store.note("b")
    #expect(id.row == 2)
    try store.close()
    #expect(try Store(location, creates: false).ids() == ["a", "b"])
  }

  @Test func snapshotsInsideAWriteAreOfBefore() throws {
    let store = try noteStore()
    let id = try store.note("a", text: "one")
    try store.write { tx in
      try tx.update(id, ["text": "two"])
      #expect(try store.texts() == ["one"])
      #expect(try tx.object(id)?["text"] == "two")
      #expect(try tx.count(of: "Note") == 1)
      try tx.insert("Note", ["id": "b"])
      #expect(try tx.objects(of: "Note").count == 2)
    }
    #expect(try store.texts() == ["two", .null])
  }

  /// The text of an id may name any row; a record of one that no object can have was not readable.
  @Test(arguments: [Int64(0), -1, 1 << 40 + 1, 1 << 62, .max])
  func metadataThatRefersToAnImpossibleRowIsRefused(row: Int64) throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let note = try store.note("a")
    let right = ObjectReference(note)
    let wrong = ObjectReference(entity: note.entity, row: row)
    for value in [Value.object(wrong), .objects([right, wrong])] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(metadata: ["of": value]) { try $0.update(note, ["count": 1]) }
      }
      #expect(error?.code == .invalidChange && error?.message.contains("row \(row)") == true)
    }
    let kept: [Value] = [.object(right), .objects([ObjectReference(entity: 9, row: 1 << 40)])]
    for (count, value) in kept.enumerated() {
      let count = Value.int(Int64(count))
      try store.write(metadata: ["of": value]) { try $0.update(note, ["count": count]) }
    }
    try store.close()
    let again = try Store(location, creates: false)
    let head = again.token.number
    for (number, value) in zip([head - 1, head], kept) {
      #expect(try again.transaction(number).metadata["of"] == value)
    }
  }

  /// A clock that is a little behind does not change the order of timestamps.
  @Test func timestampsKeepTheOrder() throws {
    let location = memoryFile()
    let times = Times([100, 90, 90, 200, 5])
    let environment = StoreEnvironment(
      clock: { times.next() }, random: { times.number() }, processName: "p", processID: 1)
    let store = try Store(location, creates: true, environment: environment)
    var seen: [Int64] = []
    for index in 0..<4 {
      try store.importTransaction(metadata: ["n": .int(Int64(index))]) { _ in }
      seen.append(store.snapshot().moment.microseconds)
    }
    #expect(seen == [90, 90, 200, 201])
    try store.importTransaction(timestamp: Timestamp(microseconds: 3)) { _ in }
    #expect(store.snapshot().moment.microseconds == 3)
  }

  @Test func aNestedWriteIsRefusedAndNothingIsRecorded() throws {
    let store = try noteStore()
    let calls: [(Store) throws -> Void] = [
      { try $0.write { _ in } }, { _ = try $0.commit { _ in } }, { try $0.checkpoint() },
      { try $0.refresh() }, { try $0.sync() }, { try $0.compact() }, { try $0.revert(1) },
      { try $0.close() }, { try $0.edit(.renameEntity("Note", to: "Page")) },
      { try $0.setRetention(Retention(days: 90)) },
    ]
    for call in calls {
      let error = #expect(throws: AnnalsError.self) {
        try store.write { tx in
          try tx.insert("Note", ["id": "a"])
          try call(store)
        }
      }
      #expect(error?.code == .nestedWrite)
      #expect(error?.message.contains("Use the transaction that the closure is given") == true)
    }
    // The closure may catch it: then its own changes are recorded.
    try store.write { tx in
      try tx.insert("Note", ["id": "b"])
      try? store.write { _ in }
    }
    #expect(try store.snapshot().objects(of: "Note").map { $0["id"] } == ["b"])
    // Another store's write is no nested one.
    try store.write { _ in try noteStore().write { _ in } }
    try store.close()
  }

  @Test func aWriteNestedInAnAsynchronousOneIsRefused() async throws {
    let store = try noteStore()
    let error = await #expect(throws: AnnalsError.self) {
      try await store.write { tx in
        try tx.insert("Note", ["id": "a"])
        try store.write { _ in }
      }
    }
    #expect(error?.code == .nestedWrite)
    #expect(try store.snapshot().count(of: "Note") == 0)
  }

  @Test func aTransactionUsedAfterItsClosureTraps() async {
    await #expect(processExitsWith: .failure) {
      let store = try noteStore()
      var kept: WriteTransaction?
      try store.write { kept = $0 }
      _ = try kept?.insert("Note", ["id": "a"])
    }
  }
}

/// A clock that shows what it was given.
private final class Times: Sendable {
  private let state: LockedState

  init(_ times: [Int64]) {
    state = LockedState(times)
  }

  func next() -> Timestamp { state.next() }
  func number() -> UInt64 { 7 }
}

private final class LockedState: @unchecked Sendable {
  private let lock = NSLock()
  private var times: [Int64]

  init(_ times: [Int64]) {
    self.times = times
  }

  func next() -> Timestamp {
    lock.withLock { Timestamp(microseconds: times.count > 1 ? times.removeFirst() : times[0]) }
  }
}
