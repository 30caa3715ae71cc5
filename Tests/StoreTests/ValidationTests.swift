import Annals
import AnnalsFormat
import AnnalsModel
import Foundation
import Testing

@Suite struct ValidationTests {
  private static let schema = Schema {
    Entity("Rule") {
      Attribute("name", .string, isOptional: false, isUnique: true)
      Attribute("small", .int16)
      Attribute("medium", .int32)
      Attribute("number", .double, validation: Validation(minimum: .double(0), maximum: .double(1)))
      Attribute("date", .date, validation: Validation(minimum: .date(Timestamp(microseconds: 0))))
      Attribute("short", .string, validation: Validation(minimumLength: 2, maximumLength: 3))
      Attribute("bytes", .data, validation: Validation(maximumLength: 2))
      Attribute("choice", .string, validation: Validation(oneOf: [.string("a"), .string("b")]))
      Attribute("json", .json)
      Attribute("url", .url)
      Attribute("any", .any)
      Relationship("other", to: "Rule", onDelete: .keep)
      Relationship("others", to: "Other", isToMany: true, onDelete: .keep)
    }
    Entity("Other") { Attribute("key", .string, isUnique: true) }
  }

  /// The rules that the error names, by property.
  private func violations(of body: (WriteTransaction) throws -> Void) throws -> [String] {
    let store = try Store(.memory, schema: ValidationTests.schema, environment: .fixed())
    let before = store.token
    let error = #expect(throws: AnnalsError.self) { try store.write(body) }
    #expect(error?.code == .invalidChange)
    #expect(store.token == before)
    #expect(try store.snapshot().count(of: "Rule") == 0)
    return (error?.violations ?? []).map { "\($0.property) \($0.rule)" }.sorted()
  }

  /// The lines of the error that the transaction is refused with.
  private func messages(
    of store: Store, _ body: (WriteTransaction) throws -> Void
  ) throws -> [String] {
    let error = #expect(throws: AnnalsError.self) { try store.write(body) }
    return (error?.violations ?? []).map(\.description)
  }

  @Test func allViolationsOfATransactionAreInOneError() throws {
    let found = try violations { tx in
      try tx.insert("Rule", ["small": .int(40_000), "short": .string("x")])
      try tx.insert("Rule", ["name": .string("b"), "number": .double(2), "url": .url("")])
      try tx.insert("Rule", ["name": .string("c"), "choice": .string("z")])
    }
    #expect(found.count == 6)
    #expect(found.first?.hasPrefix("choice oneOf") == true)
    let late = try violations { tx in
      let other = try tx.insert("Other")
      try tx.delete(other)
      try tx.insert("Rule")
      try tx.insert(
        "Rule", ["name": .string("b"), "other": .object(ObjectReference(entity: 1, row: 99))])
      try tx.insert(
        "Rule", ["others": .objects([ObjectReference(other)])])
    }
    #expect(late.count == 4)
    #expect(late.filter { $0.hasPrefix("name required") }.count == 2)
    #expect(late.filter { $0.hasPrefix("other") && $0.contains("existing") }.count == 2)
  }

  /// What no reader would take must not be written, in metadata as in objects.
  @Test func metadataIsWhatAFileCanHold() throws {
    let store = try Store(.memory, schema: ValidationTests.schema, environment: .fixed())
    let before = store.token
    let large = Value.large(LargeValue(tag: .data, number: 1, length: 5000, checksum: 0))
    for value in [Value.double(.nan), .double(-.infinity), large] {
      let error = #expect(throws: AnnalsError.self) {
        try store.write(metadata: ["fine": .int(1), "odd": value]) { try $0.insert("Other") }
      }
      #expect(error?.code == .invalidChange)
      #expect(error?.message.contains("metadata `odd`") == true)
    }
    let keys = (0...FormatLimits.maximumChanges).map { String($0, radix: 36) }
    let many = Dictionary(uniqueKeysWithValues: keys.map { ($0, Value.null) })
    let error = #expect(throws: AnnalsError.self) {
      try store.write(metadata: many) { try $0.insert("Other") }
    }
    #expect(error?.code == .tooLarge)
    #expect(store.token == before)
    try store.write(metadata: ["odd": .double(.greatestFiniteMagnitude)]) {
      try $0.insert("Other")
    }
    #expect(store.token != before)
  }

  @Test(arguments: [
    ("small", Value.int(40_000), "range"), ("medium", .int(1 << 40), "range"),
    ("small", .string("1"), "type"), ("number", .double(1.5), "maximum"),
    ("number", .double(-0.5), "minimum"), ("number", .double(.nan), "finite"),
    ("number", .double(.infinity), "finite"), ("number", .int(1), "type"),
    ("date", .date(Timestamp(microseconds: -1)), "minimum"),
    ("short", .string("x"), "minimumLength"), ("short", .string("xxxx"), "maximumLength"),
    ("bytes", .data([1, 2, 3]), "maximumLength"), ("choice", .string("c"), "oneOf"),
    ("json", .json("{"), "json"), ("url", .url(""), "url"),
    ("any", .object(ObjectReference(entity: 1, row: 1)), "type"),
    ("any", .double(.nan), "finite"), ("nothing", .int(1), "knownProperty"),
    ("other", .int(1), "relationship"),
    ("others", .object(ObjectReference(entity: 1, row: 1)), "relationship"),
    ("other", .object(ObjectReference(entity: 2, row: 1)), "destination"),
    ("name", .string(String(repeating: "x", count: 4_097)), "uniqueLength"),
  ])
  func eachRule(property: String, value: Value, rule: String) throws {
    let found = try violations { tx in
      var values: [String: Value] = ["name": .string("a")]
      values[property] = value
      try tx.insert("Rule", values)
    }
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("\(property) \(rule)") == true, "\(found)")
  }

  @Test func theMessageSaysWhereAndWhat() throws {
    let store = try Store(.memory, schema: ValidationTests.schema)
    let error = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert("Rule", ["name": "a", "small": .int(40_000)]) }
    }
    #expect(error?.message.contains("Rule/a.small: 40000 is not within -32768...32767") == true)
    var other: ObjectID?
    try store.write { tx in
      other = try tx.insert("Other", ["key": "o"])
      try tx.insert("Rule", ["name": "b"])
    }
    let target = ObjectReference(try #require(other))
    let messages = try messages(of: store) { tx in
      let made = try tx.insert("Rule", ["name": "b"])
      try tx.update(made, ["small": .int(40_000)])
      let gone = try tx.insert("Other", ["key": "p"])
      try tx.delete(gone)
      let late = try tx.insert("Rule", ["others": .objects([ObjectReference(gone)])])
      try tx.update(late, ["name": "late", "other": .object(target)])
      try tx.delete(ObjectID(store: store.token.store, entity: target.entity, row: target.row))
      try tx.insert("Rule", ["name": "last", "others": .objects([target])])
    }
    #expect(
      messages == [
        "Rule/b.name: \"b\" is taken by Rule#1",
        "Rule/b.small: 40000 is not within -32768...32767",
        "Rule/late.other: Other/o is not of entity Rule",
        "Rule/late.others: there is no object Other#2",
        "Rule/last.others: there is no object Other/o",
      ])
    let unknown = #expect(throws: AnnalsError.self) { try store.write { try $0.insert("Nothing") } }
    #expect(unknown?.message.contains("it has Rule, Other") == true)
  }

  @Test func whatIsNotThereCannotBeChanged() throws {
    let store = try noteStore()
    let id = try store.note("a")
    try store.write { try $0.delete(id) }
    for body in [
      { try $0.delete(id) }, { try $0.update(id, ["text": "x"]) },
    ] as [(WriteTransaction) throws -> Void] {
      let error = #expect(throws: AnnalsError.self) { try store.write(body) }
      #expect(error?.code == .noSuchObject)
    }
    #expect(store.token.number == 3)
    let foreign = #expect(throws: AnnalsError.self) {
      try store.write { try $0.delete(ObjectID(store: .zero, entity: 1, row: 1)) }
    }
    #expect(foreign?.message.contains("is one of store 00000000-") == true)
  }
}
