import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What only a later version knows of an entity's definition: extension areas, a rule and an index.
/// Whatever writes the definition anew keeps it.
@Suite struct EntityExtensionTests {
  private static let extensions: ContiguousArray<UInt8> = [5, 3, 1, 2, 3, 9, 0]

  /// A store of notes, and then a transaction that gives the definition of notes an extension area.
  private func extended(_ location: StoreLocation) throws {
    let store = try noteStore(location)
    for number in 1...3 { try store.note("n\(number)") }
    var note = try #require(store.schema.entity(named: "Note"))
    note.extensions = EntityExtensionTests.extensions
    note.attributes[0].extensions = EntityExtensionTests.extensions
    note.attributes[0].validation.laterFlags = 0x80
    note.attributes[0].validation.laterRules = [1, 2]
    var index = IndexDescription("later", [])
    index.number = note.nextPropertyNumber
    index.laterDefinition = [0x84, 0, 7]
    note.indexes.append(index)
    note.nextPropertyNumber += 1
    try store.close()
    let draft = TransactionEnvelope(
      timestamp: Timestamp(microseconds: 2_000_000_000_000_000), schemaChange: [EntityChange(note)])
    try LogFile.write(to: location.path, in: location.fileSystem) { log in
      var batch = ChangeBatch()
      _ = try log.append(draft, &batch)
    }
  }

  /// What the log, the state and the newest checkpoint say of notes and of folders.
  private func expect(
    _ store: Store, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let view = store.version.view
    var schemas = [view.schema, store.version.state.schema, store.schema]
    schemas.append(view.schema(at: view.head.number))
    if let directory = try view.checkpoint(atOrBefore: view.head.number), directory.number > 4 {
      schemas.append(directory.schema)
    }
    for schema in schemas {
      let note = try #require(schema.entities.first { $0.number == 1 })
      #expect(note.extensions == EntityExtensionTests.extensions, sourceLocation: sourceLocation)
      let id = note.attributes[0]
      #expect(id.extensions == EntityExtensionTests.extensions, sourceLocation: sourceLocation)
      #expect(id.validation.laterRules == [1, 2], sourceLocation: sourceLocation)
      #expect(
        note.indexes.map(\.laterDefinition) == [[0x84, 0, 7]], sourceLocation: sourceLocation)
      #expect(schema.entities.dropFirst().allSatisfy { $0.extensions.isEmpty })
    }
  }

  @Test func everythingThatWritesADefinitionKeepsThem() throws {
    let location = memoryFile()
    try extended(location)
    let grown = Schema {
      Entity("Note") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("pages", .int64)
        Attribute("count", .any)
      }
    }
    // They are no difference that a program's schema would make up for.
    var store = try noteStore(location)
    #expect(store.token.number == 5)
    try expect(store)
    try store.close()
    store = try Store(location, schema: grown, environment: .fixed(seed: 2))
    #expect(store.token.number == 6)
    try expect(store)
    let text = String(repeating: "a long text ", count: 400)
    for number in 4...20 { try store.note("n\(number)", text: "\(text)\(number)") }
    try store.edit(.removeProperty(entity: "Note", "text"))
    try store.edit(.renameEntity("Note", to: "Page"))
    try expect(store)
    try store.checkpoint()
    try store.close()
    store = try Store(location, environment: .fixed(seed: 3))
    try expect(store)
    #expect(try store.compact().isRewritten)
    try expect(store)
    try store.prune(try store.prunePlan(before: store.token.number - 1))
    try expect(store)
    try store.edit(.removeProperty(entity: "Folder", "notes"), .removeEntity("Page"))
    try store.close()
    store = try Store(location, environment: .fixed(seed: 4))
    try expect(store)
    #expect(try store.problems().isEmpty)
    #expect(try location.fileSystem.findings(about: location.path).isEmpty)
  }

  @Test func otherStoresMadeOfItHaveThem() throws {
    let location = memoryFile()
    try extended(location)
    let store = try noteStore(location)
    try store.note("n4")
    for (path, flatten) in [("/replayed", false), ("/flattened", true)] {
      try store.replay(to: path, at: store.token, flatten: flatten)
      let other = StoreLocation(fileSystem: location.fileSystem, path: path)
      try expect(try Store(other, options: .readOnly))
    }
    try store.close()
    _ = try Store.salvage(location, to: "/salvaged", environment: .fixed(seed: 9))
    let salvaged = StoreLocation(fileSystem: location.fileSystem, path: "/salvaged")
    try expect(try Store(salvaged, options: .readOnly))
  }
}
