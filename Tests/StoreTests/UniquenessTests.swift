import Annals
import AnnalsModel
import Testing

@Suite struct UniquenessTests {
  @Test func valuesMayBeSwappedFreedAndTakenWithinATransaction() throws {
    let store = try noteStore()
    let a = try store.note("a")
    let b = try store.note("b")
    try store.write { tx in
      try tx.update(a, ["id": "b"])
      try tx.update(b, ["id": "a"])
    }
    #expect(try store.ids() == ["b", "a"])
    try store.write { tx in
      try tx.insert("Note", ["id": "a", "text": "new"])
      try tx.delete(b)
    }
    let snapshot = store.snapshot()
    #expect(try snapshot.object(of: "Note", where: "id", is: "a")?["text"] == "new")
    #expect(try snapshot.object(of: "Note", where: "id", is: "b")?.objectID == a)
  }

  @Test func aTransactionSeesItsOwnKeys() throws {
    let store = try noteStore()
    let a = try store.note("a")
    try store.write { tx in
      let made = try tx.insert("Note", ["id": "b"])
      #expect(try tx.object(of: "Note", where: "id", is: "b")?.objectID == made)
      try tx.update(a, ["id": "c"])
      #expect(try tx.object(of: "Note", where: "id", is: "a") == nil)
      #expect(try tx.object(of: "Note", where: "id", is: "c")?.objectID == a)
      #expect(try store.snapshot().object(of: "Note", where: "id", is: "a")?.objectID == a)
    }
  }

  @Test func aRuleThatWasRemovedStillAnswersForThePast() throws {
    let store = try noteStore()
    let a = try store.note("a")
    try store.note("b")
    let then = store.token
    try store.write { try $0.update(a, ["id": "c"]) }
    try store.edit(.removeProperty(entity: "Note", "id"))
    let past = try store.snapshot(at: then)
    #expect(try past.object(of: "Note", where: "id", is: "a")?.objectID == a)
    #expect(try past.object(of: "Note", where: "id", is: "c") == nil)
    #expect(throws: AnnalsError.self) {
      try store.snapshot().object(of: "Note", where: "id", is: "c")
    }
  }

  @Test func kindAndBytesDecideAndNilNeverCollides() throws {
    let schema = Schema { Entity("Key") { Attribute("key", .any, isUnique: true) } }
    let store = try Store(.memory, schema: schema)
    let keys: [Value] = [
      .int(1), .bool(true), .string("1"), .double(1.5), .json("1"), .url("1"), .data([49]),
      .string("é"), .string("e\u{301}"), .double(0), .double(0.5), .null, .null,
    ]
    try store.write { tx in for key in keys { try tx.insert("Key", ["key": key]) } }
    for (row, key) in keys.enumerated() where !key.isNull {
      #expect(
        try store.snapshot().object(of: "Key", where: "key", is: key)?.objectID.row
          == Int64(row + 1))
      let error = #expect(throws: AnnalsError.self) {
        try store.write { try $0.insert("Key", ["key": key]) }
      }
      #expect(error?.violations.count == 1)
    }
  }

  @Test func duplicatesAreListed() throws {
    let store = try noteStore()
    try store.note("a")
    let error = #expect(throws: AnnalsError.self) {
      try store.write { tx in
        for id in ["a", "b", "b", "c"] { try tx.insert("Note", ["id": .string(id)]) }
      }
    }
    #expect(error?.code == .invalidChange)
    #expect(error?.violations.map(\.value).contains("a") == true)
    #expect(error?.violations.map(\.value).contains("b") == true)
    #expect(error?.violations.count == 2)
  }

  @Test func aUniqueRuleOverDuplicatesIsRefusedWithTheirList() throws {
    let location = memoryFile()
    let store = try Store(
      location, schema: Schema { Entity("A") { Attribute("x", .string) } }, environment: .fixed())
    try store.write { tx in
      for text in ["p", "q", "p", "p", "r"] { try tx.insert("A", ["x": .string(text)]) }
    }
    let stricter = Schema { Entity("A") { Attribute("x", .string, isUnique: true) } }
    let error = #expect(throws: AnnalsError.self) { try store.require(stricter) }
    #expect(error?.violations.map(\.property) == ["x", "x"])
    #expect(error?.violations.allSatisfy { $0.value == "p" } == true)
    #expect(store.token.number == 2)
    #expect(store.schema.entities[0].attributes[0].isUnique == false)
    try store.write { tx in
      for object in try tx.objects(of: "A") where object.objectID.row > 2 {
        try tx.update(object.objectID, ["x": .string("\(object.objectID.row)")])
      }
    }
    try store.require(stricter)
    #expect(try store.snapshot().object(of: "A", where: "x", is: "4")?.objectID.row == 4)
    #expect(throws: AnnalsError.self) { try store.write { try $0.insert("A", ["x": "q"]) } }
    try store.close()
    let again = try Store(location, creates: false)
    #expect(throws: AnnalsError.self) { try again.write { try $0.insert("A", ["x": "q"]) } }
    #expect(try again.verifyHistory() == [])
  }

  @Test func aKeyOfSeveralProperties() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("A") {
          Attribute("x", .int64)
          Attribute("y", .string)
          IndexDescription("xy", ["x", "y"], isUnique: true)
        }
      })
    try store.write { tx in
      try tx.insert("A", ["x": .int(1), "y": "a"])
      try tx.insert("A", ["x": .int(1), "y": "b"])
      try tx.insert("A", ["x": .int(1)])
      try tx.insert("A", ["x": .int(1)])
    }
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert("A", ["x": .int(1), "y": "b"]) }
    }
    #expect(error?.violations.first?.property == "x, y")
  }

  @Test func lookingUpWhatIsNotUniqueIsRefusedByName() throws {
    let store = try noteStore()
    let error = #expect(throws: AnnalsError.self) {
      try store.snapshot().object(of: "Note", where: "text", is: "x")
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("unique: id") == true)
  }
}
