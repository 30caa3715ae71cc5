import Annals
import AnnalsModel
import Testing

@Suite struct SchemaEvolutionTests {
  @Test func aRequiredAttributeAddedWithADefaultReadsInOlderObjects() throws {
    let location = memoryFile()
    let store = try noteStore(location)
    let id = try store.note("a", text: "old")
    try store.require(
      Schema { Entity("Note") { Attribute("stars", .int64, isOptional: false, default: .int(3)) } })
    let head = store.token.number
    #expect(try store.snapshot().object(id)?["stars"] == .int(3))
    #expect(try store.snapshot(at: head - 1).object(id)?["stars"] == .null)
    try store.write { try $0.update(id, ["stars": .int(4)]) }
    let change = try store.transaction(head + 1).changes[0]
    #expect(change.before("stars") == .int(3))
    #expect(change.after("stars") == .int(4))
    #expect(try store.snapshot(at: head).object(id)?["stars"] == .int(3))
    try store.close()
    let again = try Store(location, creates: false)
    #expect(try again.snapshot(at: head).object(id)?["stars"] == .int(3))
    #expect(throws: AnnalsError.self) {
      try again.require(Schema { Entity("Note") { Attribute("must", .int64, isOptional: false) } })
    }
  }

  /// What a change of the schema writes into older objects is in the log like anything else: it is
  /// there after the next opening, in history, and in the past as it was.
  @Test func defaultsThatAreWrittenOutAreRecorded() throws {
    func schema(_ stars: Attribute, _ rank: Attribute) -> Schema {
      var entity = Entity("Note", attributes: [stars, rank])
      entity.attributes.append(Attribute("id", .string, isOptional: false, isUnique: true))
      return Schema(entities: [entity])
    }
    let location = memoryFile()
    let store = try noteStore(location)
    let ids = try ["a", "b", "c"].map { try store.note($0) }
    let rank = Attribute("rank", .int64, isOptional: false, default: .int(1))
    try store.require(
      schema(Attribute("stars", .int64, isOptional: false, default: .int(3)), rank))
    try store.write { try $0.update(ids[1], ["stars": 4]) }
    let before = store.token
    // Nulls are nulls from now on.
    try store.require(schema(Attribute("stars", .int64), rank))
    #expect(store.token.number == before.number + 1)
    let written = try store.transaction(store.token.number).changes
    #expect(written.map(\.objectID) == [ids[0], ids[2]])
    #expect(written.map { $0.after("stars") } == [3, 3])
    try store.write { try $0.update(ids[2], ["stars": .null]) }
    func expect(_ store: Store) throws {
      let (now, then) = (store.snapshot(), try store.snapshot(at: before))
      #expect(try ids.map { try now.object($0)?["stars"] } == [3, 4, .null])
      #expect(try ids.map { try then.object($0)?["stars"] } == [3, 4, 3])
      #expect(try ids.map { try now.object($0)?["rank"] } == [1, 1, 1])
      #expect(try store.verifyHistory() == [])
    }
    try expect(store)
    try store.close()
    try expect(try Store(location, creates: false))
  }

  @Test func anOldAndANewProgramTakeTurns() throws {
    let location = memoryFile()
    let newer = Schema {
      Entity("Note", displayName: "text") {
        Attribute("id", .string, isOptional: false, isUnique: true)
        Attribute("text", .any)
        Attribute("count", .int64)
        Attribute("stars", .int64, isOptional: false, default: .int(5))
        Relationship("tags", to: "Tag", isToMany: true)
      }
      Entity("Tag") { Attribute("name", .string, isUnique: true) }
    }
    for round in 0..<3 {
      let old = try noteStore(location)
      try old.note("old \(round)", text: "from the old one")
      try old.close()
      let new = try Store(location, schema: newer)
      try new.write { tx in
        let tag = try tx.insert("Tag", ["name": .string("tag \(round)")])
        try tx.insert(
          "Note",
          [
            "id": .string("new \(round)"), "text": .int(7), "stars": .int(Int64(round)),
            "tags": .objects([ObjectReference(tag)]),
          ])
      }
      try new.close()
    }
    let store = try Store(location, creates: false)
    #expect(store.token.number == 2 + 6)
    let notes = try store.snapshot().objects(of: "Note")
    #expect(notes.count == 6)
    #expect(notes.map { $0["stars"] } == [5, 0, 5, 1, 5, 2].map { .int($0) })
    #expect(try store.snapshot().count(of: "Tag") == 3)
    #expect(try store.verifyHistory() == [])
  }

  @Test func renamedAndRemovedThingsStayInThePast() throws {
    let store = try noteStore()
    let id = try store.note("a", text: "x")
    let before = store.token
    try store.edit(
      .renameEntity("Note", to: "Page"), .renameProperty(entity: "Page", "text", to: "title"),
      .removeProperty(entity: "Page", "count"))
    #expect(store.token.number == before.number + 1)
    try store.edit(
      .renameEntity("Note", to: "Page"), .renameProperty(entity: "Page", "text", to: "title"),
      .removeProperty(entity: "Page", "count"))
    #expect(store.token.number == before.number + 1)
    #expect(try store.snapshot().object(id)?["title"] == "x")
    #expect(try store.snapshot(at: before).object(id)?["text"] == "x")
    #expect(try store.snapshot(at: before).object(of: "Note", where: "id", is: "a") != nil)
    #expect(store.schema.entity(named: "Note") == nil)
    #expect(store.schema.entity(named: "Page")?.attribute(named: "count") == nil)
    #expect(throws: AnnalsError.self) { try store.snapshot().count(of: "Note") }
    let seen = try store.history(where: .touches("Page", "title")).collect().map(\.number)
    #expect(seen == [id.row + 1])
  }

  @Test func anOlderProgramIsToldWhatBecameOfItsNames() throws {
    let store = try noteStore()
    try store.note("a")
    let old = Schema { Entity("Note") { Attribute("id", .string, isOptional: false) } }
    try store.edit(.renameProperty(entity: "Note", "id", to: "key"))
    let renamed = #expect(throws: AnnalsError.self) { try store.require(old) }
    #expect(
      renamed?.message
        == "the schema cannot be used; nothing was changed: Note.id: the attribute is named key "
        + "now; use that name. By this one, a required attribute can be added where there are "
        + "objects only with a default")
    try store.edit(.removeProperty(entity: "Note", "key"))
    let removed = #expect(throws: AnnalsError.self) { try store.require(old) }
    #expect(removed?.message.contains("Note.id: the attribute was removed; a required") == true)
  }

  @Test func anOpenStoreIsToldWhatAnotherProgramRenamedOrRemoved() throws {
    let location = memoryFile()
    let store = try Store(location, records: Card.self, environment: .fixed())
    let id = try store.write { try $0.insert(Card(key: "a", title: "Fog")) }.objectID
    let other = try Store(location, creates: false, environment: .fixed(seed: 2))
    // What reads and writes by the old name say; nil for a record that could be read.
    func reasons() throws -> (read: String?, write: String?) {
      try store.refresh()
      var read: AnnalsError?
      do { _ = try store.snapshot().object(Card.self, id) } catch { read = error }
      let write = #expect(throws: AnnalsError.self) {
        try store.write { try $0.insert(Card(key: "b", title: "Mist")) }
      }
      return (read?.message, write?.schemaConflicts.last?.description)
    }
    try other.edit(.renameProperty(entity: "Card", "title", to: "heading"))
    #expect(
      try reasons() == (
        "Card/a.title has no value, and the record's property is not optional: the property is "
          + "named heading now; use that name",
        "Card.title: the property is named heading now; use that name"
      ))
    try other.edit(.removeProperty(entity: "Card", "heading"))
    #expect(
      try reasons() == (
        "Card/a.title has no value, and the record's property is not optional: the property was "
          + "removed",
        "Card.title: the property was removed"
      ))
    try other.edit(.renameEntity("Card", to: "Sheet"))
    let renamed = "Card: the entity is named Sheet now; use that name"
    #expect(try reasons().write == renamed)
    #expect(try reasons().read?.hasSuffix(renamed) == true)
    try other.edit(.removeEntity("Sheet"))
    #expect(try reasons().write == "Card: the entity was removed")
  }

  @Test func aRenameThatWasNotDeclaredIsSuggested() throws {
    let location = memoryFile()
    let store = try Store(location, records: Card.self, environment: .fixed())
    try store.write { try $0.insert(Card(key: "a", title: "Fog")) }
    let error = #expect(throws: AnnalsError.self) {
      try Store(location, records: RenamedCard.self, environment: .fixed())
    }
    #expect(
      error?.schemaConflicts.map(\.description) == [
        "Card.heading: a required attribute can be added where there are objects only with a "
          + "default. If it is title by another name, say so: "
          + "Property(\"heading\", …).renamed(from: \"title\")"
      ])
    let retyped = #expect(throws: AnnalsError.self) {
      try store.require(Schema { Entity("Card") { Attribute("title", .int64) } })
    }
    #expect(
      retyped?.schemaConflicts.map(\.description) == [
        "Card.title: the store has it as string, which cannot become int64; add an attribute of "
          + "another name, and fill it from this one in a write"
      ])
  }

  /// Programs before and after the rename of an indexed property take turns.
  @Test func anIndexFollowsTheRenameOfItsProperty() throws {
    let location = memoryFile()
    let first = try Store(location, records: Leaflet.self, environment: .fixed())
    try first.write { try $0.insert(Leaflet(key: "a", author: "ann")) }
    let second = try Store(location, records: LaterLeaflet.self, environment: .fixed())
    #expect(second.schema.entities[0].indexes.map(\.name) == ["writer", "key where writer == nil"])
    #expect(try second.snapshot().objects(of: LaterLeaflet.self).map(\.writer) == ["ann"])
    let third = try Store(location, records: Leaflet.self, environment: .fixed())
    #expect(try third.snapshot().objects(of: Leaflet.self).map(\.author) == [nil])
    let fourth = try Store(location, records: LaterLeaflet.self, environment: .fixed())
    #expect(fourth.schema == third.schema)
    #expect(try fourth.verifyHistory() == [])
  }

  /// A reader does not need edits that are done, or that there is nothing to do for.
  @Test func readingAloneNeedsNoEditThatIsDone() throws {
    let location = memoryFile()
    let store = try Store(
      location, schema: Schema { Entity("Leaflet") { Attribute("key", .string, isUnique: true) } })
    let reader = try Store(
      location, records: LaterLeaflet.self, options: .readOnly, environment: .fixed())
    #expect(reader.token == store.token)
    try store.require(Schema(records: [Leaflet.self]))
    let error = #expect(throws: AnnalsError.self) {
      try Store(location, records: LaterLeaflet.self, options: .readOnly, environment: .fixed())
    }
    #expect(error?.code == .readOnly, "\(String(describing: error))")
  }

  @Test func anImpossibleChangeIsRefusedByNameAndChangesNothing() throws {
    let store = try noteStore()
    try store.note("a")
    let error = #expect(throws: AnnalsError.self) {
      try store.require(
        Schema {
          Entity("Note") {
            Attribute("text", .int64)
            Attribute("new", .bool)
            Relationship("folder", to: "Folder", isToMany: true)
          }
          Entity("Folder")
        })
    }
    #expect(error?.code == .invalidSchema)
    #expect(error?.schemaConflicts.map(\.property) == ["text", "folder"])
    #expect(store.token.number == 2)
    #expect(store.schema.entity(named: "Note")?.attribute(named: "new") == nil)
  }

  @Test func widenedTypesKeepOldValues() throws {
    let location = memoryFile()
    func schema(_ type: AttributeType) -> Schema {
      Schema { Entity("A") { Attribute("x", type) } }
    }
    let store = try Store(location, schema: schema(.int16))
    try store.write { try $0.insert("A", ["x": .int(1)]) }
    for (type, value) in [
      (AttributeType.int32, Value.int(70_000)), (.int64, .int(1 << 40)), (.any, .string("x")),
    ] {
      #expect(throws: AnnalsError.self) { try store.write { try $0.insert("A", ["x": value]) } }
      try store.require(schema(type))
      try store.write { try $0.insert("A", ["x": value]) }
    }
    #expect(
      try store.snapshot().objects(of: "A").map { $0["x"] }
        == [.int(1), .int(70_000), .int(1 << 40), .string("x")])
    #expect(try store.snapshot(at: 2).schema.entities[0].attributes[0].type == .int16)
    #expect(try store.snapshot(at: 2).objects(of: "A").map { $0["x"] } == [.int(1)])
    #expect(try store.verifyHistory() == [])
  }

  @Test func aSchemaChangeAndItsObjectsAreOneTransaction() throws {
    let store = try Store(.memory, creates: true, environment: .fixed())
    try store.importTransaction { tx in
      try tx.require(noteSchema)
      try tx.insert("Note", ["id": "a"])
    }
    #expect(store.token.number == 1)
    #expect(try store.snapshot(at: 0).schema.entities.isEmpty)
    #expect(try store.transaction(1).schemaChange.map(\.name) == ["Note", "Folder"])
    #expect(throws: Mismatch.self) {
      try store.write { tx in
        try tx.require(Schema { Entity("Other") })
        throw Mismatch("no")
      }
    }
    #expect(store.schema.entity(named: "Other") == nil)
  }
}

private struct Card: Record {
  var key: String
  var title: String
  static let entity = RecordEntity(
    "Card", Card.init, Property("key", \.key).unique(), Property("title", \.title))
}

/// The same cards as a program declares them that forgot to say `.renamed(from: "title")`.
private struct RenamedCard: Record {
  var key: String
  var heading: String
  static let entity = RecordEntity(
    "Card", RenamedCard.init, Property("key", \.key).unique(), Property("heading", \.heading))
}

private struct Leaflet: Record {
  var key: String
  var author: String?
  static let entity = RecordEntity(
    "Leaflet", Leaflet.init, Property("key", \.key).unique(),
    Property("author", \.author).indexed()
  ).indexed(by: \.key, where: \.author == nil)
}

/// The same leaflets, after a rename.
private struct LaterLeaflet: Record {
  var key: String
  var writer: String?
  static let entity = RecordEntity(
    "Leaflet", LaterLeaflet.init, Property("key", \.key).unique(),
    Property("writer", \.writer).indexed().renamed(from: "author")
  ).indexed(by: \.key, where: \.writer == nil)
}
