import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Lines with a schema, imported into a store that has one.
///
/// They once replaced definitions by number: an export whose Person was {last, first} made Ann Lee
/// of a store with {first, last} Lee Ann, and properties of the store's own were gone.
@Suite struct SchemaImportTests {
  private func store(
    _ location: StoreLocation = memoryFile(), seed: UInt64 = 1, _ schema: Schema
  ) throws -> Store {
    try Store(location, schema: schema, environment: .fixed(seed: seed))
  }

  private func person(_ names: String...) -> Schema {
    Schema {
      Entity(
        "Person",
        attributes: [Attribute("id", .string, isOptional: false, isUnique: true)]
          + names.map { Attribute($0, .string) })
    }
  }

  private func lines(_ store: Store, after: Int64? = nil) throws -> Data {
    var lines = Data()
    try store.export(after: after) { lines += $0 }
    return lines
  }

  @discardableResult
  private func copy(_ lines: Data, into store: Store) throws -> ImportSummary {
    var pieces = [lines].makeIterator()
    return try store.import { pieces.next() }
  }

  /// The objects of the newest state, a line each.
  private func state(_ store: Store) throws -> String {
    var text = ""
    try store.snapshot().export { text += String(decoding: $0, as: UTF8.self) }
    return text
  }

  private func requireSound(_ store: Store) throws {
    // Imported transactions may be older than those before them.
    let findings = try store.verify().filter { $0.severity != .note }
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test func propertiesAreMatchedByName() throws {
    let one = try store(seed: 1, person("first", "last"))
    try one.write { try $0.insert("Person", ["id": "1", "first": "Ann", "last": "Lee"]) }
    let two = try store(seed: 2, person("last", "first", "nick"))
    try two.write { try $0.insert("Person", ["id": "2", "first": "Bo", "last": "May"]) }
    let summary = try copy(try lines(two), into: one)
    #expect(
      try state(one) == """
        {"entity":"Person","first":"Ann","id":"1","last":"Lee"}
        {"entity":"Person","first":"Bo","id":"2","last":"May"}

        """)
    #expect(summary.notes == ["added the attribute Person.nick (string)"])
    #expect(one.schema.entities[0].attributes.map(\.name) == ["id", "first", "last", "nick"])
    try requireSound(one)
  }

  @Test func entitiesAreMatchedByName() throws {
    let one = try store(seed: 1, person("first"))
    try one.write { try $0.insert("Person", ["id": "1", "first": "Ann"]) }
    let two = try store(
      seed: 2,
      Schema {
        Entity("Place") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Attribute("town", .string)
          Relationship("owner", to: "Person")
          IndexDescription("byTown", ["town"])
        }
        Entity("Person") {
          Attribute("id", .string, isOptional: false, isUnique: true)
        }
      })
    try two.write { tx in
      let owner = try tx.insert("Person", ["id": "2"])
      try tx.insert("Place", ["id": "a", "town": "Ulm", "owner": .object(ObjectReference(owner))])
    }
    #expect(
      try copy(try lines(two), into: one).notes == [
        "added the entity Place"
      ])
    #expect(
      try state(one) == """
        {"entity":"Person","first":"Ann","id":"1"}
        {"entity":"Person","id":"2"}
        {"entity":"Place","id":"a","owner":"2","town":"Ulm"}

        """)
    #expect(one.schema.entity(named: "Place")?.indexes.map(\.name) == ["byTown"])
    try requireSound(one)
  }

  /// A copy has a property and an index of its own, and takes in what is new again and again.
  @Test(arguments: [false, true]) func whatACopyHasOfItsOwnStays(isSameStore: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("copy.annals")
    let original = try store(.file(folder.path("a.annals")), person("first", "last"))
    try original.write { try $0.insert("Person", ["id": "1", "first": "Ann"]) }
    if isSameStore {
      try original.backup(to: path)
    } else {
      try original.export(to: folder.path("a.jsonl"))
      try Store.import(from: folder.path("a.jsonl"), to: path)
    }
    let copied = try Store(path: path)
    try copied.require(
      Schema {
        Entity("Person") {
          Attribute("stars", .int64)
          IndexDescription("byStars", ["stars"])
        }
        Entity("Own") { Attribute("id", .string, isOptional: false, isUnique: true) }
      })
    try copied.write { tx in
      let ann = try #require(try tx.object(of: "Person", where: "id", is: "1"))
      try tx.update(ann.objectID, ["stars": 5])
      try tx.insert("Own", ["id": "mine"])
    }
    var sent = original.token.number
    for step in 0..<3 {
      try original.require(
        Schema {
          Entity("Person", attributes: [Attribute("more\(step)", .int64)])
          Entity("New\(step)") { Attribute("id", .string, isOptional: false, isUnique: true) }
        })
      try original.write { tx in
        try tx.insert("New\(step)", ["id": "x"])
        try tx.insert("Person", ["id": .string("p\(step)"), "more\(step)": 7])
      }
      try copy(try lines(original, after: sent), into: copied)
      sent = original.token.number
    }
    #expect(
      try state(copied) == """
        {"entity":"New0","id":"x"}
        {"entity":"New1","id":"x"}
        {"entity":"New2","id":"x"}
        {"entity":"Own","id":"mine"}
        {"entity":"Person","first":"Ann","id":"1","stars":5}
        {"entity":"Person","id":"p0","more0":7}
        {"entity":"Person","id":"p1","more1":7}
        {"entity":"Person","id":"p2","more2":7}

        """)
    #expect(copied.schema.entity(named: "Person")?.indexes.map(\.name) == ["byStars"])
    try requireSound(copied)
    // What was once called damaged can be copied and replayed.
    try copied.backup(to: folder.path("again.annals"))
    #expect(try state(Store(path: folder.path("again.annals"))) == state(copied))
  }

  /// A rename is made by number in a copy of the file, and by name elsewhere; a removal by number
  /// alone.
  @Test(arguments: [false, true]) func renamesAndRemovalsInTheLines(isSameStore: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("copy.annals")
    let original = try store(.file(folder.path("a.annals")), person("first", "last", "nick"))
    try original.write { try $0.insert("Person", ["id": "1", "first": "Ann", "nick": "A"]) }
    if isSameStore {
      try original.backup(to: path)
    } else {
      try original.export(to: folder.path("a.jsonl"))
      try Store.import(from: folder.path("a.jsonl"), to: path)
    }
    let sent = original.token.number
    try original.edit(
      .renameProperty(entity: "Person", "first", to: "given"),
      .removeProperty(entity: "Person", "nick"), .renameEntity("Person", to: "Human"))
    try original.write { try $0.insert("Human", ["id": "2", "given": "Bo"]) }
    let copied = try Store(path: path)
    let summary = try copy(try lines(original, after: sent), into: copied)
    let human = try #require(copied.schema.entity(named: "Human"))
    #expect(human.attributes[3].isRemoved == isSameStore)
    #expect(human.attributes.map(\.name) == ["id", "given", "last", "nick"])
    let notes = ["the entity Person is Human now", "Human.first is Human.given now"]
    let kept = "Human.nick was removed where the lines come from; it stays here"
    #expect(summary.notes == notes + (isSameStore ? [] : [kept]))
    #expect(try copied.snapshot().objects(of: "Human").map { $0["given"] } == ["Ann", "Bo"])
    if isSameStore { #expect(copied.schema == original.schema) }
    try requireSound(copied)
  }

  /// An entity is removed, and another gets its name in the same transaction.
  @Test func aRemovedNameIsUsedAgain() throws {
    let one = try store(seed: 1, person("first", "nick"))
    try one.write { try $0.insert("Person", ["id": "1", "first": "Ann", "nick": "A"]) }
    try one.write { tx in
      let nick = [Attribute("nick", .int64)]
      try tx.require(
        Schema(entities: [Entity("Person", attributes: nick)]),
        edits: [.removeProperty(entity: "Person", "nick")])
    }
    try one.write { tx in
      try tx.require(person("given"), edits: [.removeEntity("Person")])
      try tx.insert("Person", ["id": "1", "given": "Bo"])
    }
    let two = try Store(.memory, schema: Schema())
    try copy(try lines(one), into: two)
    #expect(two.schema == one.schema)
    for number in 0...one.token.number {
      var (expected, found) = (Data(), Data())
      try one.snapshot(at: number).export { expected += $0 }
      try two.snapshot(at: number).export { found += $0 }
      #expect(found == expected, "at \(number)")
    }
    try requireSound(two)
  }

  /// What no schema can hold, and what is named on both sides.
  @Test(arguments: [
    (Schema { Entity("Person") { Attribute("first", .int64) } }, "Person.first", "string", "int64"),
    (
      Schema { Entity("Person") { Relationship("first", to: "Person") } }, "Person.first",
      "attribute", "store"
    ),
    (
      Schema {
        Entity("Person") { Attribute("level", .int64, isOptional: false, default: 5) }
      }, "Person.level", "default 1", "lines have 5"
    ),
    (
      Schema { Entity("Person") { Attribute("code", .string, isOptional: false) } }, "Person.code",
      "required", "default"
    ),
  ])
  func whatCannotBeReconciledIsRefused(
    schema: Schema, name: String, first: String, second: String
  ) throws {
    let one = try store(seed: 1, person("first"))
    try one.require(
      Schema {
        Entity("Person") { Attribute("level", .int64, isOptional: false, default: 1) }
      })
    try one.write { try $0.insert("Person", ["id": "1", "first": "Ann"]) }
    let two = try store(seed: 2, schema)
    try two.write(author: "nobody") { try $0.require(person()) }
    let before = one.token
    let error = #expect(throws: AnnalsError.self) { try copy(try lines(two), into: one) }
    #expect(error?.code == .invalidSchema)
    let message = error?.message ?? ""
    for part in [name, first, second, "Nothing was imported"] {
      #expect(message.contains(part), "\(message)")
    }
    #expect(one.token == before)
  }

  @Test func aRenameOntoAnotherPropertyIsRefused() throws {
    let one = try store(seed: 1, person("first", "given"))
    let two = try store(seed: 2, person("first"))
    try two.edit(.renameProperty(entity: "Person", "first", to: "given"))
    let error = #expect(throws: AnnalsError.self) { try copy(try lines(two), into: one) }
    #expect(error?.code == .invalidSchema)
    #expect(error?.message.contains("rename it to \"given\", and the store has both") == true)
  }

  /// A value is read in the type that it was written in, whatever the store's type is.
  @Test func valuesKeepTheirKind() throws {
    let date = Value.date(Timestamp(microseconds: 1_571_767_200_000_000))
    let typed = try store(
      seed: 1,
      Schema {
        Entity("E") {
          Attribute("when", .date, isOptional: false, isUnique: true)
          Attribute("id", .string, isUnique: true)
          Attribute("due", .date)
          Attribute("far", .int16)
          Relationship("next", to: "E")
        }
      })
    try typed.edit(.removeProperty(entity: "E", "id"))
    try typed.write { tx in
      let first = try tx.insert("E", ["when": date, "due": date, "far": 1])
      try tx.update(first, ["next": .object(ObjectReference(first))])
    }
    let loose = try store(
      seed: 2,
      Schema {
        Entity("E") {
          Attribute("id", .string, isUnique: true)
          Attribute("when", .any)
          Attribute("due", .any)
          Attribute("far", .int64)
        }
      })
    try copy(try lines(typed), into: loose)
    let object = try #require(try loose.snapshot().objects(of: "E").first)
    #expect(object["when"] == date && object["due"] == date && object["far"] == 1)
    #expect(object["id"] == .null)
    #expect(object["next"] == .object(ObjectReference(object.objectID)))
  }

  /// A null where the attribute has a default is a null again.
  @Test func nullsStayNulls() throws {
    let schema = Schema {
      Entity("E") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("n", .int64, default: 5)
      }
    }
    let one = try store(seed: 1, schema)
    try one.write { try $0.insert("E", ["id": "a", "n": Value.null]) }
    try one.write { try $0.insert("E", ["id": "b"]) }
    for two in [try Store(.memory, schema: Schema()), try store(seed: 2, schema)] {
      try copy(try lines(one), into: two)
      #expect(try state(two) == state(one))
    }
  }

  /// Each line that changes the schema once had all of it.
  @Test func aLineHasWhatChanged() throws {
    func length(_ count: Int) throws -> Int {
      let store = try Store(.memory, schema: Schema())
      for number in 0..<count {
        try store.write { tx in
          try tx.require(Schema(entities: [Entity("E\(number)")]))
          let wide = [Attribute("a\(number)", .int64), Attribute("b\(number)", .int64)]
          try tx.require(Schema(entities: [Entity("Wide", attributes: wide)]))
        }
      }
      let text = try lines(store)
      let again = try Store(.memory, schema: Schema())
      try copy(text, into: again)
      #expect(again.schema == store.schema)
      #expect(try again.verifyHistory() == [])
      return text.count
    }
    let (some, more) = (try length(100), try length(200))
    #expect(more < some * 5 / 2, "\(some), then \(more)")
  }

  /// An export of an earlier version has the whole schema before each transaction that changes it.
  @Test func olderExportsAreRead() throws {
    let text = #"""
      {"schema":{"entities":[{"name":"E","number":1,"attributes":[\#
      {"name":"a","number":1,"type":"int64"}]}]}}
      {"n":1,"changes":[{"op":"insert","entity":"E","row":1,"set":{"a":1}}]}
      {"schema":{"entities":[{"name":"E","number":1,"nextNumber":4,"attributes":[\#
      {"name":"b","number":1,"type":"int64"},{"name":"c","number":3,"type":"string"}]},\#
      {"name":"F","number":2}]}}
      {"n":2,"changes":[{"op":"update","entity":"E","row":1,"set":{"c":"x"}}]}
      """#
    let store = try Store(.memory, schema: Schema())
    try copy(Data(text.utf8), into: store)
    #expect(store.schema.entities[0].attributes.map(\.number) == [1, 3])
    #expect(try state(store) == "{\"b\":1,\"c\":\"x\",\"entity\":\"E\",\"id\":\"#1\"}\n")
    // A second import of the same lines finds all that they need.
    let own = try Store(
      .memory,
      schema: Schema(entities: [Entity("E", attributes: [Attribute("z", .int64)])]))
    try copy(Data(text.utf8), into: own)
    #expect(try state(own).contains(#""b":1,"c":"x""#))
  }

  @Test(arguments: [
    #"{"schemaChange":{"entities":[]}}"#,
    #"{"schema":{"entities":[]},"store":"x"}"#,
    #"{"schema":{"entities":[]},"n":1}"#,
  ])
  func wrongSchemaLinesAreRefused(line: String) throws {
    let store = try Store(.memory, schema: Schema())
    let error = #expect(throws: AnnalsError.self) { try copy(Data(line.utf8), into: store) }
    #expect(error?.code == .invalidInput && error?.inputPlace?.line == 1)
  }

  @Test(arguments: [
    #"{"name":"E","number":1,"partial":true,"attributes":[{"name":"x","type":"int64"}]}"#,
    #"{"name":"E","number":2,"partial":true}"#, #"{"name":"F"}"#,
    #"{"name":"E","number":1,"partial":true,"droppedIndexes":[7]}"#,
    #"{"name":"E","number":1,"relationships":[{"name":"x","number":9,"to":"E"}]}"#,
    #"{"name":"F","number":2},{"name":"G","number":2}"#,
  ])
  func wrongChangesAreRefused(entity: String) throws {
    let head = #"{"schema":{"entities":[{"name":"E","number":1}]}}"#
    let store = try Store(.memory, schema: Schema())
    let error = #expect(throws: AnnalsError.self) {
      try copy(Data((head + "\n{\"schemaChange\":{\"entities\":[\(entity)]}}").utf8), into: store)
    }
    #expect(error?.code == .invalidInput && error?.inputPlace?.line == 2, "\(error as Any)")
  }

  /// Definitions that no store makes of those before are not adopted by number.
  @Test(arguments: [
    #"{"name":"a","number":1,"type":"string"}"#,
    #"{"name":"b","number":2,"type":"int64","optional":false}"#,
    #"{"name":"a","number":1,"type":"int64","optional":false}"#,
  ])
  func noLineNarrows(attribute: String) throws {
    let text = #"""
      {"schema":{"entities":[{"name":"E","number":1,"attributes":[\#
      {"name":"a","number":1,"type":"int64"}]}]}}
      {"changes":[{"op":"insert","entity":"E","row":1,"set":{"a":1}}]}
      {"schema":{"entities":[{"name":"E","number":1,"attributes":[\#(attribute)]}]}}
      {"changes":[]}
      """#
    let store = try Store(.memory, schema: Schema())
    _ = try? copy(Data(text.utf8), into: store)
    let attribute = try #require(store.schema.entity(named: "E")?.attribute(named: "a"))
    #expect(attribute.number == 1 && attribute.type == .int64 && attribute.isOptional)
    #expect(try store.snapshot().objects(of: "E").map { $0["a"] } == [1])
    #expect(try store.verify() == [])
  }

  /// An update of an erased value to a value that was erased later is recorded again.
  @Test func erasedBeforeAndAfterSurvives() throws {
    let folder = try TemporaryFolder()
    let one = try store(.file(folder.path("a.annals")), person("first", "last"))
    let ann = try one.commit { tx in
      try tx.insert("Person", ["id": "1", "first": "Ann", "last": "Lee"])
    }.value
    try one.write { try $0.update(ann, ["first": "Anna"]) }
    try one.write { try $0.update(ann, ["first": "Annie", "last": "Li"]) }
    try one.erase(ann, properties: ["first"], reason: "asked for")
    try one.export(to: folder.path("a.jsonl"))
    try Store.import(from: folder.path("a.jsonl"), to: folder.path("b.annals"))
    let two = try Store(path: folder.path("b.annals"))
    func history(_ store: Store) throws -> [String] {
      try store.history().collect().map { transaction in
        transaction.changes.map { "\($0.kind) \($0.properties)" }.joined()
      }
    }
    #expect(try history(two) == history(one))
    #expect(try history(two)[1].contains("first"))
    #expect(try two.verify() == [])
    #expect(try lines(two).drop { $0 != 0x0A } == lines(one).drop { $0 != 0x0A })
  }
}
