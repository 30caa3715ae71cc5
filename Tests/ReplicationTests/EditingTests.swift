import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// Editing contexts that are saved through a replica.
@Suite @MainActor struct EditingTests {
  /// Two replicas of one log; safe on any thread, as a world is not.
  private struct Pair {
    let log = InMemorySharedLog()
    let here: Replica
    let there: Replica

    nonisolated init(_ options: ReplicaOptions = ReplicaWorld.options) async throws {
      let world = ReplicaWorld(2, log: log)
      here = try await world.open(0, options)
      there = try await world.open(1)
    }

    func expectEqual() async throws {
      for replica in [here, there] { try await replica.catchUp() }
      try expectEqualStores([here, there].map(\.store))
    }
  }

  private func notes(_ replica: Replica) throws -> [Note] {
    try replica.store.snapshot().objects(of: Note.self).map(\.value)
  }

  @Test func whatIsPendingBecomesOneTransaction() async throws {
    let pair = try await Pair()
    let (here, there) = (pair.here, pair.there)
    let note = try await here.write { tx in try tx.insert(Note(title: "a")) }
    let form = try EditingContext(here.store, author: "ann", context: "form")
    let object = try #require(try form.object(Note.self, note.objectID))
    object.title = "b"
    object.image = Data(repeating: 7, count: 9_000)
    let new = try form.insert(Note(title: "new", friends: [Reference(note)]))
    #expect(form.hasChanges && !form.isSaving)
    let head = here.store.token.number
    let commit = try await here.save(form)
    #expect(commit.token == here.store.token && commit.token.number == head + 1)
    #expect(!form.hasChanges && !form.isSaving && commit.movedObjects.isEmpty)
    let transaction = try here.store.transaction(commit.token.number)
    #expect(transaction.author == "ann" && transaction.context == "form")
    try await pair.expectEqual()
    #expect(try notes(there).map(\.title) == ["b", "new"])
    #expect(try notes(there)[0].image == Data(repeating: 7, count: 9_000))
    // It goes on: the steps can be taken back, and saved again.
    #expect(try there.store.snapshot().object(Note.self, new.objectID) != nil)
    new.title = "newer"
    try await here.save(form)
    #expect(try form.undo() && new.title == "new")
    try await here.save(form)
    #expect(try await here.save(form).token == here.store.token)
    try await pair.expectEqual()
    #expect(try notes(there).map(\.title) == ["b", "new"])
    #expect(throws: AnnalsError.self) { try form.save() }
    new.title = "by itself"
    let error = #expect(throws: AnnalsError.self) { try form.save() }
    #expect(error?.code == .readOnly && error?.message.contains("replica.save") == true)
    #expect(form.hasChanges)
  }

  @Test func othersWroteMeanwhile() async throws {
    let pair = try await Pair()
    let (here, there) = (pair.here, pair.there)
    let note = try await here.write { tx in try tx.insert(Note(title: "a")) }
    try await there.catchUp()
    let form = try EditingContext(here.store, author: "ann")
    let object = try #require(try form.object(Note.self, note.objectID))
    object.title = "ours"
    let new = try form.insert(Note(title: "new"))
    let provisional = new.objectID
    try await there.write { tx in
      try tx.update(note) { $0.count = 5 }
      _ = try tx.insert(Note(title: "theirs"))
    }
    let commit = try await here.save(form)
    #expect(commit.conflicts.isEmpty && object.title == "ours" && object.count == 5)
    #expect(new.objectID != provisional && commit.movedObjects[provisional] == new.objectID)
    try await pair.expectEqual()
    #expect(try notes(there).map(\.title) == ["ours", "theirs", "new"])

    // The same property is a conflict, after which all is still pending; a policy resolves it.
    object.title = "ours again"
    try await there.write { tx in try tx.update(note) { $0.title = "theirs again" } }
    let error = await #expect(throws: AnnalsError.self) { try await here.save(form) }
    #expect(error?.code == .conflict && error?.conflicts.map(\.property) == ["title"])
    #expect(form.hasChanges && !form.isSaving && object.title == "ours again")
    let resolved = try await here.save(form, merging: .ownWins)
    #expect(resolved.conflicts.map(\.property) == ["title"] && !form.hasChanges)
    try await pair.expectEqual()
    #expect(try notes(there)[0].title == "ours again")
  }

  @Test func aRuleThatIsBrokenKeepsAllPending() async throws {
    let pair = try await Pair()
    let (here, there) = (pair.here, pair.there)
    let form = try EditingContext(here.store)
    let folder = try form.insert(Folder(name: "drafts"))
    try await there.write { tx in _ = try tx.insert(Folder(name: "drafts")) }
    let error = await #expect(throws: AnnalsError.self) { try await here.save(form) }
    #expect(error?.code == .conflict || error?.code == .invalidChange)
    #expect(form.hasChanges && !folder.isDeleted)
    folder.name = "own drafts"
    try await here.save(form)
    try await pair.expectEqual()
    let names = try there.store.snapshot().objects(of: Folder.self).map(\.value.name)
    #expect(Set(names) == ["drafts", "own drafts"])
  }

  @Test func aLogThatIsAway() async throws {
    let pair = try await Pair()
    let here = pair.here
    let form = try EditingContext(here.store)
    let object = try form.insert(Note(title: "a"))
    pair.log.isReachable = false
    var saved: Result<Token, any Error>?
    let save = Task { saved = .success(try await here.save(form).token) }
    while !form.isSaving { await Task.yield() }
    // Nothing is edited meanwhile, and nothing of what is pending is lost.
    object.title = "b"
    #expect(object.title == "a")
    #expect(
      #expect(throws: AnnalsError.self) { try form.insert(Note(title: "x")) }?.code == .nestedWrite)
    #expect(
      #expect(throws: AnnalsError.self) { try form.undo() }?.code == .nestedWrite)
    let second = await #expect(throws: AnnalsError.self) { try await here.save(form) }
    #expect(second?.code == .nestedWrite && form.isSaving && saved == nil)
    pair.log.isReachable = true
    try await save.value
    #expect(!form.isSaving && !form.hasChanges && object.title == "a")
    object.title = "c"
    try await here.save(form)
    try await pair.expectEqual()
    #expect(try notes(pair.there).map(\.title) == ["c"])
  }

  @Test func aSaveGivesUpByTheDeadline() async throws {
    let pair = try await Pair(ReplicaWorld.impatient)
    let form = try EditingContext(pair.here.store)
    try form.insert(Note(title: "later"))
    pair.log.isReachable = false
    let error = await #expect(throws: ReplicationError.self) { try await pair.here.save(form) }
    #expect(error?.code == .unavailable && form.hasChanges && !form.isSaving)
    pair.log.isReachable = true
    try await pair.here.save(form)
    try await pair.expectEqual()
    #expect(try notes(pair.there).map(\.title) == ["later"])
  }

  /// *Cancel* while the log is away: the context has nothing pending any more, and the save, which
  /// is not taken back, may still come.
  @Test func aRollbackWhileItIsSaved() async throws {
    let pair = try await Pair()
    let here = pair.here
    let form = try EditingContext(here.store)
    let object = try form.insert(Note(title: "a"))
    pair.log.isReachable = false
    let save = Task { try await here.save(form).token }
    while !form.isSaving { await Task.yield() }
    form.rollback()
    #expect(!form.hasChanges && object.isDeleted)
    pair.log.isReachable = true
    #expect(try await save.value == here.store.token)
    #expect(!form.hasChanges && !form.isSaving)
    try await pair.expectEqual()
    #expect(try form.fetch(Fetch(Note.self)).map(\.title) == ["a"])
  }

  @Test func childrenAndContextsOfOtherStores() async throws {
    let pair = try await Pair()
    let (here, there) = (pair.here, pair.there)
    let form = try EditingContext(here.store)
    let dialog = form.child()
    try dialog.insert(Note(title: "a"))
    try await here.save(dialog)
    #expect(form.hasChanges && form.undoName == "Edit")
    try await here.save(form)
    try await pair.expectEqual()
    #expect(try notes(there).map(\.title) == ["a"])
    try form.insert(Note(title: "b"))
    let error = await #expect(throws: AnnalsError.self) { try await there.save(form) }
    #expect(error?.code == .invalidArgument && form.hasChanges)
  }
}
