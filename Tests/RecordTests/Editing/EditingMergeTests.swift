import Annals
import AnnalsModel
import Foundation
import Testing

/// Contexts beside other writers, and contexts within contexts.
@Suite struct EditingMergeTests {
  private let lab: EditingLab
  private var store: Store { lab.store }
  private var form: EditingContext { lab.form }
  private var a: EditableObject<Node> { lab.a }

  init() throws { lab = try EditingLab() }

  private func setByOthers(_ count: Int) throws {
    try store.write(author: "others") { try $0.set(\Node.count, of: a.objectID, to: count) }
  }

  @Test func otherPropertiesNeverMatter() throws {
    try setByOthers(9)
    a.name = "aa"
    try form.save()
    #expect(try store.node("aa")?.count == 9 && a.count == 9)
  }

  @Test func aConflictIsRefusedOrMerged() throws {
    try setByOthers(9)
    a.count = 3
    let error = #expect(throws: AnnalsError.self) { try form.save() }
    #expect(error?.code == .conflict)
    #expect(error?.conflicts.map(\.description).count == 1 && error?.conflicts[0].changedBy == 3)
    #expect(a.count == 3 && form.hasChanges)
    let commit = try form.save(merging: .storedWins)
    #expect(commit.conflicts.map(\.property) == ["count"])
    #expect(a.count == 9 && !form.hasChanges)
    a.count = 4
    try setByOthers(10)
    try form.save(merging: .ownWins)
    #expect(try store.node("a")?.count == 4)
  }

  @Test func newObjectsGetIDsThatOthersHaveNotUsed() throws {
    let c = try form.insert(Node("c", parent: a.reference))
    let d = try form.insert(Node("d", parent: c.reference))
    let provisional = [c.objectID, d.objectID]
    try store.write { tx in for name in ["x", "y"] { try tx.insert(Node(name)) } }
    let commit = try form.save()
    #expect(provisional.map { commit.movedObjects[$0] } == [c.objectID, d.objectID])
    #expect(try store.node("c")?.objectID == c.objectID)
    #expect(try store.node("d")?.parent == c.reference)
    #expect(try form.object(Node.self, d.objectID) === d)
    d.count = 5
    try form.save()
    #expect(try store.node("d")?.count == 5)
    #expect(try store.nodeNames() == ["a", "b", "c", "d", "x", "y"])
  }

  @Test func aRefusedSaveNamesObjectsAsTheContextDoes() throws {
    let c = try form.insert(Node("c"))
    try store.write { try $0.insert(Node("x")) }
    c.count = 1_000
    let error = #expect(throws: AnnalsError.self) { try form.save() }
    #expect(error?.violations.first?.object == ObjectReference(c.objectID))
    c.count = 10
    try form.save()
    #expect(try store.node("c")?.count == 10)
  }

  @Test func aDeletionAndANewChildOfOthersAreAConflict() throws {
    let b = try #require(try form.node("b"))
    b.parent = a.reference
    try form.save()
    try form.delete(a)
    #expect(try form.nodeNames() == [])
    try store.write { try $0.insert(Node("late", parent: a.reference)) }
    #expect(throws: AnnalsError.self) { try form.save() }
    #expect(try form.nodeNames() == [])
    try form.save(merging: .storedWins)
    #expect(try store.nodeNames() == ["a", "b", "late"])
    #expect(!a.isDeleted && !b.isDeleted && b.parent == a.reference)
    try form.delete(a)
    try store.write { try $0.insert(Node("later", parent: a.reference)) }
    try form.refresh(merging: .ownWins)
    #expect(try form.nodeNames() == [])
    try form.save()
    #expect(try store.nodeNames() == [])
    #expect(try store.problems() == [])
  }

  @Test func aContextOutlivesPrunesAndRewrites() throws {
    let long = String(repeating: "x", count: 10_000)
    try store.write { try $0.update(Node.self, a.objectID) { $0.text = long } }
    try form.refresh()
    a.count = 3
    let c = try form.insert(Node("c"))
    for number in 1...5 {
      try store.write { try $0.insert(Node("n\(number)")) }
    }
    try store.prune(store.prunePlan(before: store.token))
    try store.compact()
    #expect(a.text == long)
    try form.save()
    #expect(try store.node("a")?.count == 3 && store.node("c")?.objectID == c.objectID)
    #expect(try store.problems() == [])
    // A conflict with what is pruned is still one.
    try setByOthers(8)
    a.count = 4
    try store.write { try $0.insert(Node("last")) }
    try store.prune(store.prunePlan(before: store.token))
    #expect(throws: AnnalsError.self) { try form.save() }
    try form.save(merging: .ownWins)
    #expect(try store.node("a")?.count == 4)
  }

  @Test func aChildSavesIntoItsParentAsOneStep() throws {
    a.count = 1
    let dialog = form.child()
    let copy = try #require(try dialog.node("a"))
    #expect(copy !== a && copy.count == 1)
    copy.count = 2
    copy.name = "aa"
    let c = try dialog.insert(Node("c", parent: copy.reference))
    #expect(a.count == 1 && dialog.hasChanges)
    #expect(try form.nodeNames() == ["a", "b"])
    try dialog.save(as: "Dialog")
    #expect(a.count == 2 && a.name == "aa" && form.undoName == "Dialog" && !dialog.hasChanges)
    #expect(try form.object(Node.self, c.objectID)?.parent == a.reference)
    #expect(try store.nodeNames() == ["a", "b"])
    try form.undo()
    #expect(a.count == 1 && a.name == "a")
    try form.redo()
    try form.save()
    #expect(try store.nodeNames() == ["aa", "b", "c"])
  }

  @Test func aChildIsMergedIntoAParentThatHasChanged() throws {
    let dialog = form.child()
    let copy = try #require(try dialog.node("a"))
    copy.name = "aa"
    let c = try dialog.insert(Node("c"))
    a.count = 5
    let d = try form.insert(Node("d"))
    #expect(try dialog.nodeNames() == ["aa", "b", "c"])
    try dialog.save()
    #expect(a.name == "aa" && a.count == 5 && copy.count == 5)
    #expect(c.objectID != d.objectID)
    #expect(try form.nodeNames() == ["aa", "b", "c", "d"])
    copy.count = 6
    a.count = 7
    let error = #expect(throws: AnnalsError.self) { try dialog.save() }
    #expect(error?.code == .conflict)
    #expect(copy.count == 6 && a.count == 7)
    try dialog.refresh(merging: .ownWins)
    #expect(copy.count == 6 && a.count == 7)
    try dialog.save()
    #expect(a.count == 6)
    try form.save()
    #expect(try store.nodeNames() == ["aa", "b", "c", "d"])
    #expect(try store.node("aa")?.count == 6)
    // A child goes on after its parent was saved.
    copy.count = 8
    try dialog.save()
    try form.save()
    #expect(try store.node("aa")?.count == 8)
    #expect(try store.problems() == [])
  }

  @MainActor @Test func aTimelineShowsWhatIsPending() throws {
    let store = try Store(.memory, records: Stay.self)
    let form = try EditingContext(store)
    let uji = try form.insert(Stay(place: "Uji", from: .distantPast, to: nil))
    let stays = Timeline(start: \Stay.from, end: \.to).labeled(by: \.place)
    let rows = try LiveRows(stays, in: form)
    let first = try rows.rows.all().count
    uji.to = Date(timeIntervalSince1970: 0)
    try form.insert(Stay(place: "Nara", from: Date(timeIntervalSince1970: 9), to: nil))
    #expect(try rows.rows.all().count > first && rows.failure == nil)
    #expect(try rows.rows.all().last?.label == "Nara")
    try form.save()
    #expect(
      try rows.rows.all().map(\.label) == store.snapshot().timeline(stays).map(\.label))
  }

  @MainActor @Test func liveRowsShowWhatIsPending() throws {
    let rows = try LiveRows(Fetch(Node.self).where(\.count > 0).sorted(by: \.name), in: form)
    func names() throws -> [String] { try rows.rows.all().map(\.name) }
    #expect(try names() == [])
    a.count = 1
    #expect(try names() == ["a"] && rows.diff.inserts.count == 1)
    let c = try form.insert(Node("0"))
    c.count = 3
    #expect(try names() == ["0", "a"])
    c.name = "z"
    #expect(try names() == ["a", "z"] && rows.diff.moves.count == 1)
    try store.write { tx in
      try tx.insert(Node(name: "m", count: 2, parent: nil, friend: nil, text: nil))
    }
    #expect(try names() == ["a", "z"])
    try form.refresh()
    #expect(try names() == ["a", "m", "z"])
    try form.save()
    #expect(try names() == ["a", "m", "z"])
    try form.delete(a)
    #expect(try names() == ["m", "z"])
    try form.undo()
    #expect(try names() == ["a", "m", "z"])
    rows.change(to: Fetch(Node.self).sorted(by: .descending(\.name)))
    #expect(try names() == ["z", "m", "b", "a"])
    try form.delete(a)
    form.rollback()
    #expect(try names() == ["z", "m", "b", "a"] && rows.failure == nil)
  }
}

private struct Stay: Record {
  var place: String
  var from: Date
  var to: Date?
  static let entity = RecordEntity(
    "Stay", Stay.init, Property("place", \.place), Property("from", \.from),
    Property("to", \.to))
}
