import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

private struct Person: Record {
  var first: String
  var last: String
  var name = ""
  static let entity = RecordEntity(
    "Person", Person.init, Property("first", \.first), Property("last", \.last),
    Property("name", \.name).derived(version: 1, from: \.first, \.last) { "\($0) \($1)" })
}

private struct NewerPerson: Record {
  var first: String
  var last: String
  var name = ""
  static let entity = RecordEntity(
    "Person", NewerPerson.init, Property("first", \.first), Property("last", \.last),
    Property("name", \.name).derived(version: 2, from: \.first, \.last) { "\($1), \($0)" })
}

/// How derived attributes come to a store, change and go, and who may write.
@Suite struct DerivedSchemaTests {
  private let file = memoryFile()

  private func open(_ records: any Record.Type...) throws -> Store {
    let store = try Store(file, creates: true, environment: .fixed())
    try store.require(records)
    return store
  }

  private func names(_ store: Store) throws -> [Value] {
    try store.snapshot().objects(of: "Person").map { $0["name"] }
  }

  @Test func aNewerVersionComputesAllAnewAndAnOlderOneCannotWrite() throws {
    var store = try open(Person.self)
    let ann = try store.write { try $0.insert(Person(first: "Ann", last: "Lee")) }
    #expect(try names(store) == ["Ann Lee"])
    try store.close()
    store = try open(NewerPerson.self)
    #expect(try names(store) == ["Lee, Ann"])
    let count = store.token.number
    try store.close()
    store = try open(Person.self)
    #expect(store.token.number == count)
    #expect(try store.snapshot().object(Person.self, ann.objectID)?.name == "Lee, Ann")
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.set(\.first, of: ann, to: "Anna") }
    }
    #expect(error?.code == .invalidChange)
    #expect(
      error?.message.contains(
        "Person#1.name is computed by the program's function, version 2") == true)
    #expect(error?.message.contains("this one has version 1") == true)
    try store.write { try $0.delete(ann) }
    #expect(try store.problems().isEmpty)
    try store.close()
  }

  @Test func aProgramWithoutTheFunctionChangesNothingThatItReads() throws {
    var store = try open(Person.self)
    try store.require(Schema { Entity("Person") { Attribute("age", .int64) } })
    let ann = try store.write { try $0.insert(Person(first: "Ann", last: "Lee")) }.objectID
    try store.close()
    store = try Store(file, creates: false, environment: .fixed())
    let bodies: [(WriteTransaction) throws -> Void] = [
      { try $0.update(ann, ["first": "Anna"]) },
      { try $0.insert("Person", ["first": "Ben", "last": "Ray"]) },
    ]
    for body in bodies {
      let error = #expect(throws: AnnalsError.self) { try store.write(body) }
      #expect(error?.code == .invalidChange)
      #expect(error?.message.contains("function, version 1") == true)
    }
    try store.write { try $0.update(ann, ["age": 5]) }
    try store.write { try $0.delete(ann) }
    try store.close()
  }

  @Test func anAttributeIsFilledWhenItIsAddedAndWhenItChanges() throws {
    let plain = Schema {
      Entity("Line") { Attribute("title", .string) }
      Entity("Event") {
        Attribute("amount", .int64)
        Relationship("line", to: "Line", onDelete: .keep)
      }
    }
    let store = try Store(file, schema: plain, environment: .fixed())
    try store.write { tx in
      for number in 0..<9_000 {
        let line = try tx.insert("Line", ["title": .string("LINE \(number)")])
        for amount in 0..<(number % 3) {
          try tx.insert(
            "Event",
            ["amount": .int(Int64(amount + 1)), "line": .object(ObjectReference(line))])
        }
      }
    }
    let derived = Schema {
      Entity("Line") {
        Attribute("key", .string, isUnique: true, derived: .normalized("title"))
        Attribute(
          "events", .int64, isOptional: false, derived: .count("^Event.line"))
        Attribute("total", .int64, derived: .sum("^Event.line", of: "amount"))
      }
    }
    let before = store.token.number
    try store.require(derived)
    #expect(store.token.number == before + 1)
    let lines = try store.snapshot().objects(of: "Line")
    #expect(lines.allSatisfy { $0["title"].isNull == $0["key"].isNull })
    #expect(lines[5]["key"] == "line 5")
    #expect(lines.prefix(5).map { $0["events"] } == [0, 1, 2, 0, 1])
    #expect(lines.prefix(5).map { $0["total"] } == [0, 1, 3, 0, 1])
    #expect(try store.problems().isEmpty)
    // A relationship without a rule or an inverse keeps an index for them.
    #expect(store.schema.entity(named: "Event")?.relationships[0].isIndexed == true)
    try store.require(derived)
    #expect(store.token.number == before + 1)
    try store.require(
      Schema {
        Entity("Line") {
          Attribute("total", .int64, derived: .maximum("^Event.line", of: "amount"))
        }
      })
    #expect(try store.snapshot().objects(of: "Line")[2]["total"] == 2)
    try store.close()
  }

  @Test func aDeclarationWithoutOneChangesNothingAndRemovedEndsIt() throws {
    let store = try Store(file, creates: true, environment: .fixed())
    func declare(_ derivation: Derivation?) throws {
      try store.require(
        Schema {
          Entity("Line") {
            Attribute("title", .string)
            Attribute("key", .string, derived: derivation)
          }
        })
    }
    try declare(.normalized("title"))
    let line = try store.write { try $0.insert("Line", ["title": "A"]) }
    try declare(nil)
    try store.write { try $0.update(line, ["title": "B"]) }
    #expect(try store.snapshot().object(line)?["key"] == "b")
    try declare(.removed)
    try store.write { try $0.update(line, ["title": "C", "key": "own"]) }
    #expect(try store.snapshot().object(line)?["key"] == "own")
    // A revert of what was derived then is of ordinary values now.
    try declare(.normalized("title"))
    #expect(try store.snapshot().object(line)?["key"] == "c")
  }

  @Test func impossibleDerivationsAreRefused() throws {
    let store = try Store(file, creates: true, environment: .fixed())
    let cases: [(Attribute, String)] = [
      (Attribute("x", .int64, derived: .count("evens")), "no to-many relationship or inverse"),
      (Attribute("x", .string, derived: .count("lines")), "is of type int64, not string"),
      (Attribute("x", .int64, derived: .sum("lines", of: "title")), "is of type string"),
      (Attribute("x", .int64, derived: .sum("lines", of: "titel")), "did you mean"),
      (Attribute("x", .int64, derived: .count("next")), "is to-one"),
      (Attribute("x", .string, derived: .normalized("number")), "a text is normalized"),
      (Attribute("x", .string, derived: .normalized("x")), "derived from itself"),
      (Attribute("x", .int64, derived: .sum("lines", of: "y")), "Line.x, Line.y, Line.x"),
      (
        Attribute("x", .int64, isOptional: false, derived: .maximum("lines", of: "number")),
        "declare it optional"
      ),
    ]
    for (attribute, reason) in cases {
      let error = #expect(throws: AnnalsError.self, "\(reason)") {
        try store.require(
          Schema {
            Entity("Line") {
              Attribute("title", .string)
              Attribute("number", .int64)
              attribute
              Attribute("y", .int64, derived: .sum("lines", of: "x"))
              Relationship("lines", to: "Line", isToMany: true)
              Relationship("next", to: "Line")
            }
          })
      }
      #expect(error?.code == .invalidSchema)
      let message = error?.message ?? ""
      #expect(message.contains(reason), "\(message)")
    }
  }

  @Test func whatIsReadCannotBeRemovedAndARenameKeepsIt() throws {
    let store = try Store(
      file,
      schema: Schema {
        Entity("Line") {
          Attribute("title", .string)
          Attribute("key", .string, derived: .normalized("title"))
        }
      }, environment: .fixed())
    let error = #expect(throws: AnnalsError.self) {
      try store.edit(.removeProperty(entity: "Line", "title"))
    }
    #expect(error?.message.contains("Line.key") == true)
    try store.edit(.renameProperty(entity: "Line", "title", to: "heading"))
    let line = try store.write { try $0.insert("Line", ["heading": "A"]) }
    #expect(try store.snapshot().object(line)?["key"] == "a")
    #expect(store.schema.description.contains("key: string, derived normalized(heading)"))
    try store.edit(
      .removeProperty(entity: "Line", "key"), .removeProperty(entity: "Line", "heading"))
    try store.write { _ = try $0.insert("Line") }
    #expect(try store.problems().isEmpty)
  }
}
