import Annals
import AnnalsModel
import Foundation
import Testing

/// Who set what: now, in the past, and of objects that are gone.
@Suite struct BlameTests {
  private func text(_ blame: Blame) -> [String] {
    blame.map { "\($0.property) \($0.transaction?.number ?? 0) \($0.value)" }
  }

  @Test func eachValueNamesTheTransactionThatSetIt() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    try store.write { try $0.update(note, ["text": "two"]) }
    try store.write { try $0.update(note, ["count": 5]) }
    let blame = try store.blame(note)
    #expect(text(blame) == [#"id 2 string("a")"#, #"text 3 string("two")"#, "count 4 int(5)"])
    #expect(blame.deletion == nil)
    #expect(blame.first?.description.hasPrefix(#"id: string("a"), set by transaction 2"#) == true)
  }

  @Test func thePastHasItsOwnLines() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    let then = store.token
    try store.write { try $0.update(note, ["text": "two", "count": 1]) }
    #expect(
      text(try store.blame(note, at: then)) == [#"id 2 string("a")"#, #"text 2 string("one")"#])
    #expect(text(try store.blame(note, at: 3)).last == "count 3 int(1)")
    let before = #expect(throws: AnnalsError.self) { try store.blame(note, at: 1) }
    #expect(before?.code == .noSuchObject)
    let beyond = #expect(throws: AnnalsError.self) { try store.blame(note, at: 9) }
    #expect(beyond?.code == .beyondHead)
  }

  @Test func whatWasClearedHasALine() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    let folder = try store.write {
      try $0.insert("Folder", ["notes": .objects([ObjectReference(note)])])
    }
    try store.write { tx in
      try tx.update(note, ["text": .null])
      try tx.update(folder, ["notes": .objects([])])
    }
    let blame = try store.blame(note)
    #expect(text(blame) == [#"id 2 string("a")"#, "text 4 null"])
    #expect(blame.last?.description.hasPrefix("text: cleared by transaction 4") == true)
    #expect(text(try store.blame(folder)) == ["notes 4 null"])
  }

  @Test func aDeletedObjectHasTheLinesOfItsEnd() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    let long = String(repeating: "x", count: 5_000)
    try store.write { try $0.update(note, ["text": .string(long), "count": 1]) }
    try store.write { try $0.update(note, ["count": .null]) }
    try store.write(author: "ann") { try $0.delete(note) }
    try store.note("b")
    let blame = try store.blame(note)
    #expect(blame.map { $0.transaction?.number } == [2, 3, 4])
    #expect(blame.map(\.property) == ["id", "text", "count"])
    // Its bytes were read.
    if case .string(let text) = blame[1].value { #expect(text == long) } else { Issue.record() }
    #expect(blame[2].value.isNull)
    #expect(blame.deletion?.number == 5 && blame.deletion?.author == "ann")
    #expect(try store.blame(note, at: 4).deletion == nil)
    let never = ObjectID(store: note.store, entity: note.entity, row: 9)
    let error = #expect(throws: AnnalsError.self) { try store.blame(never) }
    #expect(error?.code == .noSuchObject)
    let elsewhere = ObjectID(store: RawUUID(high: 1, low: 1), entity: note.entity, row: note.row)
    #expect(throws: AnnalsError.self) { try store.blame(elsewhere) }
  }

  @Test func anObjectWithoutPropertiesHasItsDeletion() throws {
    let store = try Store(.memory, schema: Schema { Entity("Mark") { Attribute("x", .int64) } })
    let mark = try store.write { try $0.insert("Mark", ["x": 1]) }
    try store.write(author: "ann") { try $0.delete(mark) }
    try store.edit(.removeProperty(entity: "Mark", "x"))
    let blame = try store.blame(mark)
    #expect(blame.isEmpty && blame.deletion?.author == "ann")
  }

  @Test func aRevivedObjectNamesTheRevival() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    try store.write { try $0.delete(note) }
    try store.revert(3, author: "undo")
    let blame = try store.blame(note)
    #expect(blame.map { $0.transaction?.number } == [4, 4])
    #expect(blame.deletion == nil)
    #expect(try store.blame(note, at: 3).map { $0.transaction?.number } == [2, 2])
  }

  @Test func whatWasPrunedIsNobodys() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "one")
    try store.write { try $0.update(note, ["count": 1]) }
    try store.prune(try store.prunePlan(before: 3))
    #expect(try store.blame(note).map { $0.transaction?.number } == [nil, nil, 3])
  }

  /// The removal of a property that has the same name is nothing that anybody asks for.
  @Test func aPropertyThatHasTheNameOfARemovedOne() throws {
    let store = try Store(
      memoryFile(), schema: Schema { Entity("Mark") { Attribute("x", .int64) } },
      environment: .fixed())
    let mark = try store.write { try $0.insert("Mark", ["x": 1]) }
    try store.edit(.removeProperty(entity: "Mark", "x"))
    #expect(text(try store.blame(mark)) == ["x 3 null"])
    try store.require(Schema { Entity("Mark") { Attribute("x", .string) } })
    #expect(text(try store.blame(mark)) == [])
    try store.write { try $0.update(mark, ["x": "new"]) }
    #expect(text(try store.blame(mark)) == [#"x 5 string("new")"#])
  }
}
