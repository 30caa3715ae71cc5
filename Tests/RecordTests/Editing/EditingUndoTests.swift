import Annals
import AnnalsModel
import Testing

/// Steps of an editing context, taken back and repeated.
@Suite struct EditingUndoTests {
  private let lab: EditingLab
  private var store: Store { lab.store }
  private var form: EditingContext { lab.form }
  private var a: EditableObject<Node> { lab.a }

  init() throws { lab = try EditingLab() }

  @Test func stepsHaveNames() throws {
    #expect(form.undoName == nil && form.redoName == nil)
    #expect(try !form.undo() && !form.redo())
    a.count = 1
    #expect(form.undoName == "Change count")
    try form.insert(Node("c"))
    #expect(form.undoName == "Insert Node")
    try form.delete(a)
    #expect(form.undoName == "Delete Node")
    try form.edit("Count All") { tx in
      try tx.update(Node.self, where: nil) { $0.count = 4 }
    }
    #expect(form.undoName == "Count All")
    try form.undo()
    #expect(form.undoName == "Delete Node" && form.redoName == "Count All")
    try form.insert(Node("d"))
    #expect(form.redoName == nil)
  }

  @Test func whatIsTypedIsOneStep() throws {
    for text in ["n", "ne", "new"] { a.name = text }
    a.count = 1
    a.count = 2
    try form.undo()
    #expect(a.count == nil && a.name == "new")
    try form.undo()
    #expect(a.name == "a" && form.undoName == nil)
    try form.redo()
    #expect(a.name == "new")
    // What comes after a redo is a step of its own.
    a.name = "newer"
    try form.undo()
    #expect(a.name == "new")
  }

  @Test func groupsAreTakenBackAsAWhole() throws {
    let b = try #require(try form.node("b"))
    try form.group("Swap") {
      a.name = "x"
      b.name = "a"
      a.name = "b"
      try form.insert(Node("c"))
    }
    #expect(form.undoName == "Swap" && a.name == "b" && b.name == "a")
    try form.undo()
    #expect(a.name == "a" && b.name == "b" && form.undoName == nil)
    #expect(try form.nodeNames() == ["a", "b"])
    try form.redo()
    #expect(try form.nodeNames() == ["a", "b", "c"])
    try form.save()
    #expect(try store.node("b")?.objectID == a.objectID)
  }

  @Test func aDeletedObjectComesBackUnderItsOwnID() throws {
    let id = a.objectID
    a.count = 3
    try form.delete(a)
    #expect(a.isDeleted)
    try form.undo()
    #expect(!a.isDeleted && a.objectID == id && a.count == 3)
    try form.undo()
    #expect(a.count == nil)
  }

  @Test func undoGoesOnAfterASave() throws {
    a.count = 3
    let c = try form.insert(Node("c", parent: a.reference))
    try form.delete(#require(try form.node("b")))
    try form.save()
    try form.undo()
    #expect(try form.nodeNames() == ["a", "b", "c"] && form.hasChanges)
    try form.undo()
    #expect(c.isDeleted)
    try form.undo()
    #expect(a.count == nil)
    try form.save()
    #expect(try store.nodeNames() == ["a", "b"])
    #expect(try store.node("a")?.count == nil)
    for _ in 1...3 { try form.redo() }
    try form.save()
    #expect(try store.nodeNames() == ["a", "c"])
    #expect(try store.node("c")?.parent == store.node("a").map { Reference($0) })
    #expect(try store.problems() == [])
  }

  @Test func stepsEndWhereOthersHaveWritten() throws {
    a.count = 3
    try store.write { try $0.insert(Node("others")) }
    try form.save()
    #expect(form.undoName == nil)
    #expect(try form.nodeNames() == ["a", "b", "others"])
  }

  @Test func afterARefreshOwnEditsAreTakenBackAlone() throws {
    a.count = 3
    a.name = "aa"
    try store.write { tx in
      try tx.set(\Node.count, of: #require(try store.node("b")).objectID, to: 9)
      try tx.set(\Node.friend, of: a.objectID, to: Reference(#require(try store.node("b"))))
    }
    try form.refresh()
    #expect(a.name == "aa" && a.friend != nil)
    try form.undo()
    #expect(a.name == "a" && a.count == 3 && a.friend != nil)
    try form.undo()
    #expect(a.count == nil && !form.hasChanges)
    try form.redo()
    try form.save()
    #expect(try store.node("a")?.count == 3 && store.node("b")?.count == 9)
  }

  @Test func whatOthersSetIsWhatIsLeftAfterUndo() throws {
    a.count = 3
    try store.write { try $0.set(\Node.count, of: a.objectID, to: 50) }
    #expect(throws: AnnalsError.self) { try form.refresh() }
    #expect(a.count == 3 && form.undoName != nil)
    let commit = try form.refresh(merging: .ownWins)
    #expect(commit.conflicts.map(\.property) == ["count"] && a.count == 3)
    try form.undo()
    #expect(a.count == 50 && !form.hasChanges)
  }

  @Test func whatADeniedDeletionLeavesCanBeReadAndTakenBack() throws {
    let store = try Store(.memory, records: Part.self, Whole.self)
    let form = try EditingContext(store)
    let whole = try form.insert(Whole(name: "w"))
    let part = try form.insert(Part(whole: whole.reference))
    try form.save()
    try form.delete(whole)
    #expect(try form.objects(of: Part.self).map(\.whole) == [whole.reference])
    #expect(try form.validate().map(\.property) == ["whole"])
    #expect(throws: AnnalsError.self) { try form.save() }
    // Deleting both passes, in any order.
    try form.delete(part)
    try form.save()
    #expect(try store.snapshot().count(of: Whole.self) == 0)
    // And comes back, step by step.
    try form.undo()
    #expect(!part.isDeleted && whole.isDeleted && part.whole == whole.reference)
    try form.undo()
    try form.save()
    #expect(try store.snapshot().objects(of: Part.self).map(\.whole) == [whole.reference])
    #expect(try store.problems() == [])
  }
}

private struct Whole: Record {
  var name: String
  static let entity = RecordEntity("Whole", Whole.init, Property("name", \.name))
}

private struct Part: Record {
  var whole: Reference<Whole>
  static let entity = RecordEntity("Part", Part.init, Property("whole", \.whole))
}
