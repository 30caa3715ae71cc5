import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsExchange

/// Groups, and what transactions undo, in the file, in history and in JSON Lines.
@Suite struct UndoItemsTests {
  private func write(_ store: Store, _ id: String, _ undo: UndoRecord = UndoRecord()) throws {
    var origin = TransactionOrigin(author: "ann", metadata: ["group": "metadata", "redoes": 3])
    try origin.note(undo)
    _ = try store.commitTransaction(origin) { try $0.insert("Note", ["id": .string(id)]) }
  }

  /// A group of two, its undo and its redo; returns the number of the first.
  private func fill(_ store: Store) throws -> Int64 {
    let first = store.token.number + 1
    try write(store, "a \(first)", UndoRecord(group: "drag"))
    try write(store, "b \(first)", UndoRecord(group: "drag"))
    try write(store, "c \(first)", UndoRecord(group: "drag", act: .undoes(first...first + 1)))
    try write(store, "d \(first)", UndoRecord(group: "drag", act: .redoes(first + 2)))
    try write(store, "e \(first)", UndoRecord(act: .undoes(first + 3...first + 3)))
    return first
  }

  private func items(_ store: Store) throws -> [String] {
    var headers: [String] = []
    try store.history().reversed().forEachHeader {
      headers.insert(
        "\($0.number) \($0.group ?? "-") \(String(describing: $0.undoes)) \($0.redoes ?? 0)", at: 0)
    }
    let whole = try store.history().collect().map {
      "\($0.number) \($0.group ?? "-") \(String(describing: $0.undoes)) \($0.redoes ?? 0)"
    }
    #expect(headers == whole)
    return whole
  }

  @Test func historyTellsThem() throws {
    let store = try noteStore(memoryFile())
    try store.note("x")
    #expect(!store.version.view.features.contains(.undo))
    let first = try fill(store)
    #expect(store.version.view.features.contains(.undo))
    let found = try (first...first + 4).map { try store.transaction($0) }
    #expect(found.map(\.group) == ["drag", "drag", "drag", "drag", nil])
    #expect(
      found.map(\.undoes) == [nil, nil, first...first + 1, nil, first + 3...first + 3])
    #expect(found.map(\.redoes) == [nil, nil, nil, first + 2, nil])
    #expect(found[0].metadata == ["group": "metadata", "redoes": 3])
  }

  @Test func whatHasNoPlaceIsRefused() throws {
    var origin = TransactionOrigin()
    for name in ["", String(repeating: "é", count: 128)] {
      let error = #expect(throws: AnnalsError.self) { try origin.note(UndoRecord(group: name)) }
      #expect(error?.code == .invalidArgument)
    }
    #expect(origin.features.isEmpty)
  }

  /// Rewrites, copies and salvages keep them.
  @Test func rewritesKeepThem() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")))
    _ = try fill(store)
    let second = try fill(store)
    let all = try items(store)
    try store.backup(to: folder.path("b.annals"))
    try store.replay(to: folder.path("c.annals"), at: store.token.number, flatten: false)
    for name in ["b.annals", "c.annals"] {
      let copy = try Store(path: folder.path(name), options: .readOnly)
      #expect(try items(copy) == all)
      #expect(copy.version.view.features.contains(.undo))
      #expect(try copy.verify().isEmpty)
    }
    _ = try store.compact()
    #expect(try items(store) == all)
    try store.prune(store.prunePlan(before: second))
    #expect(try items(store) == Array(all.suffix(5)))
    let key = Value.string("a \(second)")
    let found = try store.snapshot().object(of: "Note", where: "id", is: key)
    let note = try #require(found)
    try store.erase(note.objectID, properties: ["id"], reason: "asked", author: "ben")
    #expect(try items(store).dropLast() == all.suffix(5))
    try store.close()
    let again = try Store(path: folder.path("a.annals"))
    #expect(try items(again).dropLast() == all.suffix(5))
    #expect(try again.verify().isEmpty)
    #expect(again.version.view.features.contains(.undo))
  }

  @Test func linesCarryThem() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")))
    let first = try fill(store)
    let lines = folder.path("a.jsonl")
    try store.export(to: lines)
    let text = try String(contentsOfFile: lines, encoding: .utf8)
    #expect(text.contains("\"group\":\"drag\",\"undoes\":[\(first),\(first + 1)]"))
    #expect(text.contains("\"undoes\":\(first + 3),"))
    #expect(text.contains("\"group\":\"drag\",\"redoes\":\(first + 2),"))
    // A new file has the same numbers, a store with transactions others.
    try Store.import(from: lines, to: folder.path("b.annals"))
    let copy = try Store(path: folder.path("b.annals"))
    #expect(try items(copy) == items(store))
    #expect(try copy.transaction(first).metadata == store.transaction(first).metadata)
    let other = try noteStore(memoryFile())
    for number in 0..<7 { try other.note("n\(number)") }
    let shift = other.token.number - store.base.number
    let summary = try other.import(from: lines)
    #expect(summary.notes.isEmpty)
    let moved = try other.transaction(first + 2 + shift)
    #expect(moved.undoes == first + shift...first + 1 + shift && moved.group == "drag")
    #expect(try other.transaction(first + 3 + shift).redoes == first + 2 + shift)
  }

  /// What was not imported cannot be named: the transaction is an ordinary one.
  @Test func linesWithoutWhatTheyUndoSaySo() throws {
    let folder = try TemporaryFolder()
    let store = try noteStore(.file(folder.path("a.annals")))
    let first = try fill(store)
    try store.export(to: folder.path("a.jsonl"), after: first + 1)
    let other = try noteStore(memoryFile())
    let before = other.token.number
    let summary = try other.import(from: folder.path("a.jsonl"))
    #expect(
      summary.notes == [
        "1 transaction undid or redid what was not imported, and is an ordinary one here"
      ])
    let found = try (before + 1...before + 3).map { try other.transaction($0) }
    #expect(found.map(\.undoes) == [nil, nil, before + 2...before + 2])
    #expect(found.map(\.redoes) == [nil, before + 1, nil])
    #expect(found[0].group == "drag")
  }

  @Test(arguments: [
    (#"{"n":5,"undoes":5,"changes":[]}"#, "a lower number"),
    (#"{"n":5,"undoes":0,"changes":[]}"#, "a lower number"),
    (#"{"n":5,"undoes":[3],"changes":[]}"#, "the first and the last"),
    (#"{"n":5,"undoes":[4,3],"changes":[]}"#, "the first and the last"),
    (#"{"n":5,"undoes":[1,2,3],"changes":[]}"#, "the first and the last"),
    (#"{"undoes":1,"changes":[]}"#, "a lower number"),
    (#"{"group":"","changes":[]}"#, "1 to 255 bytes"),
  ])
  func linesThatCannotBe(line: String, reason: String) throws {
    let folder = try TemporaryFolder()
    try Data(line.utf8).write(to: URL(fileURLWithPath: folder.path("a.jsonl")))
    let error = #expect(throws: AnnalsError.self) {
      try Store.import(from: folder.path("a.jsonl"), to: folder.path("a.annals"))
    }
    #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
  }
}
