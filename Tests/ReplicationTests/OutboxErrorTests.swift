import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// What an outbox refuses, by name, and that nothing of it is lost then.
@Suite struct OutboxErrorTests {
  private let options = ReplicaWorld.impatient

  /// A replica with a draft that waits, closed.
  private func waiting(in world: ReplicaWorld) async throws {
    let replica = try await world.open(0, options)
    try await replica.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: "w")) }
    try await replica.close()
  }

  private func outbox(of world: ReplicaWorld, _ index: Int = 0) -> StoreLocation {
    let place = world.places[index]
    return StoreLocation(fileSystem: place.fileSystem, path: place.path + ".outbox")
  }

  /// The code of the error that each use of the outbox throws.
  private func codes(of replica: Replica) async -> [ReplicationError.Code?] {
    [
      await replicationError { _ = try await replica.snapshot(including: .outbox) }?.code,
      await replicationError { _ = try await replica.sendOutbox() }?.code,
      await replicationError { _ = try await replica.outboxItems() }?.code,
      await replicationError {
        try await replica.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: "x")) }
      }?.code,
    ]
  }

  /// Changes the first object of an entity of an outbox, as another program might.
  private func change(
    _ place: StoreLocation, _ entity: String, _ body: (DynamicObject) -> [String: Value]
  ) throws {
    let store = try Store(place, schema: Schema())
    let object = try #require(try store.snapshot().objects(of: entity).first)
    try store.write { tx in try tx.update(object.objectID, body(object)) }
    try store.close()
  }

  @Test func aFullOutbox() async throws {
    let world = ReplicaWorld(1)
    var options = options
    options.outboxLimit = OutboxLimit(count: 2)
    let replica = try await world.open(0, options)
    func wait() async throws {
      try await replica.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: "n")) }
    }
    try await wait()
    try await wait()
    #expect(await replicationError { try await wait() }?.code == .outboxFull)
    #expect(replica.status.outbox.count == 2)
    #expect(try await replica.sendOutbox().sent.count == 2)
    try await wait()
    try await replica.close()
    options.outboxLimit = OutboxLimit(byteCount: 5_000)
    let again = try await world.open(0, options)
    let error = await replicationError {
      try await again.write(offline: .outboxFirst) { tx in
        _ = try tx.insert(Note(title: "n", image: Data(repeating: 1, count: 5_000)))
      }
    }
    #expect(error?.code == .outboxFull)
    #expect(try await again.snapshot(including: .outbox).count(of: Note.self) == 3)
  }

  @Test func anOutboxOfAnotherStore() async throws {
    let world = ReplicaWorld(1)
    try await waiting(in: world)
    let other = ReplicaWorld(1, seed: 99)
    let bytes = try world.places[0].fileSystem.contents(of: outbox(of: world).path)
    try other.places[0].fileSystem.put(bytes, at: outbox(of: other).path)
    let replica = try await other.open(0, options)
    #expect(await codes(of: replica) == [.otherStore, .otherStore, .otherStore, .otherStore])
    #expect((replica.status.outbox.failure as? ReplicationError)?.code == .otherStore)
    // The log is there, and so the replica works.
    try await replica.write { tx in _ = try tx.insert(Note(title: "n")) }
    #expect(try other.places[0].fileSystem.contents(of: outbox(of: other).path) == bytes)
  }

  @Test func anOutboxOfALaterVersion() async throws {
    let world = ReplicaWorld(1)
    try await waiting(in: world)
    try change(outbox(of: world), "Outbox") { _ in ["version": .int(2)] }
    let replica = try await world.open(0, options)
    #expect(
      await codes(of: replica) == [.newerVersion, .newerVersion, .newerVersion, .newerVersion])
    try await replica.close()
    let again = try Store(outbox(of: world), schema: Schema())
    #expect(try again.snapshot().count(of: "Draft") == 1)
  }

  @Test func aStoreThatIsNoOutbox() async throws {
    let world = ReplicaWorld(1)
    try insertDirectly(["a"], at: outbox(of: world))
    let replica = try await world.open(0, options)
    #expect(
      await codes(of: replica) == [.notAnOutbox, .notAnOutbox, .notAnOutbox, .notAnOutbox])
    try await replica.close()
    let store = try Store(outbox(of: world), records: Note.self)
    #expect(try store.snapshot().count(of: Note.self) == 1)
  }

  @Test(arguments: ["changes", "objects"]) func aDraftThatCannotBeRead(
    _ property: String
  ) async throws {
    let world = ReplicaWorld(1)
    try await waiting(in: world)
    try await waiting(in: world)
    try change(outbox(of: world), "Draft") { draft in
      guard case .data(var bytes) = draft[property] else { return [:] }
      bytes[bytes.count / 2] ^= 1
      return [property: .data(bytes)]
    }
    let replica = try await world.open(0, options)
    #expect(try await replica.snapshot(including: .outbox).count(of: Note.self) == 1)
    let report = try await replica.sendOutbox()
    #expect(report.sent.isEmpty && report.conflicted?.conflict?.code == .damaged)
    try await replica.discard(try #require(report.conflicted))
    #expect(try await replica.sendOutbox().sent.count == 1)
  }

  @Test func whatCannotWait() async throws {
    let world = ReplicaWorld(1)
    let replica = try await world.open(0, options)
    let note = try await replica.write { tx in try tx.insert(Note(title: "n")) }
    world.log.isReachable = false
    let schema = await #expect(throws: AnnalsError.self) {
      try await replica.write(offline: .outbox) { tx in
        try tx.require(Schema { Entity("Tag") { Attribute("name", .string) } })
      }
    }
    #expect(schema?.code == .unsupported)
    let key = await #expect(throws: AnnalsError.self) {
      try await replica.write(metadata: ["outbox": "x"], offline: .outbox) { _ in }
    }
    #expect(key?.code == .invalidArgument)
    let rule = await #expect(throws: AnnalsError.self) {
      try await replica.write(offline: .outbox) { tx in
        try tx.update(note.objectID, ["count": .string("one")])
      }
    }
    #expect(rule?.code == .invalidChange)
    let erasure = await replicationError { try await replica.erase([note.objectID], reason: "r") }
    #expect(erasure?.code == .unavailable && erasure?.message.contains("outbox") == true)
    // A write that changes nothing has nothing to wait for.
    #expect(try await replica.write(offline: .outbox) { _ in }.item == nil)
    #expect(replica.status.outbox.count == 0)
  }

  /// The replica's file is made anew from the log, and its history is dropped; the outbox needs
  /// neither.
  @Test func anOutboxOutlivesItsFile() async throws {
    for prunes in [false, true] {
      let (world, note) = try await twoReplicas()
      let first = try await world.replicas[0].write(merging: .ownWins, offline: .outboxFirst) {
        tx in
        try tx.update(note) { $0.title = "ours" }
        return try tx.insert(Note(title: "new"))
      }
      #expect(first.item != nil)
      for count in 2..<5 {
        try await world.replicas[1].write { tx in
          try tx.update(note) { ($0.count, $0.title) = (count, "theirs") }
        }
      }
      if prunes {
        try await world.replicas[0].catchUp()
        let store = world.replicas[0].store
        try store.prune(try store.prunePlan(before: store.token))
      }
      try await world.replicas[0].close()
      if !prunes { try world.places[0].fileSystem.remove(world.places[0].path) }
      world.replicas[0] = try await world.open(0, options)
      #expect(
        try await titles(world.replicas[0].snapshot(including: .outbox)) == ["ours", "new"])
      let report = try await world.replicas[0].sendOutbox()
      #expect(report.sent.first?.conflicts.map(\.property) == ["title"])
      try await world.expectEqual()
      let values = try world.replicas[1].store.snapshot().objects(of: Note.self).map(\.value)
      #expect(values.map(\.title) == ["ours", "new"] && values[0].count == 4)
    }
  }

  /// Two processes have the replica's file open, and one outbox.
  @Test func anOutboxOpenedTwice() async throws {
    let world = ReplicaWorld(2)
    let a = try await world.open(0, options)
    let b = try await world.open(0, options)
    world.log.isReachable = false
    for index in 0..<6 {
      let write = try await (index % 2 == 0 ? a : b).write(offline: .outbox) { tx in
        let count = try tx.objects(of: Note.self).count
        _ = try tx.insert(Note(title: "\(index)", count: count))
      }
      #expect(write.item?.number == Int64(index + 1))
    }
    world.log.isReachable = true
    async let first = a.sendOutbox()
    async let second = b.sendOutbox()
    let sent = try await (first.sent + second.sent).map(\.item.number).sorted()
    #expect(Set(sent) == Set(1...6))
    world.replicas = [a, try await world.open(1, options)]
    try await world.expectEqual()
    let notes = try world.replicas[1].store.snapshot().objects(of: Note.self).map(\.value)
    #expect(notes.map(\.title) == (0..<6).map { "\($0)" } && notes.map(\.count) == Array(0..<6))
  }

  /// Another process empties the outbox and drops its history after a write has looked at it, and
  /// before it writes: what it expects is pruned then. Met as "transaction 18 was pruned".
  @Test func anOutboxThatIsEmptiedBetweenLookingAndWriting() async throws {
    let world = ReplicaWorld(2)
    let replica = try await world.open(0, options)
    let other = try await world.open(0, options)
    let place = outbox(of: world)
    let counts = Locked<[Int]>([])
    world.log.isReachable = false
    for title in ["1", "2"] {
      try await replica.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: title)) }
    }
    let third = try await replica.write(offline: .outboxFirst) { tx in
      // It runs on what was looked at; what it changes is written when it has returned.
      let isFirst = try counts.withLock { counts in
        counts.append(try tx.objects(of: Note.self).count)
        return counts.count == 1
      }
      if isFirst { try Self.empty(place) }
      _ = try tx.insert(Note(title: "3"))
    }
    #expect(counts.withLock { $0 } == [2, 0])
    #expect(try await other.outboxItems().map(\.id) == [third.item?.id])
    world.log.isReachable = true
    #expect(try await replica.sendOutbox().sent.map(\.item.id) == [third.item?.id])
    world.replicas = [replica, try await world.open(1, options)]
    try await world.expectEqual()
    #expect(try titles(world.replicas[1].store.snapshot()) == ["3"])
  }

  /// Takes all drafts out of an outbox and drops its history, as a process does that has sent them.
  private static func empty(_ place: StoreLocation) throws {
    let store = try Store(place, schema: Schema())
    let before = store.token
    for draft in try store.snapshot().objects(of: "Draft") {
      try store.write { tx in try tx.delete(draft.objectID) }
    }
    try store.prune(try store.prunePlan(before: store.token))
    #expect(store.base.number > before.number, "what was looked at is pruned")
    try store.close()
  }
}
