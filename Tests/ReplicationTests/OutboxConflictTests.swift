import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// Drafts that do not fit what others have written, and what the program does about them.
@Suite struct OutboxConflictTests {
  @Test func aConflictIsHandedOver() async throws {
    let (world, note) = try await twoReplicas()
    let replica = world.replicas[0]
    for title in ["ours", "later"] {
      try await replica.write(offline: .outboxFirst) { tx in
        if title == "later" { _ = try tx.insert(Note(title: title)) }
        try tx.update(note) { $0.title = title }
      }
    }
    try await world.replicas[1].write { tx in try tx.update(note) { $0.title = "theirs" } }
    let report = try await replica.sendOutbox()
    let item = try #require(report.conflicted)
    #expect(report.sent.isEmpty && item.number == 1)
    let conflict = try #require(item.conflict?.conflicts.first)
    #expect(item.conflict?.code == .conflict && conflict.property == "title")
    #expect(conflict.base == "fog" && conflict.stored == "theirs" && conflict.own == "ours")
    #expect(replica.status.outbox.conflictCount == 1 && replica.status.outbox.count == 2)
    // What is in conflict is left out, and so is what rests on it.
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["theirs"])
    let changes = try await replica.changes(of: item)
    #expect(changes.map(\.kind) == [.update])
    // It stays so until the program decides, also after the replica was opened again.
    #expect(try await replica.sendOutbox().conflicted?.id == item.id)
    try await replica.close()
    world.replicas[0] = try await world.open(0, ReplicaWorld.impatient)
    let again = world.replicas[0]
    let items = try await again.outboxItems()
    #expect(items.map(\.id) == [item.id, items[1].id])
    #expect(items[0].conflict?.conflicts.map(\.property) == ["title"])
    try await again.retry(items[0], merging: .ownWins)
    let second = try await again.sendOutbox()
    #expect(second.sent.map(\.item.number) == [1, 2] && second.conflicted == nil)
    #expect(second.sent[0].conflicts.map(\.property) == ["title"])
    try await world.expectEqual()
    #expect(try titles(again.store.snapshot()) == ["later", "later"])
  }

  @Test func aDraftIsDiscarded() async throws {
    let (world, note) = try await twoReplicas()
    let replica = world.replicas[0]
    let first = try await replica.write(offline: .outboxFirst) { tx in
      try tx.insert(Note(title: "dropped"))
    }
    try await replica.write(offline: .outboxFirst) { tx in
      try tx.update(Note.self, first.value.objectID) { $0.count = 5 }
    }
    try await replica.write(offline: .outboxFirst) { tx in try tx.update(note) { $0.count = 6 } }
    let token = try await replica.discard(try #require(first.item))
    #expect(token == nil && replica.currentID(of: first.value.objectID) == nil)
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["fog"])
    // The second draft changes what is not coming.
    let stopped = try await replica.sendOutbox()
    let item = try #require(stopped.conflicted)
    #expect(item.number == 2 && item.conflict?.message.contains("discarded") == true)
    try await replica.discard(item)
    let gone = await replicationError { try await replica.discard(item) }
    #expect(gone?.code == .noSuchDraft)
    #expect(try await replica.sendOutbox().sent.map(\.item.number) == [3])
    try await world.expectEqual()
    #expect(try replica.store.snapshot().objects(of: Note.self).map(\.value.count) == [6])
  }

  /// As a write that does not wait: what it refers to is brought back, with the folder that it went
  /// with, and without its references to what else is gone.
  @Test func whatIsBroughtBackComesWithItsFolder() async throws {
    let (world, note) = try await twoReplicas()
    let (replica, other) = (world.replicas[0], world.replicas[1])
    let folder = try await other.write { tx in try tx.insert(Folder(name: "in")) }
    let friend = try await other.write { tx in try tx.insert(Note(title: "gone")) }
    try await other.write { tx in
      try tx.update(note) {
        $0.folder = Reference(folder)
        $0.friends = [Reference(note), Reference(friend)]
      }
    }
    try await replica.catchUp()
    try await replica.write(merging: .ownWins, offline: .outboxFirst) { tx in
      _ = try tx.insert(Note(title: "new", friends: [Reference(note)]))
    }
    try await other.write { tx in
      try tx.delete(folder.objectID)
      try tx.delete(friend.objectID)
    }
    #expect(try await replica.sendOutbox().conflicted == nil)
    try await world.expectEqual()
    let notes = try replica.store.snapshot().objects(of: Note.self).map(\.value)
    #expect(notes.map(\.title) == ["fog", "new"])
    #expect(notes.map { $0.folder?.objectID } == [folder.objectID, nil])
    #expect(notes.map { $0.friends.map(\.objectID) } == [[note.objectID], [note.objectID]])
  }

  /// The draft before deletes the folder into which others move the note meanwhile.
  @Test func whatIsBroughtBackComesWithAFolderThatWasDeletedHere() async throws {
    let (world, note) = try await twoReplicas()
    let (replica, other) = (world.replicas[0], world.replicas[1])
    let folder = try await other.write { tx in try tx.insert(Folder(name: "in")) }
    try await replica.catchUp()
    try await replica.write(offline: .outboxFirst) { tx in try tx.delete(folder.objectID) }
    try await other.write { tx in try tx.update(note) { $0.folder = Reference(folder) } }
    try await replica.catchUp()
    try await replica.write(merging: .ownWins, offline: .outboxFirst) { tx in
      _ = try tx.insert(Note(title: "new", friends: [Reference(note)]))
    }
    try await other.write { tx in try tx.delete(folder.objectID) }
    while let item = try await replica.sendOutbox().conflicted { try await replica.discard(item) }
    try await world.expectEqual()
    let notes = try replica.store.snapshot().objects(of: Note.self).map(\.value)
    #expect(notes.map(\.title) == ["fog", "new"])
    #expect(notes.map { $0.folder?.objectID } == [folder.objectID, nil])
  }

  @Test func whatIsGoneIsNamed() async throws {
    let (world, note) = try await twoReplicas()
    try await world.replicas[0].write(offline: .outboxFirst) { tx in
      try tx.update(note) { $0.title = "ours" }
    }
    try await world.replicas[1].write { tx in try tx.delete(note) }
    let item = try #require(try await world.replicas[0].sendOutbox().conflicted)
    #expect(item.conflict?.conflicts.first?.isDeletion == true)
    // To keep it, its other values are known, too.
    try await world.replicas[0].retry(item, merging: .ownWins)
    #expect(try await world.replicas[0].sendOutbox().sent.count == 1)
    try await world.expectEqual()
    let value = try world.replicas[1].store.snapshot().object(Note.self, note.objectID)?.value
    #expect(value?.title == "ours" && value?.count == 1 && value?.image == Data([1]))
  }

  @Test func aLargeValueThatIsNotThereIsHandedOver() async throws {
    let (world, note) = try await twoReplicas()
    try await world.replicas[0].write { tx in
      try tx.update(note) { $0.image = Data(repeating: 1, count: 9_000) }
    }
    try await world.replicas[1].catchUp()
    try await world.replicas[0].write(merging: .ownWins, offline: .outboxFirst) { tx in
      try tx.update(note) { $0.title = "ours" }
    }
    #expect(
      try await world.replicas[0].snapshot(including: .outbox).objects(of: Note.self)[0].value
        .image?
        .count == 9_000)
    try await world.replicas[1].write { tx in try tx.delete(note) }
    let item = try #require(try await world.replicas[0].sendOutbox().conflicted)
    #expect(item.conflict?.code == .lost)
    #expect(try await world.replicas[0].snapshot(including: .outbox).count(of: Note.self) == 0)
    try await world.replicas[0].discard(item)
    try await world.expectEqual()
  }

  @Test func whatOthersPutIntoADeletedFolderIsAConflict() async throws {
    let (world, note) = try await twoReplicas()
    let folder = try await world.replicas[0].write { tx in
      let folder = try tx.insert(Folder(name: "box"))
      try tx.update(note) { $0.folder = Reference(folder) }
      return folder
    }
    try await world.replicas[1].catchUp()
    try await world.replicas[0].write(offline: .outboxFirst) { tx in try tx.delete(folder) }
    #expect(
      try await world.replicas[0].snapshot(including: .outbox).count(of: Note.self) == 0)
    try await world.replicas[1].write { tx in
      _ = try tx.insert(Note(title: "theirs", folder: Reference(folder)))
    }
    let item = try #require(try await world.replicas[0].sendOutbox().conflicted)
    #expect(item.conflict?.conflicts.isEmpty == false)
    try await world.replicas[0].retry(item, merging: .storedWins)
    try await world.replicas[0].sendOutbox()
    try await world.expectEqual()
    #expect(try titles(world.replicas[0].store.snapshot()) == ["fog", "theirs"])
  }

  @Test func aTakenKeyIsOneObjectByAPolicy() async throws {
    for policy in [MergePolicy.storedWins, .ownWins] {
      let (world, note) = try await twoReplicas()
      let replica = world.replicas[0]
      let made = try await replica.write(offline: .outboxFirst) { tx in
        try tx.insert(Folder(name: "box"))
      }.value
      try await replica.write(offline: .outboxFirst) { tx in
        try tx.update(note) { $0.folder = Reference(made) }
      }
      let theirs = try await world.replicas[1].write { tx in try tx.insert(Folder(name: "box")) }
      let item = try #require(try await replica.sendOutbox().conflicted)
      try await replica.retry(item, merging: policy)
      // What is shown has one folder, too, and the note is in it.
      let pending = try await replica.snapshot(including: .outbox)
      #expect(try pending.objects(of: Folder.self).map(\.value.size) == [1])
      #expect(try await replica.sendOutbox().sent.count == 2)
      try await world.expectEqual()
      #expect(replica.currentID(of: made.objectID) == theirs.objectID)
      #expect(try replica.store.snapshot().objects(of: Folder.self).map(\.value.size) == [1])
    }
  }

  @Test func aTakenKeyIsHandedOver() async throws {
    let (world, note) = try await twoReplicas()
    let replica = world.replicas[0]
    try await replica.write(offline: .outboxFirst) { tx in
      let made = try tx.insert(Folder(name: "box"))
      try tx.update(note) { $0.folder = Reference(made) }
    }
    let theirs = try await world.replicas[1].write { tx in try tx.insert(Folder(name: "box")) }
    let item = try #require(try await replica.sendOutbox().conflicted)
    #expect(item.conflict?.code == .invalidChange)
    #expect(item.conflict?.violations.isEmpty == false)
    // The program writes it anew, with the folder that is there.
    try await replica.write { tx in try tx.update(note) { $0.folder = Reference(theirs) } }
    try await replica.discard(item)
    try await world.expectEqual()
    #expect(try replica.store.snapshot().objects(of: Folder.self).map(\.value.size) == [1])
  }
}
