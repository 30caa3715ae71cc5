import Annals
import AnnalsModel
import Foundation
import Observation
import Synchronization
import Testing

/// Changes that are pending until they are saved.
@Suite struct EditingContextTests {
  private let store: Store
  private let form: EditingContext

  init() throws {
    store = try .ofNodes("a", "b")
    form = try EditingContext(store, author: "ui")
  }

  @Test func whatIsPendingIsSeenInTheContextAlone() throws {
    let a = try #require(try form.node("a"))
    a.count = 7
    let c = try form.insert(Node("c", parent: a.reference))
    #expect(try form.nodeNames() == ["a", "b", "c"])
    #expect(try form.count(Fetch(Node.self).where(\.count > 5)) == 1)
    #expect(try form.objects(a.object, \.children).map(\.name) == ["c"])
    #expect(try store.nodeNames() == ["a", "b"])
    #expect(try store.node("a")?.count == nil)
    let commit = try form.save()
    #expect(try store.node("a")?.count == 7)
    #expect(try store.node("c")?.parent == a.reference)
    #expect(try store.transaction(commit.token.number).author == "ui")
    #expect(try store.transaction(commit.token.number).changes.count == 2)
    #expect(try store.node("c")?.objectID == c.objectID && commit.movedObjects.isEmpty)
    #expect(!form.hasChanges)
  }

  @Test func anObjectIsTheSameForAllThatAskForIt() throws {
    let a = try #require(try form.node("a"))
    let same = try #require(try form.object(Node.self, a.objectID))
    #expect(a === same)
    #expect(try form.fetch(Fetch(Node.self).sorted(by: \.name)).first === a)
    #expect(try form.object(#require(try store.node("a"))) === a)
    same.name = "z"
    #expect(a.name == "z" && a.value.name == "z" && a.object.name == "z")
    try form.edit { tx in try tx.update(Node.self, a.objectID) { $0.count = 3 } }
    #expect(a.count == 3)
  }

  @Test func whatCancelsOutIsNoChange() throws {
    let a = try #require(try form.node("a"))
    a.count = 1
    #expect(form.hasChanges)
    a.count = nil
    let c = try form.insert(Node("c"))
    try form.delete(c)
    #expect(!form.hasChanges && c.isDeleted)
    let before = store.token
    #expect(try form.save().token == before)
  }

  @Test func changesArePrintedAsHistoryPrintsThem() throws {
    let a = try #require(try form.node("a"))
    a.name = "aa"
    a.count = 5
    let b = try #require(try form.node("b"))
    try form.delete(b)
    try form.insert(Node("c", parent: a.reference))
    let pending = try form.changes()
    #expect(pending.map(\.kind) == [.update, .delete, .insert])
    #expect(pending[0].before("name") == "a" && pending[0].after("name") == "aa")
    #expect(try form.changedProperties(of: a.objectID) == ["name", "count"])
    #expect(try form.changedProperties(of: b.objectID) == ["name"])
    try form.save()
    let saved = try store.transaction(store.token.number).changes
    #expect(saved.map(\.description) == pending.map(\.description))
  }

  @Test func everyBrokenRuleIsFoundAndNothingThrown() throws {
    let a = try #require(try form.node("a"))
    a.count = 1_000
    let c = try form.insert(Node("b"))
    let found = try form.validate()
    #expect(found.map(\.property).sorted() == ["count", "name"])
    let error = #expect(throws: AnnalsError.self) { try form.save() }
    #expect(error?.code == .invalidChange && error?.violations.count == 2)
    #expect(form.hasChanges && a.count == 1_000)
    a.count = 10
    c.name = "c"
    #expect(try form.validate().isEmpty)
    try form.save()
    #expect(try store.nodeNames() == ["a", "b", "c"])
  }

  @Test func aValueOfAnotherKindIsForgottenOnceItIsSetRight() throws {
    let id = try #require(try store.node("a")).objectID
    try form.update(id, ["count": "many"])
    #expect(try form.validate().map(\.property) == ["count"])
    try form.update(id, ["count": 2])
    #expect(try form.validate().isEmpty)
    try form.update(id, ["count": "many"])
    try form.undo()
    #expect(try form.validate().isEmpty)
    try form.redo()
    #expect(try form.validate().count == 1)
    try form.object(Node.self, id)?.count = 4
    try form.save()
    #expect(try store.node("a")?.count == 4)
  }

  @Test func aClosureThatThrowsChangesNothing() throws {
    struct Stop: Error {}
    let a = try #require(try form.node("a"))
    #expect(throws: Stop.self) {
      try form.edit { tx in
        try tx.insert(Node("x"))
        try tx.set(\Node.count, of: a.objectID, to: 5)
        throw Stop()
      }
    }
    #expect(throws: Stop.self) {
      try form.group("x") {
        a.count = 8
        try form.insert(Node("y"))
        throw Stop()
      }
    }
    #expect(a.count == nil && !form.hasChanges && form.undoName == nil)
    #expect(try form.nodeNames() == ["a", "b"])
    let error = #expect(throws: AnnalsError.self) {
      try form.edit { tx in
        try tx.require(Schema { Entity("New") { Attribute("x", .string) } })
      }
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test func anEditIsChangedByItsTransactionAlone() throws {
    let a = try #require(try form.node("a"))
    let child = form.child()
    try child.insert(Node("x"))
    func code(_ body: () throws -> Void) -> AnnalsError.Code? {
      do {
        try body()
        return nil
      } catch {
        return (error as? AnnalsError)?.code
      }
    }
    try form.edit { tx in
      try tx.insert(Node("c"))
      #expect(try form.nodeNames() == ["a", "b"])
      #expect(code { try form.save() } == .nestedWrite)
      #expect(code { try form.undo() } == .nestedWrite)
      #expect(code { try form.insert(Node("d")) } == .nestedWrite)
      #expect(code { try form.edit { _ in } } == .nestedWrite)
      #expect(code { _ = try form.refresh() } == .nestedWrite)
      #expect(code { try child.save() } == .nestedWrite)
    }
    try form.group("two") {
      a.count = 1
      #expect(code { try form.save() } == .nestedWrite)
      try child.save()
    }
    #expect(try form.nodeNames() == ["a", "b", "c", "x"] && form.undoName == "two")
    try form.edit { _ in a.count = 7 }
    #expect(code { try form.save() } == .nestedWrite)
    form.rollback()
    #expect(try form.nodeNames() == ["a", "b"] && a.count == nil)
  }

  @Test func anObjectOfAGroupThatFailedIsNotTheNextNewOne() throws {
    struct Stop: Error {}
    var made: EditableObject<Node>?
    #expect(throws: Stop.self) {
      try form.group("x") {
        made = try form.insert(Node("lost"))
        throw Stop()
      }
    }
    let next = try form.insert(Node("next"))
    #expect(made !== next && made?.isDeleted == true && made?.name == "lost")
    made?.name = "again"
    #expect(next.name == "next")
    try form.save()
    #expect(try store.nodeNames() == ["a", "b", "next"])
  }

  @Test func rollbackDropsWhatIsPending() throws {
    let a = try #require(try form.node("a"))
    a.count = 5
    let c = try form.insert(Node("c"))
    try store.write { try $0.insert(Node("others")) }
    form.rollback()
    #expect(a.count == nil && c.isDeleted && !form.hasChanges)
    #expect(try form.nodeNames() == ["a", "b", "others"])
    // The next new object is another one, whatever its id.
    let d = try form.insert(Node("d"))
    c.name = "gone"
    #expect(d !== c && d.name == "d" && form.undoName == "Insert Node")
    try form.save()
    #expect(try store.nodeNames() == ["a", "b", "d", "others"])
  }

  @Test func deleteRulesShowAtOnce() throws {
    let a = try #require(try form.node("a"))
    let b = try #require(try form.node("b"))
    b.parent = a.reference
    let c = try form.insert(Node("c", parent: b.reference))
    c.friend = a.reference
    let d = try form.insert(Node("d"))
    d.friend = b.reference
    try form.delete(a)
    #expect(try form.nodeNames() == ["d"])
    #expect(b.isDeleted && c.isDeleted && d.friend == nil)
    try form.undo()
    #expect(try form.nodeNames() == ["a", "b", "c", "d"])
    #expect(!b.isDeleted && d.friend == b.reference && c.parent == b.reference)
    try form.redo()
    try form.save()
    #expect(try store.nodeNames() == ["d"])
    #expect(try store.problems() == [])
  }

  @Test func observersAreTold() throws {
    let a = try #require(try form.node("a"))
    func told(_ read: () -> Void, by change: () throws -> Void) rethrows -> Int {
      let count = Atomic<Int>(0)
      withObservationTracking(read) { count.add(1, ordering: .relaxed) }
      try change()
      return count.load(ordering: .relaxed)
    }
    #expect(
      told {
        _ = a.name
      } by: {
        a.count = 1
      } == 1)
    #expect(
      told {
        _ = form.hasChanges
      } by: {
        a.count = 2
      } == 1)
    #expect(
      try told {
        _ = a.isDeleted
      } by: {
        try form.undo()
      } == 1)
    #expect(
      try told {
        _ = form.undoName
      } by: {
        try form.insert(Node("n"))
      } == 1)
    #expect(
      told {
        _ = a.name
      } by: {
        form.rollback()
      } == 1)
    #expect(
      told {
        _ = 1
      } by: {
        a.count = 3
      } == 0)
  }

  @Test func largeValuesAreHeldUntilTheyAreSaved() throws {
    let text = String(repeating: "long ", count: 2_000)
    let a = try #require(try form.node("a"))
    a.text = text
    #expect(try form.fetch(Fetch(Node.self).where(\.text == text)).count == 1)
    try form.save()
    #expect(try store.node("a")?.text == text)
    a.text = "short"
    try form.save()
    #expect(try store.node("a")?.text == "short" && form.undoName == nil)
    a.text = text + "er"
    a.name = "aa"
    try form.undo()
    try form.undo()
    try form.redo()
    try form.save()
    #expect(try store.node("a")?.text == text + "er")
    try form.undo()
    try form.save()
    #expect(try store.node("a")?.text == "short")
    #expect(try store.problems() == [])
  }

  @Test func aClosedStoreSavesNothing() throws {
    let a = try #require(try form.node("a"))
    a.count = 4
    try store.close()
    let error = #expect(throws: AnnalsError.self) { try form.save() }
    #expect(error?.code == .closed && a.count == 4)
    #expect(try form.nodeNames() == ["a", "b"])
  }
}
