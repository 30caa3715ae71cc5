import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// What a replica does while nothing goes wrong.
@Suite struct ReplicaTests {
  @Test func aWriteIsInEveryReplica() async throws {
    let world = ReplicaWorld(3)
    try await world.openAll()
    let note = try await world.replicas[0].write(author: "ann", context: "test") { tx in
      try tx.insert(Note(title: "Fog"))
    }
    try await world.replicas[1].catchUp()
    let found = try world.replicas[1].store.snapshot().objects(of: Note.self)
    #expect(found.map(\.value.title) == ["Fog"])
    #expect(found.map(\.objectID) == [note.objectID])
    #expect(found.map(\.value.key) == ["fog"])
    try await world.replicas[1].write(author: "bob") { tx in
      try tx.update(found[0]) { $0.title = "Mist" }
    }
    try await world.expectEqual()
    let history = try world.replicas[2].store.history().collect(limit: 99)
    #expect(history.map(\.author) == [nil, "ann", "bob"])
    #expect(world.replicas[2].store.token.number == 3)
    #expect(world.replicas[2].status.sequence == 3)
    #expect(world.replicas[2].status.lag == 0)
  }

  @Test func whatIsWrittenStaysAfterReopening() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    try await world.replicas[0].write { tx in try tx.insert(Note(title: "one")) }
    try await world.replicas[0].close()
    try await world.replicas[1].write { tx in try tx.insert(Note(title: "two")) }
    world.replicas[0] = try await world.open(0)
    #expect(world.replicas[0].store.token == world.replicas[1].store.token)
    try await world.replicas[0].write { tx in try tx.insert(Note(title: "three")) }
    try await world.expectEqual()
  }

  @Test func whoWasSlowerRunsAgainOnTheNewerState() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    let note = try await world.replicas[0].write { tx in try tx.insert(Note(title: "n")) }
    try await world.replicas[1].catchUp()
    // The second replica does not know of the first one's additions.
    for _ in 0..<3 {
      try await world.replicas[0].write { tx in
        try tx.update(Note.self, note.objectID) { $0.count += 1 }
      }
    }
    try await world.replicas[1].write { tx in
      try tx.update(Note.self, note.objectID) { $0.count += 10 }
    }
    try await world.expectEqual()
    let counts = try world.replicas[0].store.snapshot().objects(of: Note.self).map(\.value.count)
    #expect(counts == [13])
  }

  @Test func aPolicyMergesWhatRestsOnAnOlderState() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    let note = try await world.replicas[0].write { tx in try tx.insert(Note(title: "n", count: 1)) }
    try await world.replicas[1].catchUp()
    let basis = world.replicas[1].store.token
    try await world.replicas[0].write { tx in
      try tx.update(Note.self, note.objectID) { ($0.title, $0.count) = ("theirs", 2) }
    }
    let commit = try await world.replicas[1].commit(basedOn: basis, merging: .storedWins) { tx in
      try tx.update(Note.self, note.objectID) { ($0.title, $0.image) = ("ours", Data([7])) }
    }
    #expect(commit.conflicts.map(\.property) == ["title"])
    try await world.expectEqual()
    let merged = try world.replicas[0].store.snapshot().objects(of: Note.self)[0].value
    #expect(merged.title == "theirs" && merged.count == 2 && merged.image == Data([7]))
    let error = await #expect(throws: AnnalsError.self) {
      try await world.replicas[1].write(basedOn: basis) { tx in
        try tx.update(Note.self, note.objectID) { $0.title = "again" }
      }
    }
    #expect(error?.code == .conflict)
  }

  @Test func rulesRefuseWithoutATrace() async throws {
    let world = ReplicaWorld(1)
    try await world.openAll()
    let replica = world.replicas[0]
    try await replica.write { tx in try tx.insert(Folder(name: "a")) }
    let before = world.log.contents.last
    await #expect(throws: AnnalsError.self) {
      try await replica.write { tx in try tx.insert(Folder(name: "a")) }
    }
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await replica.write { tx in
        try tx.insert(Folder(name: "b"))
        throw Stop()
      }
    }
    // What comes to nothing is not recorded.
    try await replica.write { tx in
      let made = try tx.insert(Folder(name: "c"))
      try tx.delete(made.objectID)
    }
    #expect(world.log.contents.last == before)
    #expect(replica.store.token.number == Int64(before))
  }

  @Test func theStoreItselfRefusesWrites() async throws {
    let world = ReplicaWorld(1)
    try await world.openAll()
    let store = world.replicas[0].store
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in _ = try tx.insert(Note(title: "x")) }
    }
    #expect(error?.code == .readOnly)
    let note = try await world.replicas[0].write { tx in try tx.insert(Note(title: "y")) }
    #expect(throws: AnnalsError.self) { try store.erase(note.objectID, reason: "r") }
    #expect(throws: AnnalsError.self) { try store.undo(author: nil) }
    // What is a file's own is allowed.
    try store.compact()
    try await world.replicas[0].write { tx in try tx.insert(Note(title: "z")) }
    try await world.expectEqual()
  }

  @Test func othersAreFollowed() async throws {
    let world = ReplicaWorld(2)
    var options = ReplicaWorld.options
    options.follows = true
    try await world.openAll(options)
    let live = world.replicas[1].store.live(Fetch(Note.self).sorted(by: \.title))
    let seen = Task {
      for try await update in live where update.rows.count == 3 { return true }
      return false
    }
    for title in ["a", "b", "c"] {
      try await world.replicas[0].write { tx in try tx.insert(Note(title: title)) }
    }
    #expect(try await seen.value)
    try await world.expectEqual()
    for replica in world.replicas { try await replica.close() }
    let error = await replicationError {
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "d")) }
    }
    #expect(error?.code == .closed)
  }

  @Test func cascadesDerivedAttributesAndUndo() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    let (first, second) = (world.replicas[0], world.replicas[1])
    let folder = try await first.write(author: "a") { tx in
      let folder = try tx.insert(Folder(name: "Ä"))
      var last: [Reference<Note>] = []
      for title in ["Eins", "Zwei", "Drei"] {
        let note = try tx.insert(
          Note(title: title, folder: Reference(folder), friends: last))
        last.insert(Reference(note), at: 0)
      }
      return folder
    }
    try await second.catchUp()
    try await second.write(author: "b") { tx in try tx.delete(folder.objectID) }
    try await world.expectEqual()
    #expect(try first.store.snapshot().count(of: Note.self) == 0)
    let undone = try await first.undo(author: "b")
    #expect(undone.value.numbers == 3...3)
    try await world.expectEqual()
    #expect(try second.store.snapshot().objects(of: Folder.self).map(\.value.size) == [3])
    try await second.redo(author: "b")
    try await world.expectEqual()
    for replica in world.replicas {
      try expectRemade(replica, world.log)
      try replica.store.compact()
      try expectRemade(replica, world.log)
    }
    #expect(try first.store.snapshot().count(of: Note.self) == 0)
  }

  @Test func schemasGrowAndAreEdited() async throws {
    let world = ReplicaWorld(3)
    try await world.openAll()
    let (first, second) = (world.replicas[0], world.replicas[1])
    try await first.write { tx in
      try tx.require(
        Schema {
          Entity("Note") {
            Attribute("mark", .string)
            Attribute("price", .decimal)
          }
          Entity("Tag") { Attribute("name", .string, isUnique: true) }
        })
      let tag = try tx.insert("Tag", ["name": "blue"])
      _ = try tx.insert("Note", ["title": "t", "count": 1, "mark": "m"])
      try tx.update(tag, ["name": "red"])
    }
    try await second.write { tx in
      try tx.require(
        Schema(),
        edits: [.renameProperty(entity: "Note", "mark", to: "sign"), .removeEntity("Tag")])
    }
    try await second.write { tx in
      _ = try tx.insert("Note", ["title": "u", "count": 2, "sign": "s"])
    }
    try await world.expectEqual()
    #expect(world.replicas[2].store.schema.entity(named: "Tag") == nil)
    #expect(first.store.schema == world.replicas[2].store.schema)
    for replica in world.replicas {
      try expectRemade(replica, world.log)
      try replica.store.compact()
      try expectRemade(replica, world.log)
    }
  }

  @Test(arguments: [5_000, 100_000, 3 << 20]) func largeValuesTravel(_ length: Int) async throws {
    let log = InMemorySharedLog(longestRecord: 64 << 10, longestPiece: 40_000)
    let world = ReplicaWorld(2, log: log)
    try await world.openAll()
    var random = SeededRandom(seed: UInt64(length))
    let bytes = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
    let note = try await world.replicas[0].write(author: "a") { tx in
      let first = try tx.insert(Note(title: "large", image: bytes))
      _ = try tx.insert(Note(title: "the same", image: bytes))
      return first
    }
    try await world.replicas[1].catchUp()
    let found = try #require(
      try world.replicas[1].store.snapshot().object(Note.self, note.objectID))
    #expect(found.value.image == bytes)
    try await world.replicas[1].write(author: "a") { tx in
      try tx.update(Note.self, note.objectID) { $0.image = Data([1]) + ($0.image ?? Data()) }
    }
    try await world.replicas[0].undo(author: "a")
    try await world.expectEqual()
    for replica in world.replicas {
      try expectRemade(replica, world.log)
      try replica.store.compact()
      try expectRemade(replica, world.log)
    }
    let restored = try world.replicas[0].store.snapshot().object(Note.self, note.objectID)
    #expect(restored?.value.image == bytes)
    #expect(world.log.contents.last == 4)
  }

  @Test func aTransactionOfManyParts() async throws {
    let world = ReplicaWorld(2, log: InMemorySharedLog(longestRecord: 64 << 10))
    try await world.openAll()
    try await world.replicas[0].write { tx in
      for index in 0..<5_000 {
        _ = try tx.insert(Note(title: "a note with a title of some length \(index)", count: index))
      }
    }
    try await world.replicas[1].write { tx in
      for note in try tx.objects(of: Note.self) where note.value.count % 3 == 0 {
        try tx.delete(note.objectID)
      }
    }
    try await world.expectEqual()
    try expectRemade(world.replicas[0], world.log)
    try world.replicas[1].store.compact()
    try expectRemade(world.replicas[1], world.log)
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 3_333)
  }

  @Test func metadataGroupsAndDatesAreKept() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    let data = Value.data([UInt8](repeating: 7, count: 100))
    for index in 0..<3 {
      try await world.replicas[0].write(
        author: "a", context: "c", group: "drag", metadata: ["n": .int(Int64(index)), "d": data]
      ) { tx in try tx.insert(Note(title: "\(index)")) }
    }
    try await world.replicas[1].undo(author: "a")
    try await world.expectEqual()
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 0)
  }
}
