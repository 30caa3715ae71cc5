import Annals
import AnnalsModel
import AnnalsReplication
import Foundation
import Testing

/// Undo and redo while the log is away.
@Suite struct OutboxUndoTests {
  /// Two replicas with a note of nobody's, and three steps of Ann's: its title, a note that she
  /// made, and one with a large value that she deleted.
  private func steps() async throws -> (world: ReplicaWorld, note: ObjectID, gone: ObjectID) {
    let (world, note) = try await twoReplicas()
    let image = Data(repeating: 3, count: 30_000)
    let replica = world.replicas[0]
    let gone = try await replica.write { tx in
      try tx.insert(Note(title: "large", image: image)).objectID
    }
    try await replica.write(author: "ann") { tx in try tx.update(note) { $0.title = "mist" } }
    try await replica.write(author: "ann") { tx in _ = try tx.insert(Note(title: "new")) }
    try await replica.write(author: "ann") { tx in try tx.delete(gone) }
    try await world.replicas[1].catchUp()
    return (world, note.objectID, gone)
  }

  @Test func undoWaitsStepByStep() async throws {
    let (world, note, gone) = try await steps()
    let replica = world.replicas[0]
    let head = replica.store.token.number
    world.log.isReachable = false
    var numbers: [ClosedRange<Int64>] = []
    var shown: [[String]] = []
    for _ in 0..<3 {
      let undo = try await replica.undo(author: "ann", context: "menu", offline: .outbox)
      #expect(undo.item?.author == "ann" && undo.item?.context == "menu")
      numbers.append(undo.value.numbers)
      shown.append(try await titles(replica.snapshot(including: .outbox)))
    }
    #expect(numbers == [head...head, head - 1...head - 1, head - 2...head - 2])
    #expect(shown == [["mist", "large", "new"], ["mist", "large"], ["fog", "large"]])
    // What is undone is undone in the order of the stack, also after the replica was opened again.
    try await replica.close()
    world.replicas[0] = try await world.open(0, ReplicaWorld.impatient)
    #expect(try await titles(world.replicas[0].snapshot(including: .outbox)) == ["fog", "large"])
    world.log.isReachable = true
    try await world.replicas[1].write(author: "bob") { tx in
      try tx.update(Note.self, note) { $0.count = 9 }
    }
    let report = try await world.replicas[0].sendOutbox()
    #expect(report.sent.count == 3 && report.conflicted == nil)
    try await world.expectEqual()
    let notes = try world.replicas[1].store.snapshot().objects(of: Note.self)
    #expect(notes.map(\.value.title) == ["fog", "large"] && notes.map(\.value.count) == [9, 0])
    #expect(notes[1].objectID == gone && notes[1].value.image?.count == 30_000)
    // Everybody can redo what was undone, newest first.
    #expect(try world.replicas[1].store.undoable(author: "ann").isEmpty)
    for titles in [["mist", "large"], ["mist", "large", "new"], ["mist", "new"]] {
      try await world.replicas[1].redo(author: "ann")
      let found = try world.replicas[1].store.snapshot().objects(of: Note.self)
      #expect(found.map(\.value.title) == titles)
    }
  }

  @Test func redoWaits() async throws {
    let (world, _, _) = try await steps()
    let replica = world.replicas[1]
    try await replica.undo(author: "ann")
    try await replica.undo(author: "ann")
    world.log.isReachable = false
    #expect(try await replica.redo(author: "ann", offline: .outbox).item != nil)
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["mist", "large", "new"])
    #expect(try await replica.redo(author: "ann", offline: .outboxFirst).item != nil)
    world.log.isReachable = true
    #expect(try await replica.sendOutbox().sent.count == 2)
    try await world.expectEqual()
    #expect(try titles(replica.store.snapshot()) == ["mist", "new"])
    #expect(try replica.store.redoable(author: "ann").isEmpty)
    #expect(try replica.store.undoable(author: "ann").count == 3)
  }

  /// Where the log can be reached, it is an undo as any.
  @Test func nothingWaitsWithoutNeed() async throws {
    let (world, _, _) = try await steps()
    let undo = try await world.replicas[1].undo(author: "ann", offline: .outbox)
    guard case .committed(let commit) = undo else { throw Unexpected() }
    #expect(commit.token == world.replicas[1].store.token)
    try await world.expectEqual()
  }

  /// An author's steps are undone newest first: an undo does not reach past what came between.
  @Test(arguments: ["write", "undo", "redo"]) func theAuthorWasBusyElsewhere(
    _ what: String
  ) async throws {
    let (world, note, _) = try await steps()
    let (here, there) = (world.replicas[0], world.replicas[1])
    if what == "redo" {
      try await here.undo(author: "ann")
      try await there.catchUp()
    }
    let undo = try await here.undo(author: "ann", offline: .outboxFirst)
    switch what {
    case "write":
      try await there.write(author: "ann") { tx in try tx.update(Note.self, note) { $0.count = 5 } }
    case "undo": try await there.undo(author: "ann")
    default: try await there.redo(author: "ann")
    }
    let item = try #require(try await here.sendOutbox().conflicted)
    #expect(item.id == undo.item?.id && item.conflict?.code == .conflict)
    #expect(item.conflict?.message.contains("not the newest") == true)
    // Another policy does not make it the newest.
    try await here.retry(item, merging: .ownWins)
    #expect(try await here.sendOutbox().conflicted?.id == item.id)
    try await here.discard(item)
    try await here.undo(author: "ann")
    try await world.expectEqual()
  }

  /// What others have changed since is in conflict, as with other drafts.
  @Test func othersHaveChangedIt() async throws {
    let (world, note) = try await twoReplicas()
    let (here, there) = (world.replicas[0], world.replicas[1])
    try await here.write(author: "ann") { tx in try tx.update(note) { $0.title = "mist" } }
    try await here.undo(author: "ann", offline: .outboxFirst)
    try await there.catchUp()
    try await there.write(author: "bob") { tx in try tx.update(note) { $0.title = "theirs" } }
    let item = try #require(try await here.sendOutbox().conflicted)
    let conflict = try #require(item.conflict?.conflicts.first)
    #expect(conflict.base == "mist" && conflict.stored == "theirs" && conflict.own == "fog")
    try await here.retry(item, merging: .ownWins)
    #expect(try await here.sendOutbox().sent.count == 1)
    try await world.expectEqual()
    #expect(try titles(there.store.snapshot()) == ["fog"])
    #expect(try there.store.undoable(author: "ann").isEmpty)
  }

  /// A draft is taken back by discarding it, and an undo that waits, too.
  @Test func whatWaitsItselfIsNotUndone() async throws {
    let (world, note, gone) = try await steps()
    let replica = world.replicas[0]
    world.log.isReachable = false
    let undo = try await replica.undo(author: "ann", offline: .outbox)
    let redo = await #expect(throws: AnnalsError.self) {
      try await replica.redo(author: "ann", offline: .outbox)
    }
    #expect(redo?.code == .unsupported && redo?.message.contains("Discard that draft") == true)
    try await replica.discard(try #require(undo.item))
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["mist", "new"])
    // Its object may be revived by another undo.
    #expect(replica.currentID(of: gone) == gone)
    try await replica.undo(author: "ann", offline: .outbox)
    #expect(try await titles(replica.snapshot(including: .outbox)) == ["mist", "large", "new"])
    let own = try await replica.write(author: "ann", offline: .outbox) { tx in
      try tx.update(Note.self, note) { $0.count = 7 }
    }
    for (author, code) in [("ann", AnnalsError.Code.unsupported), ("eve", .nothingToUndo)] {
      let error = await #expect(throws: AnnalsError.self) {
        try await replica.undo(author: author, offline: .outbox)
      }
      #expect(error?.code == code)
    }
    let cleared = await #expect(throws: AnnalsError.self) {
      try await replica.redo(author: "ann", offline: .outbox)
    }
    #expect(cleared?.code == .nothingToUndo && cleared?.message.contains("a draft") == true)
    try await replica.discard(try #require(own.item))
    world.log.isReachable = true
    #expect(try await replica.sendOutbox().sent.count == 1)
    try await world.expectEqual()
  }

  private struct Unexpected: Error {}
}
