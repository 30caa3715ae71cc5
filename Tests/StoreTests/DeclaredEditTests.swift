import Annals
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Programs declare their edits in every run, and each is made once.
///
/// The names alone used to decide whether an edit was done: where a program gave the old name to a
/// new property, the second run renamed that one and read nil. A property that was removed and
/// added again could never be removed again, and a rename did nothing where both names existed.
@Suite struct DeclaredEditTests {
  private static let old = Schema { Entity("Visit") { Attribute("when", .string) } }
  private static let new = Schema { Entity("Visit") { Attribute("when", .date) } }
  private static let noon = Value.date(Timestamp(microseconds: 43_200_000_000))

  /// One run of a program that made its text `when` a date.
  private func run(_ location: StoreLocation, seed: UInt64 = 1) throws -> Store {
    let store = try Store(location, creates: true, environment: .fixed(seed: seed))
    try store.edit(.renameProperty(entity: "Visit", "when", to: "whenText"))
    try store.require(DeclaredEditTests.new)
    try store.write { tx in
      for visit in try tx.objects(of: "Visit")
      where visit["when"].isNull && visit["whenText"] == "noon" {
        try tx.update(visit.objectID, ["when": DeclaredEditTests.noon])
      }
    }
    try store.edit(.removeProperty(entity: "Visit", "whenText"))
    return store
  }

  /// What two runs of the program leave, and a visit that an older program wrote between them.
  private func runTwice(_ location: StoreLocation) throws -> Store {
    let first = try Store(location, schema: DeclaredEditTests.old, environment: .fixed())
    try first.write { try $0.insert("Visit", ["when": "noon"]) }
    try first.close()
    let second = try run(location, seed: 2)
    #expect(
      try second.snapshot().objects(of: "Visit").map { $0["when"] } == [DeclaredEditTests.noon])
    try second.close()
    return try run(location, seed: 3)
  }

  @Test func aSecondRunMovesNothingAway() throws {
    let location = memoryFile()
    let store = try runTwice(location)
    #expect(
      try store.snapshot().objects(of: "Visit").map { $0["when"] } == [DeclaredEditTests.noon])
    #expect(store.schema.entity(named: "Visit")?.attributes.count { !$0.isRemoved } == 1)
    #expect(store.token.number == 6)
    #expect(try store.verifyHistory() == [])
  }

  @Test(arguments: ["prune", "compact", "smallest", "replay", "flatten", "salvage"])
  func whateverRewritesTheStoreRemembersThem(_ way: String) throws {
    let files = MemoryFileSystem()
    var location = StoreLocation(fileSystem: files, path: "/test.annals")
    let store = try runTwice(location)
    let other = StoreLocation(fileSystem: files, path: "/other.annals")
    switch way {
    case "prune": try store.prune(store.prunePlan(before: store.token))
    case "compact": try store.compact()
    case "smallest": try store.compact(smallest: true)
    case "replay", "flatten":
      try store.replay(to: other.path, at: store.token.number, flatten: way == "flatten")
      location = other
    default: break
    }
    try store.close()
    if way == "salvage" {
      _ = try Store.salvage(location, to: other.path, environment: .fixed(seed: 9))
      location = other
    }
    let again = try run(location, seed: 4)
    #expect(
      try again.snapshot().objects(of: "Visit").map { $0["when"] } == [DeclaredEditTests.noon])
  }

  @Test func whatWasRemovedAndAddedAgainIsRemovedAgain() throws {
    let location = memoryFile()
    let schema = Schema {
      Entity("Visit") {
        Attribute("id", .int64)
        Attribute("note", .string)
      }
      Entity("Tag") { Attribute("name", .string) }
    }
    let edits: [SchemaEdit] = [
      .removeProperty(entity: "Visit", "note"), .removeEntity("Tag"),
    ]
    let store = try Store(location, schema: schema, environment: .fixed())
    #expect(try store.edit(edits[0], edits[1]) == edits)
    try store.require(schema)
    try store.write { try $0.insert("Visit", ["note": "a"]) }
    #expect(try store.edit(edits[0], edits[1]) == edits)
    #expect(store.schema.liveEntities.map(\.name) == ["Visit"])
    #expect(try store.snapshot().objects(of: "Visit")[0].values.isEmpty)
    // A run that adds it itself and then removes it means that.
    try store.close()
    let again = try Store(location, schema: schema, environment: .fixed(seed: 2))
    #expect(again.schema.entity(named: "Visit")?.attribute(named: "note") != nil)
    #expect(try again.edit(edits[0], edits[1]) == edits)
    #expect(again.schema.liveEntities.map(\.name) == ["Visit"])
    try again.close()
    // A run that only declares its edits finds them made, also where an older program has been.
    _ = try Store(location, schema: schema, environment: .fixed(seed: 3))
    let third = try Store(location, creates: false, environment: .fixed(seed: 4))
    #expect(try third.edit(edits[0], edits[1]) == [])
    #expect(third.schema.liveEntities.map(\.name) == ["Visit", "Tag"])
  }

  @Test func aRenameWhereBothNamesExistIsRefused() throws {
    let schema = Schema {
      Entity("Visit") {
        Attribute("title", .string)
        Attribute("name", .string)
      }
      Entity("Page") {}
      Entity("Sheet") {}
    }
    let store = try Store(.memory, schema: schema, environment: .fixed())
    for (old, new) in [("name", "title"), ("title", "name")] {
      let error = #expect(throws: AnnalsError.self) {
        try store.edit(.renameProperty(entity: "Visit", old, to: new))
      }
      #expect(error?.code == .invalidSchema)
      #expect(
        error?.message.contains(
          "Visit.\(old): a rename to \"\(new)\" is declared, and the store has both names: "
            + "\"\(old)\" (number \(old == "title" ? 1 : 2)) and \"\(new)\" (number ") == true)
    }
    let error = #expect(throws: AnnalsError.self) {
      try store.edit(.renameEntity("Sheet", to: "Page"))
    }
    #expect(error?.schemaConflicts.map(\.kind) == [.ambiguousRename])
    #expect(store.token.number == 1)
  }

  /// A store that the newer program made never had the older names; the older program adds them.
  @Test func anOlderProgramOnAStoreOfTheNewerOneChangesNothingForIt() throws {
    let location = memoryFile()
    _ = try Store(location, records: LaterVisit.self, environment: .fixed())
    let older = try Store(location, records: Visit.self, environment: .fixed(seed: 2))
    try older.write { try $0.insert(Visit(name: "a")) }
    let newer = try Store(location, records: LaterVisit.self, environment: .fixed(seed: 3))
    #expect(try newer.snapshot().objects(of: LaterVisit.self).map(\.title) == [nil])
    #expect(newer.token.number == older.token.number)
  }
}

private struct Visit: Record {
  var name: String?
  static let entity = RecordEntity("Visit", Visit.init, Property("name", \.name))
}

private struct LaterVisit: Record {
  var title: String?
  static let entity = RecordEntity(
    "Visit", LaterVisit.init, Property("title", \.title).renamed(from: "name"))
}
