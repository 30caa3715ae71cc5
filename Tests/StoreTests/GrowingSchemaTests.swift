import AnnalsExchange
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import Annals

/// Schemas that grow one transaction at a time: each costs what it adds.
@Suite struct GrowingSchemaTests {
  private let files = MemoryFileSystem()
  private var location: StoreLocation {
    StoreLocation(fileSystem: files, path: "/growing.annals")
  }

  private func open() throws -> Store {
    try Store(location, environment: .fixed(seed: 1))
  }

  /// A property costs the same bytes wherever it comes, in log and checkpoint.
  @Test func aPropertyCostsWhatItIs() throws {
    let store = try open()
    try store.require(Schema { Entity("Wide") { Attribute("id", .int64, isUnique: true) } })
    var ends = [try logLength()]
    for number in 1000..<1400 {
      try store.require(Schema { Entity("Wide") { Attribute("p\(number)", .string) } })
      if number % 100 == 99 {
        try store.checkpoint()
        ends.append(try logLength())
      }
    }
    let steps = zip(ends.dropFirst(), ends.dropFirst(2)).map { $1 - $0 }
    // A whole definition of 300 properties takes 3,000 bytes, a hundred of them 300,000; a
    // checkpoint has the schema once, and the table of its changes once.
    #expect(steps.allSatisfy { $0 < 40_000 }, "\(steps)")
    try store.close()
    let again = try open()
    #expect(again.schema.entity(named: "Wide")?.attributes.count == 401)
    #expect(try again.verify().isEmpty)
  }

  private func logLength() throws -> Int {
    (try files.contents(of: location.path).lastIndex { $0 != 0 } ?? 0) + 1
  }

  /// Each transaction tells the whole definitions, and the past has its own.
  @Test(arguments: [0, 40])
  func thePastHasItsOwnSchema(width: Int) throws {
    let store = try open()
    var expected: [Int64: [Entity]] = [:]
    func grow(_ body: () throws -> Void) throws {
      try body()
      expected[store.token.number] = store.schema.entities
    }
    try grow {
      try store.require(
        Schema {
          Entity("Note") {
            Attribute("id", .int64, isUnique: true)
            Attribute("text", .string)
            for number in 0..<width { Attribute("n\(number)", .bool) }
            IndexDescription("text", ["text"])
          }
          Entity("Folder") {
            Attribute("name", .string)
            for number in 0..<width { Attribute("f\(number)", .bool) }
          }
        })
    }
    try store.write { tx in try tx.insert("Note", ["id": 1, "text": "one"]) }
    try grow {
      try store.require(
        Schema {
          Entity("Note") { Relationship("folder", to: "Folder") }
          Entity("Folder") { Attribute("color", .int16) }
        })
    }
    try grow { try store.edit(.renameProperty(entity: "Note", "text", to: "title")) }
    try grow { try store.edit(.removeIndex(entity: "Note", "text")) }
    try grow { try store.require(Schema { Entity("Folder") { Attribute("color", .any) } }) }
    try grow { try store.edit(.removeProperty(entity: "Note", "title")) }
    try grow { try store.edit(.renameEntity("Folder", to: "Box")) }
    try grow { try store.require(Schema { Entity("Tag") { Attribute("name", .string) } }) }
    try grow { try store.edit(.removeEntity("Tag")) }
    func compare(_ store: Store, _ what: String) throws {
      for (number, entities) in expected where number >= store.base.number {
        #expect(try store.snapshot(at: number).schema.entities == entities, "\(what), \(number)")
        guard number > store.base.number else { continue }
        let change = try store.transaction(number).schemaChange
        let isWhole = change.allSatisfy { entities.contains($0) }
        #expect(isWhole && !change.isEmpty, "\(what), \(number)")
      }
      #expect(try store.verify().isEmpty, "\(what)")
    }
    try compare(store, "written")
    for number in expected.keys.sorted().reversed() {
      #expect(try store.transaction(number).schema.entities == expected[number])
    }
    try store.checkpoint()
    try store.close()
    try compare(try open(), "opened")
    let compacted = try open()
    try compacted.compact()
    try compare(compacted, "compacted")
    try compacted.prune(compacted.prunePlan(before: 5))
    try compare(compacted, "pruned")
    try compacted.close()
    try compare(try open(), "pruned and opened")
  }

  /// What an import knows of the entities from line to line is forgotten where another program has
  /// changed them in between.
  @Test func anImportSeesWhatAnotherProgramAdds() throws {
    let text = (0..<6).map { line in
      let set = (0...line).map { "\"p\($0)\":\(line)" }.joined(separator: ",")
      return ##"{"changes":[{"op":"insert","entity":"Wide","id":"\##(line)","set":{\##(set)}}]}"##
    }
    let lines = HistoryImport(
      MemorySource(Array(text.joined(separator: "\n").utf8)), into: location,
      options: StoreOptions(), environment: .fixed(seed: 1))
    #expect(try lines.next())
    let other = try open()
    for number in [2, 3] {
      #expect(try lines.next())
      try other.refresh()
      // The import would make it an int64.
      try other.require(Schema { Entity("Wide") { Attribute("p\(number)", .any) } })
    }
    while try lines.next() {}
    try lines.store?.close()
    try other.refresh()
    let wide = try #require(other.schema.entity(named: "Wide"))
    #expect(Set(wide.attributes.map(\.name)).count == wide.attributes.count)
    let types = ["p3", "p4"].map { wide.attribute(named: $0)?.type }
    #expect(types == [.any, .int64])
    // The clocks of the two are not the same; that is noted.
    let findings = try other.verify().filter { $0.severity != .note }
    #expect(findings.isEmpty, "\(findings)")
  }

  /// Each sees what the other added, and adds only its own.
  @Test func twoProgramsGrowItInTurns() throws {
    let (one, two) = (try open(), try open())
    for round in 0..<60 {
      let store = round % 2 == 0 ? one : two
      try store.require(Schema { Entity("Both") { Attribute("p\(round)", .int64) } })
    }
    try one.refresh()
    #expect(one.schema.entity(named: "Both")?.attributes.map(\.name) == (0..<60).map { "p\($0)" })
    #expect(try one.verify().isEmpty)
  }
}
