import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

extension ReplicaWorld {
  /// Options of a replica that asks the log once, and does nothing by itself.
  static var impatient: ReplicaOptions {
    var options = ReplicaWorld.options
    options.deadline = .zero
    return options
  }
}

/// Two replicas that ask the log once, with a note that both know.
func twoReplicas() async throws -> (ReplicaWorld, note: Object<Note>) {
  let world = ReplicaWorld(2)
  try await world.openAll(ReplicaWorld.impatient)
  let note = try await world.replicas[0].write { tx in
    try tx.insert(Note(title: "fog", count: 1, image: Data([1])))
  }
  try await world.replicas[1].catchUp()
  return (world, note)
}

/// The titles of the notes in a snapshot, in the order of their ids.
func titles(_ snapshot: Snapshot) throws -> [String] {
  try snapshot.objects(of: Note.self).map(\.value.title)
}

extension ReplicaWrite {
  /// The draft, if the write waits.
  var item: OutboxItem? {
    if case .waiting(let item, _) = self { return item }
    return nil
  }
}

/// Writing while the log is away.
@Suite struct OutboxTests {
  @Test func whatWaitsIsSentInOrder() async throws {
    let (world, note) = try await twoReplicas()
    let replica = world.replicas[0]
    world.log.isReachable = false
    let first = try await replica.write(
      author: "ann", metadata: ["message": "one"], offline: .outbox
    ) {
      tx in
      try tx.update(note) { $0.title = "mist" }
      return try tx.insert(Note(title: "new"))
    }
    let item = try #require(first.item)
    #expect(item.author == "ann" && item.message == "one" && item.number == 1)
    #expect(item.conflict == nil && item.policy == nil)
    // The second draft reads what the first one wrote.
    let second = try await replica.write(author: "bob", offline: .outbox) { tx in
      try tx.update(Note.self, first.value.objectID) { $0.title += " moon" }
      return try tx.objects(of: Note.self).map(\.value.title)
    }
    #expect(second.value == ["mist", "new moon"])
    #expect(try titles(replica.store.snapshot()) == ["fog"])
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["mist", "new moon"])
    #expect(replica.status.outbox.count == 2 && replica.status.outbox.conflictCount == 0)
    #expect(replica.status.outbox.oldest == item.date)
    #expect(replica.status.outbox.byteCount == item.byteCount + (second.item?.byteCount ?? 0))
    await #expect(throws: ReplicationError.self) { try await replica.sendOutbox() }
    #expect(try await replica.outboxItems().count == 2)

    world.log.isReachable = true
    try await world.replicas[1].write { tx in try tx.insert(Note(title: "theirs")) }
    let report = try await replica.sendOutbox()
    #expect(report.sent.map(\.item.number) == [1, 2] && report.conflicted == nil)
    try await world.expectEqual()
    #expect(try titles(replica.store.snapshot()) == ["mist", "theirs", "new moon"])
    #expect(replica.status.outbox.count == 0)
    let history = try replica.store.history().collect(limit: 99).suffix(2)
    #expect(history.map(\.author) == ["ann", "bob"])
    #expect(history.first?.metadata["message"] == "one")
    #expect(history.first?.metadata["outbox"] == .string(item.id.uuidString))
    // The new note has another id than while it waited.
    let moved = try #require(report.sent[0].movedObjects[first.value.objectID])
    #expect(replica.currentID(of: first.value.objectID) == moved)
    #expect(try replica.store.snapshot().object(Note.self, moved)?.value.title == "new moon")
    #expect(try await titles(replica.snapshot(including: .outbox)).count == 3)
  }

  @Test func whatWaitsIsThereAfterReopening() async throws {
    let (world, note) = try await twoReplicas()
    world.log.isReachable = false
    let image = Data(repeating: 7, count: 20_000)
    let made = try await world.replicas[0].write(offline: .outboxFirst) { tx in
      let folder = try tx.insert(Folder(name: "box"))
      try tx.update(note) { $0.folder = Reference(folder) }
      return try tx.insert(Note(title: "large", image: image, friends: [Reference(note)]))
    }.value
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0, ReplicaWorld.impatient)
    let replica = world.replicas[0]
    #expect(replica.status.outbox.count == 1)
    let snapshot = try await replica.snapshot(including: .outbox)
    #expect(try snapshot.object(Note.self, made.objectID)?.value.image == image)
    #expect(try snapshot.objects(of: Folder.self).map(\.value.size) == [1])
    let again = try await replica.write(offline: .outboxFirst) { tx in
      try tx.update(Note.self, made.objectID) { $0.friends = [] }
    }
    #expect(again.item?.number == 2)
    world.log.isReachable = true
    let report = try await replica.sendOutbox()
    #expect(report.sent.count == 2)
    try await world.expectEqual()
    let found = try world.replicas[1].store.snapshot().objects(of: Note.self).last?.value
    #expect(found?.image == image && found?.friends.isEmpty == true)
    #expect(try world.replicas[1].store.snapshot().objects(of: Folder.self)[0].value.size == 1)
  }

  @Test func propertiesThatOthersLeftAloneAreMerged() async throws {
    let (world, note) = try await twoReplicas()
    let waiting = try await world.replicas[0].write(offline: .outboxFirst) { tx in
      try tx.update(note) { $0.title = "ours" }
    }
    #expect(waiting.item != nil)
    try await world.replicas[1].write { tx in try tx.update(note) { $0.count = 9 } }
    let report = try await world.replicas[0].sendOutbox()
    #expect(report.sent.count == 1 && report.sent[0].conflicts.isEmpty)
    try await world.expectEqual()
    let value = try world.replicas[0].store.snapshot().object(Note.self, note.objectID)?.value
    #expect(value?.title == "ours" && value?.count == 9 && value?.key == "ours")
  }

  @Test func listsAreMergedByReference() async throws {
    let (world, note) = try await twoReplicas()
    let others = try await world.replicas[0].write { tx in
      let others = try ["a", "b", "c"].map { try tx.insert(Note(title: $0)) }
      try tx.update(note) { $0.friends = others.map { Reference($0) } }
      return others
    }
    try await world.replicas[1].catchUp()
    try await world.replicas[0].write(merging: .ownWins, offline: .outboxFirst) { tx in
      let new = try tx.insert(Note(title: "d"))
      try tx.update(note) {
        $0.friends.remove(at: 0)
        $0.friends.append(Reference(new))
      }
    }
    try await world.replicas[1].write { tx in
      _ = try tx.insert(Note(title: "row"))
      try tx.update(note) { $0.friends.removeAll { $0.objectID == others[1].objectID } }
    }
    #expect(try await world.replicas[0].sendOutbox().sent.count == 1)
    try await world.expectEqual()
    let snapshot = world.replicas[1].store.snapshot()
    let friends = try snapshot.object(Note.self, note.objectID)?.value.friends ?? []
    #expect(
      try friends.map { try snapshot.object(Note.self, $0.objectID)?.value.title } == ["c", "d"])
  }

  @Test func oneThatCameToNothingLeaves() async throws {
    let (world, note) = try await twoReplicas()
    try await world.replicas[0].write(merging: .storedWins, offline: .outboxFirst) { tx in
      try tx.update(note) { $0.title = "ours" }
    }
    try await world.replicas[1].write { tx in try tx.update(note) { $0.title = "theirs" } }
    let report = try await world.replicas[0].sendOutbox()
    #expect(report.sent.map(\.token) == [nil] && report.sent[0].conflicts.count == 1)
    try await world.expectEqual()
    #expect(world.replicas[0].status.outbox.count == 0)
  }

  @Test func aWriteGoesToTheLogWhereThatIsThere() async throws {
    let (world, note) = try await twoReplicas()
    let replica = world.replicas[0]
    let write = try await replica.write(offline: .outbox) { tx in
      try tx.update(note) { $0.count += 1 }
    }
    guard case .committed(let commit) = write else {
      Issue.record("it waits")
      return
    }
    #expect(commit.token == replica.store.token)
    #expect(try world.places[0].fileSystem.identity(of: world.places[0].path + ".outbox") == nil)
    // While drafts wait, later ones wait behind them.
    world.log.isReachable = false
    #expect(
      try await replica.write(offline: .outbox) { tx in
        try tx.update(note) { $0.count += 1 }
      }.item != nil)
    world.log.isReachable = true
    #expect(
      try await replica.write(offline: .outbox) { tx in
        try tx.update(note) { $0.count += 1 }
      }.item?.number == 2)
    #expect(try await replica.sendOutbox().sent.count == 2)
    #expect(
      try await replica.write(offline: .outbox) { tx in
        try tx.update(note) { $0.count += 1 }
      }.item == nil)
    try await world.expectEqual()
    #expect(try replica.store.snapshot().objects(of: Note.self)[0].value.count == 5)
  }

  @Test func aReplicaThatFollowsSendsByItself() async throws {
    let world = ReplicaWorld(2)
    var options = ReplicaWorld.impatient
    options.follows = true
    try await world.openAll(options)
    world.log.isReachable = false
    for index in 0..<5 {
      let write = try await world.replicas[0].write(offline: .outbox) { tx in
        _ = try tx.insert(Note(title: "\(index)"))
      }
      #expect(write.item != nil)
    }
    world.log.isReachable = true
    while world.replicas[0].status.outbox.count > 0 { try await Task.sleep(for: .milliseconds(1)) }
    try await world.expectEqual()
    #expect(try titles(world.replicas[1].store.snapshot()) == ["0", "1", "2", "3", "4"])
    for replica in world.replicas { try await replica.close() }
  }

  /// Many drafts on a disk, in the order in which they were written.
  @Test func aLongTunnel() async throws {
    let count = isLong ? 1_000 : 50
    let folder = try TemporaryFolder()
    let log = InMemorySharedLog()
    let replica = try await Replica.open(
      path: folder.path("r.annals"), records: Folder.self, Note.self, log: log,
      options: ReplicaWorld.impatient)
    let clock = ContinuousClock()
    var times: [Duration] = []
    times.append(
      try await clock.measure {
        for index in 0..<count {
          try await replica.write(offline: .outboxFirst) { tx in
            _ = try tx.insert(Note(title: "\(index)", count: index))
          }
        }
      })
    try await replica.close()
    let again = try await Replica.open(
      path: folder.path("r.annals"), records: Folder.self, Note.self, log: log,
      options: ReplicaWorld.impatient)
    times.append(
      try await clock.measure {
        let snapshot = try await again.snapshot(including: .outbox)
        #expect(try snapshot.count(of: Note.self) == count)
      })
    times.append(try await clock.measure { try await again.sendOutbox() })
    let found = try again.store.snapshot().objects(of: Note.self).map(\.value.count)
    #expect(found == Array(0..<count))
    try await again.close()
    let texts = times.map { "\($0 / count)" }.joined(separator: ", ")
    print("\(count) drafts, each: waits, shown, sent in \(texts)")
  }
}
