import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// What was removed from the schema is gone with the removal, and from the file with the prune that
/// goes beyond it.
@Suite struct RemovalRewriteTests {
  private static let schema = Schema {
    Entity("Page") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("title", .string)
      Attribute("old", .string)
      Attribute("long", .string)
      Attribute("code", .int64, isUnique: true)
      Relationship("links", to: "Page", isToMany: true, isOrdered: true)
      Relationship("tag", to: "Tag")
    }
    Entity("Tag") { Attribute("name", .string, isUnique: true) }
  }

  /// Ten pages in transaction 2, a checkpoint, everything but titles removed in 3, changes behind
  /// it, among them deletes; a checkpoint in between.
  private func pages(_ location: StoreLocation) throws -> Store {
    let store = try Store(location, schema: RemovalRewriteTests.schema, environment: .fixed())
    try store.write { tx in
      let tag = ObjectReference(try tx.insert("Tag", ["name": "t"]))
      for number in 1...10 {
        let page = try tx.insert(
          "Page",
          [
            "id": .string("p\(number)"), "title": .string("title \(number)"),
            "old": .string(String(repeating: "o", count: 200)), "code": .int(Int64(number)),
            "long": .string(String(repeating: "\(number)", count: 100_000)), "tag": .object(tag),
          ])
        try tx.update(page, ["links": .objects([ObjectReference(page), ObjectReference(page)])])
      }
    }
    try store.checkpoint()
    try store.edit(
      .removeProperty(entity: "Page", "old"), .removeProperty(entity: "Page", "long"),
      .removeProperty(entity: "Page", "code"), .removeProperty(entity: "Page", "links"),
      .removeProperty(entity: "Page", "tag"), .removeEntity("Tag"))
    try store.write { try $0.update(page("p1", in: $0), ["title": "new"]) }
    try store.write { try $0.delete(page("p2", in: $0)) }
    try store.checkpoint()
    try store.write { try $0.delete(page("p3", in: $0)) }
    try store.write { try $0.insert("Page", ["id": "p11"]) }
    return store
  }

  private func page(_ id: String, in tx: WriteTransaction) throws -> ObjectID {
    try #require(try tx.object(of: "Page", where: "id", is: .string(id))).objectID
  }

  private func titles(_ store: Store, at number: Int64) throws -> [[Value]] {
    try store.snapshot(at: number).objects(of: "Page").map { [$0["id"], $0["title"]] }
  }

  /// The properties that the newest checkpoint has values of, by entity; the base's if `ofBase`.
  private func columns(_ store: Store, ofBase: Bool) throws -> [[PropertyNumber]] {
    let view = store.version.view
    let directory =
      ofBase ? try view.baseDirectory() : try view.checkpoint(atOrBefore: view.head.number)
    return try #require(directory).entities.map { $0.columns.map(\.property) }
  }

  @Test(arguments: [4, 5, 6, 7] as [Int64])
  func aPruneBeyondTheRemovalDropsWhatWasRemoved(floor: Int64) throws {
    let location = memoryFile()
    let store = try pages(location)
    let head = store.token.number
    var states: [Int64: [[Value]]] = [:]
    for number in floor - 1...head { states[number] = try titles(store, at: number) }
    #expect(try columns(store, ofBase: false) == [[1, 2], []])
    let summary = try store.prune(try store.prunePlan(before: floor))
    // The long values go, but for those of the objects that are deleted in what is kept.
    #expect(summary.bytesBefore > 12_000 && summary.bytesAfter < summary.bytesBefore)
    #expect(try columns(store, ofBase: true) == [[1, 2], []])
    #expect(try columns(store, ofBase: false) == [[1, 2], []])
    #expect(try store.verifyHistory() == [])
    try store.close()
    #expect(try location.fileSystem.findings(about: location.path) == [])
    let again = try Store(location, creates: false, environment: .fixed())
    for number in floor - 1...head { #expect(try titles(again, at: number) == states[number]) }
    // What was deleted behind the base comes back under its own id, as it was seen.
    for number in [6, 5] as [Int64] where number >= floor { try again.revert(number) }
    #expect(
      try titles(again, at: again.token.number).map { $0[0] }
        == (1...11).compactMap { row in
          (row == 2 && floor > 5) || (row == 3 && floor > 6) ? nil : .string("p\(row)")
        })
    for number in floor - 1...head { #expect(try titles(again, at: number) == states[number]) }
    // Names and numbers stay used.
    #expect(again.schema.entity(numbered: 2)?.isRemoved == true)
    try again.require(RemovalRewriteTests.schema)
    #expect(again.schema.entity(named: "Tag")?.number == 3)
    #expect(again.schema.entity(named: "Page")?.attribute(named: "old")?.number == 8)
    #expect(try again.verifyHistory() == [])
    try again.checkpoint()
    try again.compact()
    #expect(try again.verifyHistory() == [])
    try again.prune(try again.prunePlan(before: again.token.number))
    #expect(try again.verifyHistory() == [])
    try again.close()
    #expect(try location.fileSystem.findings(about: location.path) == [])
  }

  @Test func aPruneUpToTheRemovalKeepsWhatTheStateBeforeItShows() throws {
    let store = try pages(memoryFile())
    try store.prune(try store.prunePlan(before: 3))
    #expect(try columns(store, ofBase: true) == [[1, 2, 3, 4, 5, 6, 7], [1]])
    let page = try #require(try store.snapshot(at: 2).object(of: "Page", where: "id", is: "p2"))
    #expect(page["old"] == .string(String(repeating: "o", count: 200)) && page["code"] == 2)
    #expect(try store.verifyHistory() == [])
    try store.prune(try store.prunePlan(before: 4))
    #expect(try columns(store, ofBase: true) == [[1, 2], []])
    #expect(try store.verifyHistory() == [])
  }

  @Test func aFlatCopyHasNothingOfWhatWasRemoved() throws {
    let files = MemoryFileSystem()
    let store = try pages(StoreLocation(fileSystem: files, path: "/test.annals"))
    try store.replay(to: "/flat.annals", at: 7, flatten: true)
    let flat = try Store(StoreLocation(fileSystem: files, path: "/flat.annals"), creates: false)
    #expect(try columns(flat, ofBase: true) == [[1, 2], []])
    #expect(try titles(flat, at: 7) == titles(store, at: 7))
    #expect(try flat.verifyHistory() == [])
  }
}
