import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// A to-one relationship of a schema by names that every object has, through all that writes.
@Suite struct RequiredRelationshipTests {
  private static func schema(isOptional: Bool = false) -> Schema {
    Schema {
      Entity("Line") { Attribute("id", .string, isOptional: false, isUnique: true) }
      Entity("Stop") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("name", .string)
        Relationship("line", to: "Line", isOptional: isOptional)
      }
    }
  }

  /// A store with the line `red` and the stop `a` on it.
  private func store(
    _ location: StoreLocation = memoryFile(), isOptional: Bool = false, seed: UInt64 = 1
  ) throws -> (Store, line: ObjectID, stop: ObjectID) {
    let store = try Store(
      location, schema: RequiredRelationshipTests.schema(isOptional: isOptional),
      environment: .fixed(seed: seed))
    let (line, stop) = try store.write { tx in
      let line = try tx.insert("Line", ["id": "red"])
      let stop = try tx.insert(
        "Stop", ["id": "a", "line": .object(ObjectReference(line))])
      return (line, stop)
    }
    return (store, line, stop)
  }

  private func refused(_ body: () throws -> Void) -> [String]? {
    let error = #expect(throws: AnnalsError.self) { try body() }
    #expect(error?.code == .invalidChange)
    return error?.violations.map(\.description)
  }

  private func missing(_ key: String) -> [String] {
    ["Stop/\(key).line: a value is required; give it one, or declare it optional"]
  }

  private func isOptional(_ store: Store) -> Bool? {
    store.schema.entity(named: "Stop")?.relationship(named: "line")?.isOptional
  }

  @Test func nothingLeavesItEmpty() throws {
    let (store, line, stop) = try store()
    #expect(
      refused { try store.write { try $0.insert("Stop", ["id": "b"]) } } == missing("b"))
    #expect(
      refused { try store.write { try $0.insert("Stop", ["id": "b", "line": .null]) } }
        == missing("b"))
    #expect(
      refused { try store.write { try $0.update(stop, ["line": .null]) } } == missing("a"))
    #expect(
      refused { try store.write { try $0.update(stop, ["line": .null, "name": "x"]) } }
        == missing("a"))
    // What is set before the end of the transaction counts.
    try store.write { tx in
      let made = try tx.insert("Stop", ["id": "b"])
      try tx.update(made, ["line": .object(ObjectReference(line))])
      try tx.delete(made)
    }
    let before = store.snapshot().token
    try store.write { try $0.update(stop, ["name": "x"]) }
    #expect(
      refused {
        try store.write(basedOn: before, merging: .ownWins) {
          try $0.update(stop, ["line": .null])
        }
      } == missing("a"))
    var pieces = [Data(#"{"changes":[{"op":"insert","entity":"Stop","id":"c"}]}"#.utf8)]
    #expect(refused { try store.import { pieces.popLast() } } == missing("c"))
    #expect(try store.snapshot().count(of: "Stop") == 1)
    #expect(try store.problems().isEmpty)
  }

  @Test func aRevertThatWouldEmptyItIsRefused() throws {
    let (store, line, _) = try store(isOptional: true)
    let bare = try store.write { try $0.insert("Stop", ["id": "b"]) }
    try store.write { try $0.update(bare, ["line": .object(ObjectReference(line))]) }
    let filled = store.token
    try store.require(RequiredRelationshipTests.schema())
    #expect(refused { try store.revert(filled) } == missing("b"))
  }

  @Test func itIsNarrowedWithTheValuesOfTheTransaction() throws {
    let (store, line, _) = try store(isOptional: true)
    let bare = try store.write { try $0.insert("Stop", ["id": "b"]) }
    let schema = RequiredRelationshipTests.schema()
    #expect(refused { try store.require(schema) } == missing("b"))
    #expect(isOptional(store) == true)
    #expect(
      refused {
        try store.write { tx in
          try tx.require(schema)
          try tx.insert("Stop", ["id": "c"])
        }
      }?.sorted() == missing("b") + missing("c"))
    try store.write { tx in
      try tx.require(schema)
      try tx.update(bare, ["line": .object(ObjectReference(line))])
    }
    #expect(isOptional(store) == false)
    let number = store.token.number
    try store.require(schema)
    #expect(store.token.number == number)
    try store.require(RequiredRelationshipTests.schema(isOptional: true))
    #expect(isOptional(store) == true)
    #expect(store.token.number == number + 1)
  }

  @Test func aSchemaWithItIsSaidAndChecked() throws {
    let (store, _, _) = try store()
    #expect(store.schema.description.contains("\n  line: Line, required"))
    let wrong = #expect(throws: AnnalsError.self) {
      try store.require(
        Schema {
          Entity("Line")
          Entity("Stop") {
            Relationship("others", to: "Line", isOptional: false, isToMany: true)
          }
        })
    }
    #expect(wrong?.schemaConflicts.map(\.kind) == [.incompatibleRelationship])
    let added = #expect(throws: AnnalsError.self) {
      try store.require(
        Schema {
          Entity("Line")
          Entity("Stop") { Relationship("former", to: "Line", isOptional: false) }
        })
    }
    #expect(added?.schemaConflicts.map(\.kind) == [.missingDefault])
  }

  @Test func everyFormOfTheFileKeepsIt() throws {
    let location = memoryFile()
    let (store, _, stop) = try store(location)
    for number in 0..<40 { try store.write { try $0.update(stop, ["name": .string("\(number)")]) } }
    try store.checkpoint()
    try store.close()
    let again = try Store(location, environment: .fixed(seed: 2))
    #expect(isOptional(again) == false)
    #expect(try again.compact().isRewritten)
    #expect(isOptional(again) == false)
    try again.prune(try again.prunePlan(before: again.token.number - 1))
    #expect(isOptional(again) == false)
    try again.edit(.renameProperty(entity: "Stop", "line", to: "route"))
    try again.close()
    let last = try Store(location, options: .readOnly)
    #expect(last.schema.entity(named: "Stop")?.relationship(named: "route")?.isOptional == false)
    #expect(try last.problems().isEmpty)
  }

  @Test func linesHaveItAndDoNotNarrow() throws {
    let (store, _, _) = try store(isOptional: true)
    try store.require(RequiredRelationshipTests.schema())
    var lines = Data()
    try store.export { lines += $0 }
    #expect(String(decoding: lines, as: UTF8.self).contains(#""to":"Line","optional":false"#))
    func copy(into other: Store) throws -> ImportSummary {
      var pieces = [lines].makeIterator()
      return try other.import { pieces.next() }
    }
    let new = try Store(memoryFile(), environment: .fixed(seed: 7))
    _ = try copy(into: new)
    #expect(isOptional(new) == false)
    // One that has another history takes the objects, and leaves its rule as it is.
    let other = try Store(
      memoryFile(), schema: RequiredRelationshipTests.schema(isOptional: true),
      environment: .fixed(seed: 8))
    try other.write { try $0.insert("Stop", ["id": "z"]) }
    _ = try copy(into: other)
    #expect(isOptional(other) == true)
    #expect(try other.snapshot().count(of: "Stop") == 2)
    let before = store.schema
    try store.require(RequiredRelationshipTests.schema(isOptional: true))
    #expect(
      store.schema.growth(since: before)
        == ["Stop.line is on delete deny now; it was required, on delete deny"])
    #expect(
      before.growth(since: store.schema)
        == ["Stop.line is required, on delete deny now; it was on delete deny"])
  }
}
