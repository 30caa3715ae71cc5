import Annals
import AnnalsExchange
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// What an erasure leaves of derived values: nothing that tells of what was erased, in no
/// transaction; and what imports and contexts make of derived values.
@Suite struct DerivedErasureTests {
  private let files = MemoryFileSystem()
  private let store: Store

  private static let schema = Schema {
    Entity("Line") {
      Attribute("title", .string)
      Attribute("key", .string, derived: .normalized("title"))
      Attribute("events", .int64, isOptional: false, default: 0, derived: .count("events2"))
      Attribute("most", .int64, derived: .maximum("events2", of: "amount"))
    }
    Entity("Event") {
      Attribute("amount", .int64)
      Relationship("line", to: "Line", inverse: "events2")
    }
    Entity("List") {
      Relationship("lines", to: "Line", isToMany: true)
      Attribute("all", .int64, derived: .sum("lines", of: "most"))
    }
  }

  init() throws {
    store = try Store(
      StoreLocation(fileSystem: files, path: "/erase.annals"), schema: DerivedErasureTests.schema,
      environment: .fixed())
  }

  private func values(_ object: ObjectID, _ name: String, from number: Int64) throws -> [Value] {
    try (number...store.token.number).map {
      try store.snapshot(at: $0).object(object)?[name] ?? .null
    }
  }

  @Test func whatIsDerivedFromAnErasedTextIsErased() throws {
    let line = try store.write { try $0.insert("Line", ["title": "GEHEIM NEEDLE"]) }
    let first = store.token.number
    try store.write { try $0.update(line, ["title": "Needle Again"]) }
    try store.erase(line, properties: ["title"], reason: "asked")
    #expect(try values(line, "key", from: first).allSatisfy(\.isErased))
    let bytes = try files.contents(of: "/erase.annals")
    for text in ["geheim", "needle", "GEHEIM"] {
      #expect(bytes.firstRange(of: Array(text.utf8)) == nil, "\(text)")
    }
    #expect(try store.problems().isEmpty)
    try store.write { try $0.update(line, ["title": "Open"]) }
    #expect(try store.snapshot().object(line)?["key"] == "open")
    #expect(try store.problems().isEmpty)
  }

  @Test func whatOthersDeriveFromAnErasedValueIsErasedAndComputedAgain() throws {
    let (line, other) = try store.write {
      (try $0.insert("Line", ["title": "a"]), try $0.insert("Line", ["title": "b"]))
    }
    let first = store.token.number
    let list = try store.write {
      try $0.insert("List", ["lines": .objects([ObjectReference(line)])])
    }
    func insert(_ amount: Int64, _ line: ObjectID) throws -> ObjectID {
      try store.write {
        try $0.insert("Event", ["amount": .int(amount), "line": .object(ObjectReference(line))])
      }
    }
    let event = try insert(77, line)
    _ = try insert(5, line)
    try store.write { try $0.update(event, ["line": .object(ObjectReference(other))]) }
    try store.write { try $0.update(event, ["line": .object(ObjectReference(line))]) }
    try store.erase(event, properties: ["amount"], reason: "asked")
    #expect(try store.snapshot().object(line)?["most"] == 5)
    #expect(try store.snapshot().object(list)?["all"] == 5)
    #expect(try store.snapshot().object(line)?["events"] == 2)
    for (object, name) in [(line, "most"), (other, "most"), (list, "all")] {
      let past = try values(object, name, from: first).dropLast()
      #expect(!past.contains(77), "\(name): \(past)")
      #expect(past.allSatisfy { $0.isNull || $0.isErased }, "\(name): \(past)")
    }
    #expect(try store.problems().isEmpty)
    // As a whole, with the count that tells where it was.
    try store.erase(event, reason: "asked")
    #expect(try store.snapshot().object(line)?["events"] == 1)
    #expect(try store.problems().isEmpty)
  }

  @Test func anImportComputesAndKeepsWhatAFunctionMade() throws {
    let source = try derivedStore()
    try source.write { tx in
      let line = try tx.insert(DerivedLine(name: "Röt"))
      try tx.insert(DerivedEvent(title: "e", amount: 3, line: line.reference))
    }
    try source.write { tx in
      for event in try tx.objects(of: DerivedEvent.self) {
        try tx.update(event) { $0.amount = 4 }
      }
    }
    var lines: [UInt8] = []
    _ = try source.export(write: { lines += $0 })
    let reading = HistoryImport(
      MemorySource(lines), into: memoryFile(), options: .deferred, environment: .fixed(seed: 2))
    while try reading.next() {}
    let copy = try #require(reading.store)
    #expect(try copy.snapshot().objects(of: "Event").map { $0["label"] } == ["e: 4"])
    #expect(try copy.snapshot().objects(of: "Line").map { $0["total"] } == [4])
    #expect(try copy.problems().isEmpty)
    #expect(copy.schema.description == source.schema.description)
    // Lines that no export has made cannot do that.
    let insert = #"{"changes":[{"op":"insert","entity":"Event","row":9,"set":{"title":"x"}}]}"#
    let error = #expect(throws: (any Error).self) {
      let more = HistoryImport(MemorySource(Array(insert.utf8)), into: copy)
      while try more.next() {}
    }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("function, version 1"), "\(message)")
  }

  @Test func aContextShowsThemAtTheSave() throws {
    let line = try store.write { try $0.insert("Line", ["title": "Ä"]) }
    let form = try EditingContext(store, author: "ui")
    try form.update(line, ["title": "ÖL"])
    #expect(try form.validate().isEmpty)
    try form.save()
    #expect(try store.snapshot().object(line)?["key"] == "ol")
    try form.update(line, ["key": "set"])
    #expect(try form.validate().map(\.property) == ["key"])
    #expect(throws: AnnalsError.self) { try form.save() }
  }
}
