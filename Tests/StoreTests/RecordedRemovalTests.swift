import Annals
import AnnalsModel
import AnnalsStorage
import Testing

/// A removal from the schema clears values and deletes objects, as changes that everybody sees.
///
/// It used to hide them: a difference across it was empty, a mirror kept the objects for ever, and
/// the name, added again, seemed never to have had a value.
@Suite struct RecordedRemovalTests {
  private static let schema = Schema {
    Entity("Page") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("title", .string)
      Attribute("code", .int64, isOptional: false, isUnique: true)
      Attribute("stars", .int64, isOptional: false, default: 3)
      Relationship("links", to: "Page", isToMany: true, isOrdered: true)
      Relationship("tag", to: "Tag")
    }
    Entity("Tag") {
      Attribute("name", .string, isOptional: false, isPreservedAfterDeletion: true)
    }
  }

  /// Two pages and a tag in transaction 2; everything but keys and titles is removed in 3.
  private func pages(_ location: StoreLocation = memoryFile()) throws -> Store {
    let store = try Store(location, schema: RecordedRemovalTests.schema, environment: .fixed())
    try store.write { tx in
      let tag = ObjectReference(try tx.insert("Tag", ["name": "t"]))
      for number in 1...2 as ClosedRange<Int64> {
        let page = try tx.insert(
          "Page",
          [
            "id": .string("p\(number)"), "title": "fog", "code": .int(number),
            "stars": .int(number), "tag": .object(tag),
          ])
        try tx.update(page, ["links": .objects([ObjectReference(page), ObjectReference(page)])])
      }
    }
    try store.edit(
      .removeProperty(entity: "Page", "code"), .removeProperty(entity: "Page", "stars"),
      .removeProperty(entity: "Page", "links"), .removeProperty(entity: "Page", "tag"),
      .removeEntity("Tag"))
    return store
  }

  @Test func aRemovalRecordsClearsAndDeletes() throws {
    let store = try pages()
    #expect(store.token.number == 3)
    let removal = try store.transaction(3)
    #expect(removal.changes.map(\.kind) == [.update, .update, .delete])
    #expect(
      removal.changes.map(\.changedProperties) == [
        ["code", "stars", "links", "tag"], ["code", "stars", "links", "tag"], ["name"],
      ])
    let first = removal.changes[0]
    #expect(first.before("code") == 1 && first.after("code") == .null)
    #expect(first.edits("links").removed.count == 2)
    #expect(removal.changes[2].tombstone == ["name": "t"])
    #expect(try store.snapshot(at: 2).object(first.objectID)?["stars"] == 1)
    #expect(try store.snapshot().object(first.objectID)?.values.count == 2)
    #expect(try store.history(where: .touches("Page", "code")).collect().map(\.number) == [2, 3])
    #expect(try store.history(where: .kind(.delete)).collect().map(\.number) == [3])
    #expect(
      try store.blame(first.objectID).map { "\($0.property) \($0.transaction?.number ?? 0)" } == [
        "id 2", "title 2", "code 3", "stars 3", "links 3", "tag 3",
      ])
    #expect(try store.blame(removal.changes[2].objectID).deletion?.number == 3)
    #expect(try store.verifyHistory() == [])
    #expect(try store.verify().isEmpty)
  }

  @Test func differencesShowItThereAndBack() throws {
    let store = try pages()
    let there = try store.diff(from: 2, to: 3).changes
    #expect(there.map(\.kind) == [.update, .update, .delete])
    #expect(there[0].changedProperties == ["code", "stars", "links", "tag"])
    #expect(there[1].before("stars") == 2 && there[1].after("stars") == .null)
    let back = try store.diff(from: 3, to: 2).changes
    #expect(back.map(\.kind) == [.update, .update, .insert])
    #expect(back[1].before("stars") == .null && back[1].after("stars") == 2)
    #expect(back[2].after("name") == "t")
    // Between two states behind it, nothing of it is left.
    try store.write { tx in try tx.delete(there[0].objectID) }
    #expect(try store.diff(from: 3, to: 4).changes.map(\.changedProperties) == [["id", "title"]])
    #expect(try store.transaction(4).changes[0].changedProperties == ["id", "title"])
  }

  @Test func aMirrorHasWhatTheStoreHas() throws {
    let store = try pages()
    try store.require(RecordedRemovalTests.schema.withoutRequiredCode)
    try store.write { tx in
      let page = try #require(try tx.object(of: "Page", where: "id", is: "p1")).objectID
      try tx.update(page, ["stars": 7])
    }
    var mirror: [ObjectID: [String: Value]] = [:]
    try store.history().forEach { transaction in
      for change in transaction.changes {
        if change.kind == .delete {
          mirror[change.objectID] = nil
          continue
        }
        // The lists are cleared as a whole.
        for property in change.properties {
          mirror[change.objectID, default: [:]][property.name] =
            property.after.isNull ? .none : .some(property.after)
        }
      }
    }
    #expect(
      Set(mirror.values) == [
        ["id": "p1", "title": "fog", "stars": 7], ["id": "p2", "title": "fog"],
      ])
  }

  @Test func aNameThatIsAddedAgainHasNothingOfBefore() throws {
    let store = try pages()
    try store.require(RecordedRemovalTests.schema.withoutRequiredCode)
    #expect(try store.snapshot().objects(of: "Page").map { $0["stars"] } == [3, 3])
    #expect(try store.snapshot().count(of: "Tag") == 0)
    let page = try #require(try store.snapshot().objects(of: "Page").first).objectID
    try store.write { try $0.update(page, ["stars": 7]) }
    // What was 1 is 7 now, by whichever numbers.
    let change = try #require(try store.diff(from: 2).changes.first)
    #expect(change.before("stars") == 1 && change.after("stars") == 7)
    let blame = try store.blame(page)
    #expect(
      blame.map { "\($0.property) \($0.transaction?.number ?? 0)" } == [
        "id 2", "title 2", "stars 5",
      ])
    let back = try #require(try store.diff(from: 5, to: 2).changes.first)
    #expect(back.before("stars") == 7 && back.after("stars") == 1)
    #expect(try store.verifyHistory() == [])
  }

  @Test func otherChangesOfTheTransactionStay() throws {
    let store = try pages()
    try store.require(RecordedRemovalTests.schema.withoutRequiredCode)
    try store.write { tx in
      let page = try #require(try tx.object(of: "Page", where: "id", is: "p2")).objectID
      try tx.update(page, ["stars": 5, "title": "mist"])
      try tx.insert("Page", ["id": "p3", "stars": 9])
      try tx.insert("Tag", ["name": "new"])
      try tx.delete(try #require(try tx.object(of: "Page", where: "id", is: "p1")).objectID)
      try tx.require(
        Schema {
          Entity("Page") { Attribute("stars", .string) }
        },
        edits: [
          .removeProperty(entity: "Page", "stars"), .removeProperty(entity: "Page", "tag"),
          .removeEntity("Tag"),
        ])
      try tx.update(page, ["stars": "five"])
    }
    let changes = try store.transaction(store.token.number).changes
    #expect(changes.map(\.kind) == [.insert, .delete, .update])
    #expect(changes[0].changedProperties == ["id"])
    #expect(changes[2].changedProperties == ["title", "stars"])
    #expect(changes[2].after("stars") == "five" && changes[2].before("title") == "fog")
    #expect(try store.snapshot().objects(of: "Page").map { $0["stars"] } == ["five", .null])
    #expect(try store.verifyHistory() == [])
  }

  @Test func manyObjectsAreOneTransactionInParts() throws {
    let location = memoryFile()
    let store = try Store(
      location,
      schema: Schema {
        Entity("Row") {
          Attribute("text", .string, isOptional: false, default: "")
          Attribute("number", .int64)
        }
      }, environment: .fixed())
    let long = String(repeating: "x", count: 200)
    try store.write { tx in
      for number in 1...9_000 as ClosedRange<Int64> {
        try tx.insert("Row", ["text": .string(long + "\(number)"), "number": .int(number)])
      }
    }
    try store.checkpoint()
    try store.close()
    let again = try Store(location, creates: false, environment: .fixed(seed: 2))
    try again.edit(.removeProperty(entity: "Row", "text"))
    #expect(again.token.number == 3)
    let removal = try again.transaction(3)
    #expect(removal.continuation.count > 0 && removal.changes.count == 9_000)
    #expect(removal.changes[8_999].before("text") == .string(long + "9000"))
    let other = try Store(location, options: .readOnly)
    #expect(try other.snapshot().objects(of: "Row")[77].values.map(\.value) == [78])
    #expect(try other.snapshot(at: 2).objects(of: "Row")[77]["text"] == .string(long + "78"))
    try again.edit(.removeEntity("Row"))
    #expect(try again.transaction(4).changes.count == 9_000)
    #expect(try again.verifyHistory() == [])
    try again.checkpoint()
    try again.prune(try again.prunePlan(before: 4))
    try again.close()
    #expect(try location.fileSystem.findings(about: location.path) == [])
  }

  @Test func aRevertOfTheSchemaIsRefused() throws {
    let store = try pages()
    for number in [1, 3] as [Int64] {
      let error = #expect(throws: AnnalsError.self) { try store.revert(number) }
      #expect(error?.code == .unsupported)
      #expect(
        error?.message.hasPrefix("transaction \(number) changed the schema of Page, Tag, which")
          == true)
    }
    #expect(store.token.number == 3)
    // What was only added stays, and the objects go.
    try store.write { tx in
      try tx.require(Schema { Entity("More") { Attribute("id", .string) } })
      try tx.insert("More", ["id": "m"])
    }
    try store.revert(4)
    #expect(try store.snapshot().count(of: "More") == 0)
    // What was removed since stays away; a transaction that changed nothing else is refused.
    try store.require(RecordedRemovalTests.schema.withoutRequiredCode)
    let page = try #require(try store.snapshot().objects(of: "Page").first).objectID
    try store.write { try $0.update(page, ["stars": 9, "title": "mist"]) }
    try store.write { try $0.update(page, ["stars": 10]) }
    try store.edit(.removeProperty(entity: "Page", "stars"))
    let head = store.token.number
    let error = #expect(throws: AnnalsError.self) { try store.revert(head - 1) }
    #expect(error?.code == .conflict)
    try store.revert(head - 2)
    #expect(try store.snapshot().object(page)?["title"] == "fog")
    #expect(try store.verifyHistory() == [])
  }
}

extension Schema {
  /// The schema with an optional `code`, as a required one cannot be added to objects.
  fileprivate var withoutRequiredCode: Schema {
    var result = self
    result.entities[0].attributes[2].isOptional = true
    return result
  }
}
