import Annals
import AnnalsEngine
import AnnalsFaults
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import SystemPackage
import Testing

@testable import AnnalsExchange

/// Undo and redo by author, as programs call them.
@Suite struct UndoTests {
  private func store() throws -> (Store, ObjectID) {
    let store = try noteStore()
    return (store, try store.note("a", text: "Fog", author: "ann"))
  }

  private func set(
    _ store: Store, _ id: ObjectID, _ author: String?, _ values: [String: Value],
    group: String? = nil
  ) throws {
    try store.write(author: author, group: group) { try $0.update(id, values) }
  }

  private func text(_ store: Store, _ id: ObjectID) throws -> Value? {
    try store.snapshot().object(id)?["text"]
  }

  private func code(_ body: () throws -> Void) -> AnnalsError? {
    #expect(throws: AnnalsError.self, performing: body)
  }

  @Test func undoAndRedoWalkTheStack() throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "Mist"])
    try set(store, id, "ann", ["text": "Haze"])
    let last = store.token.number
    let undone = try store.undo(author: "ann", context: "menu", metadata: ["by": "key"])
    #expect(undone.value.numbers == last...last && undone.value.count == 1)
    #expect(undone.token == store.token && undone.conflicts.isEmpty)
    let transaction = try store.transaction(store.token.number)
    #expect(transaction.undoes == last...last && transaction.redoes == nil)
    #expect(transaction.author == "ann" && transaction.context == "menu")
    #expect(transaction.metadata == ["by": "key"])
    #expect(try text(store, id) == "Mist")
    try store.undo(author: "ann")
    #expect(try text(store, id) == "Fog")
    let gone = try store.undo(author: "ann")
    #expect(try store.snapshot().object(id) == nil)
    #expect(try store.undoable(author: "ann").isEmpty)
    #expect(
      try store.redoable(author: "ann").map(\.numbers.lowerBound) == [
        gone.token.number, gone.token.number - 1, gone.token.number - 2,
      ])
    let nothing = code { try store.undo(author: "ann") }
    #expect(nothing?.code == .nothingToUndo)
    let head = store.token
    let redone = try store.redo(author: "ann")
    #expect(redone.value.numbers.lowerBound == head.number)
    #expect(try store.transaction(store.token.number).redoes == head.number)
    // Under its own id.
    #expect(try text(store, id) == "Fog")
    try store.redo(author: "ann")
    try store.redo(author: "ann")
    #expect(try text(store, id) == "Haze")
    #expect(code { try store.redo(author: "ann") }?.code == .nothingToUndo)
    try store.undo(author: "ann")
    try set(store, id, "ann", ["count": 1])
    let cleared = code { try store.redo(author: "ann") }
    #expect(cleared?.code == .nothingToUndo)
    #expect(cleared?.message.contains("transaction \(store.token.number)") == true)
    #expect(try store.verify().allSatisfy { $0.severity == .note })
  }

  @Test func othersWorkStays() throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "Mist"])
    try set(store, id, "ben", ["count": 7])
    try store.note("b", author: "ben")
    try store.undo(author: "ann")
    #expect(try text(store, id) == "Fog")
    #expect(try store.snapshot().object(id)?["count"] == 7)
    #expect(try store.ids().count == 2)
    #expect(code { try store.undo(author: "cleo") }?.code == .nothingToUndo)
    #expect(code { try store.undo(author: nil) }?.code == .nothingToUndo)
  }

  /// Without a policy it names what others wrote, and leaves no trace; with one it is merged.
  @Test(arguments: MergePolicy.allCases) func whatOthersWroteOver(policy: MergePolicy) throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "Mist", "count": 1])
    let step = store.token.number
    try set(store, id, "ben", ["text": "Ben's"])
    let before = store.token
    let refused = code { try store.undo(author: "ann") }
    #expect(refused?.code == .conflict)
    #expect(refused?.conflicts.map(\.property) == ["text"])
    #expect(refused?.conflicts.map(\.changedBy) == [before.number])
    #expect(refused?.message.contains("undone") == true)
    #expect(store.token == before)
    #expect(try store.undoable(author: "ann").first?.numbers == step...step)
    #expect(code { _ = try store.undoPlan(author: "ann") }?.code == .conflict)
    if policy == .error {
      #expect(code { try store.undo(author: "ann", merging: .error) }?.code == .conflict)
      return #expect(store.token == before)
    }
    let plan = try store.undoPlan(author: "ann", merging: policy)
    let commit = try store.undo(author: "ann", merging: policy)
    let object = try #require(try store.snapshot().object(id))
    let isOwn = policy == .ownWins || policy == .overwrite
    #expect(object["text"] == (isOwn ? "Fog" : "Ben's"))
    #expect(object["count"] == (policy == .rollBack ? 1 : nil))
    #expect(commit.conflicts.contains { $0.property == "text" && $0.changedBy == before.number })
    #expect(plan.conflicts == commit.conflicts)
    #expect(plan.updates == (policy == .rollBack ? 0 : 1))
    #expect(try store.transaction(store.token.number).undoes == step...step)
    // Undone, whatever came of it.
    #expect(try store.undoable(author: "ann").first?.numbers.upperBound == step - 1)
    try store.redo(author: "ann")
    #expect(try text(store, id) == "Ben's")
  }

  @Test func groupsAreUndoneAtOnce() async throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "1"], group: "drag")
    let first = store.token.number
    try store.note("b", author: "ben")
    try set(store, id, "ann", ["text": "2"], group: "drag")
    try await store.write(author: "ann", group: "drag") { try $0.update(id, ["text": "3"]) }
    _ = try await store.commit(author: "ann", group: "drag") { try $0.update(id, ["count": 3]) }
    _ = try await store.commit(author: "ann", group: "drag") { try $0.update(id, ["count": 4]) }
    let last = store.token.number
    let steps = try store.undoable(author: "ann")
    #expect(steps.map(\.count) == [5, 1] && steps[0].group == "drag")
    #expect(steps[0].description == "drag, 5 transactions from \(first) to \(last)")
    #expect(try store.undoable(author: "ann", limit: 1).count == 1)
    let head = store.token.number
    let undone = try await store.undo(author: "ann")
    #expect(undone.value.count == 5 && undone.token == store.token)
    #expect(store.token.number == head + 1)
    #expect(try text(store, id) == "Fog")
    #expect(try store.snapshot().object(id)?["count"] == .null)
    let undo = try store.transaction(head + 1)
    #expect(undo.undoes == first...last && undo.group == "drag")
    #expect(try store.redoable(author: "ann").map(\.group) == ["drag"])
    let redone = try await store.redo(author: "ann", context: "menu")
    #expect(redone.value.count == 1 && store.token.number == head + 2)
    #expect(try text(store, id) == "3")
    do {
      try await store.redo(author: "ann")
      Issue.record("there was nothing to redo")
    } catch let error as AnnalsError {
      #expect(error.code == .nothingToUndo && store.token.number == head + 2)
    }
    // A redo ends the group, and so does another transaction of the author.
    try set(store, id, "ann", ["text": "4"], group: "drag")
    try set(store, id, "ann", ["text": "5"])
    try set(store, id, "ann", ["text": "6"], group: "drag")
    #expect(try store.undoable(author: "ann").map(\.count) == [1, 1, 1, 1, 1])
    let refused = code { try set(store, id, "ann", ["text": "7"], group: "") }
    #expect(refused?.code == .invalidArgument)
  }

  /// What others wrote between the transactions of a group counts, too.
  @Test func othersWithinAGroup() throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "1"], group: "g")
    try set(store, id, "ben", ["text": "2"])
    let others = store.token.number
    try set(store, id, "ann", ["text": "3"], group: "g")
    let refused = code { try store.undo(author: "ann") }
    #expect(refused?.code == .conflict && refused?.conflicts.map(\.changedBy) == [others])
    try store.undo(author: "ann", merging: .storedWins)
    #expect(try text(store, id) == "2")
    try store.redo(author: "ann")
    #expect(try text(store, id) == "3")
    try store.undo(author: "ann")
    #expect(try text(store, id) == "2")
    try set(store, id, "ann", ["text": "4"], group: "h")
    try set(store, id, "ben", ["text": "5"])
    try set(store, id, "ann", ["text": "6"], group: "h")
    try store.undo(author: "ann", merging: .ownWins)
    #expect(try text(store, id) == "2")
  }

  /// Each transaction of a group tells what others have changed since.
  @Test(arguments: MergePolicy.allCases.filter { $0 != .error })
  func theConflictsOfAGroupAreThoseOfAll(_ policy: MergePolicy) throws {
    let (store, id) = try store()
    let other = try store.note("b", text: "b")
    try set(store, id, "ann", ["text": "1"], group: "g")
    try set(store, other, "ann", ["text": "2"], group: "g")
    try set(store, id, "ann", ["count": 3], group: "g")
    var changed: [Int64] = []
    for (note, values) in [(id, ["text": "4", "count": 4]), (other, ["text": "5"])]
      as [(ObjectID, [String: Value])]
    {
      try set(store, note, "ben", values)
      changed.append(store.token.number)
    }
    let plan = try store.undoPlan(author: "ann", merging: policy)
    let conflicts = try store.undo(author: "ann", merging: policy).conflicts
    #expect(plan.conflicts == conflicts)
    let told = Set(
      conflicts.map {
        "\($0.object == id ? "a" : "b").\($0.property ?? "-") by \($0.changedBy ?? 0)"
      })
    let wanted = ["a.text by \(changed[0])", "a.count by \(changed[0])", "b.text by \(changed[1])"]
    #expect(told == Set(wanted), "\(conflicts)")
  }

  /// The undo of an insert deletes by rule; that of a deletion brings back what went with it.
  @Test func deleteRulesApply() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Line") { Attribute("name", .string, isUnique: true) }
        Entity("Stop") {
          Attribute("name", .string, isUnique: true)
          Relationship("line", to: "Line", onDelete: .cascade)
          Relationship("next", to: "Line", onDelete: .nullify)
          Relationship("owner", to: "Line", onDelete: .deny)
        }
      }, environment: .fixed())
    func reference(_ id: ObjectID) -> Value { .object(ObjectReference(id)) }
    let line = try store.write(author: "ann") { try $0.insert("Line", ["name": "red"]) }
    let (stop, other) = try store.write(author: "ben") { tx in
      (
        try tx.insert("Stop", ["name": "s", "line": reference(line)]),
        try tx.insert("Stop", ["name": "t", "next": reference(line)])
      )
    }
    let before = try canonical(store)
    #expect(
      try store.undoPlan(author: "ann").description
        == "undoes transaction 2: 2 deletions, 1 update, 0 revivals")
    try store.undo(author: "ann")
    #expect(try store.snapshot().object(stop) == nil)
    #expect(try store.snapshot().object(other)?["next"] == .null)
    try store.redo(author: "ann")
    #expect(try canonical(store) == before)
    // A deletion with what it took along.
    try store.write(author: "cleo") { try $0.delete(line) }
    #expect(try store.snapshot().object(stop) == nil)
    try store.undo(author: "cleo")
    #expect(try canonical(store) == before)
    // One that a rule denies leaves no trace, and stays the next.
    try store.write(author: "ben") {
      try $0.insert("Stop", ["name": "u", "owner": reference(line)])
    }
    let head = store.token
    #expect(code { try store.undo(author: "ann") }?.code == .invalidChange)
    #expect(code { _ = try store.undoPlan(author: "ann") }?.code == .invalidChange)
    #expect(store.token == head)
    #expect(try store.undoable(author: "ann").count == 1)
  }

  private func canonical(_ store: Store) throws -> String {
    var text = ""
    try store.snapshot().export { text += String(decoding: $0, as: UTF8.self) }
    return text
  }

  @Test func theStackIsInTheFile() throws {
    let folder = try TemporaryFolder()
    var store = try noteStore(.file(folder.path("a.annals")))
    let id = try store.note("a", text: "0", author: "ann")
    for number in 1...6 {
      try set(store, id, "ann", ["text": .string("\(number)")], group: number > 4 ? "g" : nil)
      try store.note("b\(number)", author: "ben")
    }
    try store.undo(author: "ann")
    try store.undo(author: "ann")
    let undoable = try store.undoable(author: "ann")
    let redoable = try store.redoable(author: "ann")
    #expect(undoable.count == 4 && redoable.count == 2)
    try store.backup(to: folder.path("b.annals"))
    try store.replay(to: folder.path("c.annals"), at: store.token.number)
    try store.export(to: folder.path("d.jsonl"))
    try Store.import(from: folder.path("d.jsonl"), to: folder.path("d.annals"))
    try store.close()
    for name in ["a", "b", "c", "d"] {
      store = try Store(path: folder.path("\(name).annals"))
      #expect(
        try store.undoable(author: "ann").map(\.numbers) == undoable.map(\.numbers), "\(name)")
      #expect(
        try store.redoable(author: "ann").map(\.numbers) == redoable.map(\.numbers), "\(name)")
      _ = try store.compact()
      try store.redo(author: "ann")
      try store.redo(author: "ann")
      #expect(
        try store.snapshot().object(of: "Note", where: "id", is: "a")?["text"] == "6", "\(name)")
      try store.close()
    }
  }

  /// Up to the floor, which cuts a group; behind it, it says why there is nothing.
  @Test func pruned() throws {
    let (store, id) = try store()
    for number in 1...4 { try set(store, id, "ann", ["text": .string("\(number)")], group: "g") }
    let cut = store.token.number - 1
    try store.prune(store.prunePlan(before: cut))
    #expect(try store.undoable(author: "ann").map(\.numbers) == [cut...cut + 1])
    try store.undo(author: "ann")
    #expect(try text(store, id) == "2")
    let error = code { try store.undo(author: "ann") }
    #expect(error?.code == .pruned && error?.gap != nil)
    #expect(error?.message.hasPrefix("`ann` has nothing to undo") == true)
    // The redo survives a prune of what it once undid.
    try store.prune(store.prunePlan(before: store.token.number))
    try store.redo(author: "ann")
    #expect(try text(store, id) == "4")
    #expect(code { try store.redo(author: "ann") }?.code == .pruned)
  }

  /// A gap ends a group, and what the author did in it is not known.
  @Test func lost() throws {
    let files = MemoryFileSystem()
    let store = try noteStore(StoreLocation(fileSystem: files, path: "/a.annals"))
    let id = try store.note("a", text: "0", author: "ann")
    for number in 1...3 {
      try set(store, id, "ann", ["text": .string("\(number)")], group: "g")
    }
    let head = store.token.number
    try store.close()
    let frames = try files.frames(of: "/a.annals", .transaction)
    try files.flip(0x10, at: frames[frames.count - 2].offset + 30, of: "/a.annals")
    _ = try Store.salvage(
      StoreLocation(fileSystem: files, path: "/a.annals"), to: "/b.annals",
      environment: .fixed(seed: 9))
    let saved = try noteStore(StoreLocation(fileSystem: files, path: "/b.annals"), seed: 2)
    #expect(try saved.transaction(head).group == "g")
    #expect(try saved.undoable(author: "ann").map(\.numbers) == [head...head])
    try saved.undo(author: "ann")
    #expect(try text(saved, id) == "2")
    let error = code { try saved.undo(author: "ann") }
    #expect(error?.code == .lost && error?.lostTransactions?.last == head - 1)
    #expect(code { try saved.undo(author: nil) }?.code == .lost)
    try saved.redo(author: "ann")
    #expect(try text(saved, id) == "3")
    #expect(try saved.problems().isEmpty)
  }

  @Test func whatCannotBeUndoneStaysTheNext() throws {
    let (store, id) = try store()
    try store.erase(id, properties: ["text"], reason: "asked", author: "ben")
    #expect(code { try store.undo(author: "ann") }?.code == .erased)
    #expect(code { try store.undo(author: "ann", merging: .ownWins) }?.code == .erased)
    #expect(try store.undoable(author: "ann").count == 1)
    // A schema alone is no step.
    try store.write(author: "cleo") { tx in
      try tx.require(Schema { Entity("Tag") { Attribute("name", .string) } })
    }
    #expect(try store.undoable(author: "cleo").isEmpty)
  }

  /// A revert is an ordinary write: it clears what could be redone, and can be undone.
  @Test func revertsAreSteps() throws {
    let (store, id) = try store()
    try set(store, id, "ann", ["text": "1"])
    let first = store.token.number
    try set(store, id, "ann", ["count": 2])
    try store.undo(author: "ann")
    try store.revert(first, author: "ann")
    #expect(try store.redoable(author: "ann").isEmpty)
    try store.undo(author: "ann")
    #expect(try text(store, id) == "1")
  }

  @Test(arguments: [StorageError.Operation.write, .sync]) func failingDisk(
    operation: StorageError.Operation
  ) throws {
    let disk = FaultyFileSystem()
    let location = StoreLocation(fileSystem: disk, path: "/a.annals")
    let store = try noteStore(location)
    let id = try store.note("a", text: "1", author: "ann")
    try set(store, id, "ann", ["text": "2"])
    let head = store.token
    disk.inject(FaultInjection(operation, .noSpace, count: 1))
    let error = code { try store.undo(author: "ann") }
    #expect(error != nil)
    let again = try noteStore(location, seed: 2)
    #expect(again.token.number == head.number)
    #expect(try text(again, id) == "2")
    #expect(
      try again.undoable(author: "ann").map(\.numbers.upperBound) == [head.number, head.number - 1])
    #expect(try again.redoable(author: "ann").isEmpty)
    try again.undo(author: "ann")
    #expect(try text(again, id) == "1")
  }

  /// Whoever asks finds the same stack, and only one undoes a step.
  @Test func twoStoresOfOneFile() throws {
    let file = memoryFile()
    let store = try noteStore(file)
    let other = try noteStore(file, seed: 2)
    let id = try store.note("a", text: "1", author: "ann")
    try set(store, id, "ann", ["text": "2"])
    try other.undo(author: "ann")
    try store.undo(author: "ann")
    #expect(try store.snapshot().object(id) == nil)
    #expect(code { try other.undo(author: "ann") }?.code == .nothingToUndo)
    try other.redo(author: "ann")
    try store.redo(author: "ann")
    #expect(try text(store, id) == "2")
  }

  /// The saves of an editing context in a group are one step, and an object keeps its id.
  @Test func savesOfAContext() throws {
    let (store, id) = try store()
    let form = try EditingContext(store, author: "ui", group: "form")
    try form.update(id, ["text": "1"])
    try form.save()
    try form.delete(id)
    try form.save()
    #expect(try store.undoable(author: "ui").map(\.count) == [2])
    try store.undo(author: "ui")
    #expect(try text(store, id) == "Fog")
    #expect(code { _ = try EditingContext(store, group: "") }?.code == .invalidArgument)
  }

  /// A long drag is one step, of which each transaction is read a few times.
  @Test func aLongGroup() throws {
    let (store, id) = try store()
    for number in 0..<1_000 {
      try set(store, id, "ann", ["count": .int(Int64(number))], group: "drag")
      if number % 10 == 0 { try set(store, id, "ben", ["text": .string("\(number)")]) }
    }
    let plan = try store.undoPlan(author: "ann")
    #expect(plan.step.count == 1_000 && plan.updates == 1)
    try store.undo(author: "ann")
    #expect(try store.snapshot().object(id)?["count"] == .null)
    #expect(try text(store, id) == "990")
    try store.redo(author: "ann")
    #expect(try store.snapshot().object(id)?["count"] == 999)
    try store.undo(author: "ann", merging: .ownWins)
    #expect(try store.snapshot().object(id)?["count"] == .null)
  }

  /// Long histories: the stack is found by jumps over what was undone.
  @Test func manySteps() throws {
    let (store, id) = try store()
    for number in 0..<40 { try set(store, id, "ann", ["count": .int(Int64(number))]) }
    for number in 0..<2_000 { try set(store, id, "ben", ["text": .string("\(number)")]) }
    for _ in 0..<40 { try store.undo(author: "ann") }
    #expect(try store.snapshot().object(id)?["count"] == .null)
    #expect(try store.redoable(author: "ann").count == 40)
    for _ in 0..<40 { try store.redo(author: "ann") }
    #expect(try store.snapshot().object(id)?["count"] == 39)
    #expect(try store.undoable(author: "ann").count == 41)
  }
}
