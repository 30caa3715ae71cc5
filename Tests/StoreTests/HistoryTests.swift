import Annals
import AnnalsModel
import Foundation
import Testing

@Suite struct HistoryTests {
  /// 1 schema; 2 ann inserts a and b; 3 bob changes a's text; 4 nobody deletes b; 5 ann, in
  /// "share", changes a's count and makes a folder; 6 an empty import by bob.
  private func store() throws -> Store {
    let store = try noteStore()
    var a: ObjectID?
    var b: ObjectID?
    try store.write(author: "ann") { tx in
      a = try tx.insert("Note", ["id": "a", "text": "one"])
      b = try tx.insert("Note", ["id": "b", "text": "two"])
    }
    let first = try #require(a)
    try store.write(author: "bob") { try $0.update(first, ["text": "uno"]) }
    let second = try #require(b)
    try store.write { try $0.delete(second) }
    try store.write(author: "ann", context: "share", metadata: ["why": "because"]) { tx in
      try tx.update(first, ["count": .int(3)])
      try tx.insert(
        "Folder",
        [
          "name": "f",
          "notes": .objects([ObjectReference(first)]),
        ])
    }
    try store.importTransaction(author: "bob") { _ in }
    return store
  }

  /// Texts that many objects share are read like any others, from the log as it was written and as
  /// it was compacted.
  @Test func sharedTexts() throws {
    let texts = ["a text that is long enough", "brief", "another long one, as it should be"]
    let store = try noteStore()
    var notes: [ObjectID] = []
    try store.write { tx in
      for index in 0..<300 {
        notes.append(
          try tx.insert("Note", ["id": .string("\(index)"), "text": .string(texts[index % 3])]))
      }
    }
    try store.write { tx in
      for (index, note) in notes.enumerated() {
        try tx.update(note, ["text": .string(texts[(index + 1) % 3])])
      }
    }
    for isCompacted in [false, true] {
      if isCompacted { try store.compact() }
      let transactions = try store.history(after: 1).collect()
      #expect(transactions.map(\.changes.count) == [300, 300])
      for (index, change) in transactions[0].changes.enumerated() {
        #expect(change.before("text") == .null)
        #expect(change.after("text") == .string(texts[index % 3]))
        for (place, difference) in change.properties.enumerated() {
          #expect(change.properties[place] == difference)
        }
      }
      for (index, change) in transactions[1].changes.enumerated() {
        #expect(change.before("text") == .string(texts[index % 3]))
        #expect(change.after("text") == .string(texts[(index + 1) % 3]))
      }
    }
  }

  @Test func conditions() throws {
    let store = try store()
    let a = ObjectID(store: RawUUID(store.id), entity: 1, row: 1)
    let dates = try store.history().collect().map(\.timestamp)
    let cases: [(HistoryCondition, [Int64])] = [
      (.always, [1, 2, 3, 4, 5, 6]),
      (.author == "ann", [2, 5]),
      (.author != "ann", [1, 3, 4, 6]),
      (.author == nil, [1, 4]),
      (.author == "nobody ever", []),
      (.author != "nobody ever", [1, 2, 3, 4, 5, 6]),
      (.context == "share", [5]),
      (.author == "ann" && .context == nil, [2]),
      (.author == "bob" || .context == "share", [3, 5, 6]),
      (.touches("Note"), [2, 3, 4, 5]),
      (.touches("Folder"), [5]),
      (.touches("Nothing"), []),
      (.touches("Note", "text"), [2, 3, 4]),
      (.touches("Note", "count"), [5]),
      (.touches(property: "name"), [5]),
      (.touches(a), [2, 3, 5]),
      (.kind(.delete), [4]),
      (.kind(.insert) && .touches("Folder"), [5]),
      (.kind(.insert) && .touches("Note"), [2]),
      (.kind(.update) && .author == "bob", [3]),
      (!.kind(.insert), [3, 4, 5]),
      (.since(dates[3]), [4, 5, 6]),
      (.until(dates[1]), [1, 2]),
      (.since(dates[1]) && .until(dates[2]), [2, 3]),
    ]
    for (index, (condition, numbers)) in cases.enumerated() {
      let history = try store.history(where: condition)
      #expect(try history.collect().map(\.number) == numbers, "case \(index)")
      #expect(
        try history.reversed().collect().map(\.number) == numbers.reversed(), "case \(index)")
      #expect(try history.count() == numbers.count, "case \(index)")
      var headers: [Int64] = []
      try history.forEachHeader { headers.append($0.number) }
      #expect(headers == numbers, "case \(index)")
    }
  }

  @Test func boundsAreExclusive() throws {
    let store = try store()
    func numbers(_ history: History) throws -> [Int64] { try history.collect().map(\.number) }
    #expect(try numbers(store.history(after: 2, before: 5)) == [3, 4])
    #expect(try numbers(store.history(after: 6)) == [])
    #expect(try numbers(store.history(after: 5, before: 3)) == [])
    #expect(try numbers(store.history(after: store.base)) == [1, 2, 3, 4, 5, 6])
    #expect(try store.history(after: 2, before: 5).count() == 2)
    #expect(
      try numbers(store.history(of: ObjectID(store: RawUUID(store.id), entity: 1, row: 2))) == [
        2, 4,
      ])
    #expect(try store.history().collect(limit: 2).map(\.number) == [1, 2])
  }

  @Test func shapes() throws {
    let store = try store()
    let history = try store.history(where: .touches("Note"))
    var changes: [String] = []
    try history.forEachChange { changes.append("\($0.transactionNumber) \($0.kind)") }
    #expect(changes == ["2 insert", "2 insert", "3 update", "4 delete", "5 update"])
    #expect(try history.objectIDs().map(\.row) == [1, 2])
    var counts: [Int] = []
    try store.history().forEachHeader { counts.append($0.changeCount) }
    #expect(counts == [0, 2, 1, 1, 2, 0])
  }

  @Test func aTransactionTellsItsOrigin() throws {
    let store = try store()
    let transaction = try store.transaction(5)
    #expect(transaction.author == "ann")
    #expect(transaction.context == "share")
    #expect(transaction.metadata == ["why": "because"])
    #expect(transaction.processName == "notes")
    #expect(transaction.processID == 1)
    #expect(transaction.changes.map(\.entityName) == ["Note", "Folder"])
    #expect(try store.transaction(1).schemaChange.count == 2)
    #expect(try store.transaction(6).changes.isEmpty)
  }

  @Test func valuesBeforeAndAfterAndTombstones() throws {
    let store = try store()
    let update = try store.transaction(3).changes[0]
    #expect(update.changedProperties == ["text"])
    #expect(update.before("text") == "one" && update.after("text") == "uno")
    #expect(update.before("id").isNull)
    let delete = try store.transaction(4).changes[0]
    #expect(delete.before("text") == "two" && delete.after("text").isNull)
    #expect(delete.tombstone == ["id": "b"])
    #expect(update.tombstone == nil)
  }

  @Test func difference() throws {
    let store = try store()
    let forward = try store.diff(from: 2, to: 5)
    #expect(
      forward.changes.map { "\($0.kind) \($0.entityName)#\($0.objectID.row)" } == [
        "update Note#1", "delete Note#2", "insert Folder#1",
      ])
    #expect(forward.changes[0].before("text") == "one")
    let backward = try store.diff(from: 5, to: 2)
    #expect(
      backward.changes.map { "\($0.kind) \($0.entityName)#\($0.objectID.row)" } == [
        "update Note#1", "insert Note#2", "delete Folder#1",
      ])
    #expect(try store.diff(from: 5).changes.isEmpty)
    #expect(forward.from.number == 2 && forward.to.number == 5)
  }

  @Test func revertRefusesWithWhatLaterTransactionsTouched() throws {
    let store = try store()
    let error = #expect(throws: AnnalsError.self) { try store.revert(2) }
    #expect(error?.code == .conflict)
    let conflicts = try #require(error).conflicts
    #expect(
      Set(conflicts.map { "\($0.objectName).\($0.property ?? "-") \($0.changedBy ?? 0)" }) == [
        "Note/a.text 3", "Note/a.count 5", "Note/b.- 4",
      ])
    #expect(store.token.number == 6)
    try store.revert(3, author: "ann", metadata: ["k": "v"])
    let made = try store.transaction(7)
    #expect(made.metadata == ["reverts": .int(3), "k": "v"])
    #expect(made.changes[0].after("text") == "one")
  }

  @Test func aHistoryIsAsOfWhenItWasMade() throws {
    let store = try store()
    let history = try store.history()
    try store.note("later")
    #expect(try history.collect().count == 6)
    #expect(try store.history().count() == 7)
  }

  @Test func whatIsPrintedSaysWhatItIs() throws {
    let store = try noteStore()
    let note = try store.note("a", text: "Fog", author: "ann")
    try store.write(author: "bob", context: "share") { try $0.update(note, ["text": "Mist"]) }
    let transaction = try store.transaction(3)
    #expect("\(transaction)".hasPrefix("transaction 3  20"))
    #expect("\(transaction)".hasSuffix("Z  bob · share: 1 change"))
    #expect("\(try store.transaction(1))".hasSuffix(": 0 changes and the schema"))
    #expect(
      transaction.changes.map(\.description) == [
        #"update Note#1 text "Fog" → "Mist""#
      ])
    #expect(try store.transaction(2).changes[0].description == #"insert Note/a text "Fog""#)
    let blame = try store.blame(note).map(\.description)
    #expect(blame.first?.hasPrefix(#"id: string("a"), set by transaction 2"#) == true)
    #expect(
      "\([.null, 1, .object(ObjectReference(note)), .data([1, 2])] as [Value])"
        == "[null, int(1), object(entity 1, row 1), data(2 bytes)]")
  }
}
