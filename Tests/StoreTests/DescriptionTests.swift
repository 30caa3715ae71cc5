import Annals
import AnnalsModel
import Foundation
import Testing

/// What prints when a program prints a schema, a plan or a result.
@Suite struct DescriptionTests {
  private let schema = Schema {
    Entity("Entry") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute(
        "pages", .int64, isOptional: false, default: 1,
        validation: Validation(minimum: 0, maximum: 9))
      Attribute("mood", .string, validation: Validation(maximumLength: 8, oneOf: ["glad", "calm"]))
      Relationship("place", to: "Place", onDelete: .cascade, inverse: "entries")
      Relationship("others", to: "Place", isToMany: true, onDelete: .nullify, count: ...5)
      Relationship("way", to: "Place", isToMany: true, isOrdered: true, onDelete: .keep)
      IndexDescription("pages", [IndexElement("pages")])
      IndexDescription("many", [IndexElement("mood")], where: .compare("pages", .greater, 5))
    }
    Entity("Place") { Attribute("name", .string, isPreservedAfterDeletion: true) }
  }

  @Test func aSchema() throws {
    let text = """
      Entry
        id: string, required, unique
        pages: int64, required, default 1, from 0, up to 9
        mood: string, length up to 8, one of "glad" "calm"
        place: Place, on delete cascade, inverse entries
        others: any Place, on delete nullify, count up to 5
        way: ordered Place
        index pages
        index many where pages > 5
      Place
        name: string, kept in tombstones
      """
    #expect("\(schema)" == text)
    let store = try Store(.memory, schema: schema)
    #expect("\(store.schema)" == text)
    try store.edit(.removeEntity("Entry"))
    #expect("\(store.schema)" == "Place\n  name: string, kept in tombstones")
  }

  /// Up to ten objects that a list gets, loses or moves are named, of more there is their count.
  @Test(arguments: [1, 10, 11]) func editsOfALongList(count: Int) throws {
    let store = try Store(.memory, schema: schema)
    let (entry, places) = try store.write { tx in
      let places = try (0..<25).map { try tx.insert("Place", ["name": .string("\($0)")]) }
      let way = Value.objects(places[..<12].map { ObjectReference($0) })
      return (try tx.insert("Entry", ["id": "a", "pages": 1, "way": way]), places)
    }
    func edit(_ change: (WriteTransaction) throws -> Void) throws -> String {
      let token = try store.write { tx in
        try change(tx)
        return store.token
      }
      let last = try store.history(after: token).collect(limit: 1).last
      return "\(try #require(last?.changes.first?.properties.first))"
    }
    let more = places[12..<12 + count].map { ObjectReference($0) }
    let list = places[..<12].map { ObjectReference($0) }
    let added = try edit { try $0.update(entry, ["way": .objects(list + more)]) }
    let names = more.map { "+#\($0.row)" }.joined(separator: " ")
    #expect(added == "way " + (count > 10 ? "+11 objects" : names))
    let gone = try edit { try $0.update(entry, ["way": .objects(list)]) }
    #expect(gone == "way " + (count > 10 ? "-11 objects" : names.replacing("+", with: "-")))
  }

  @Test func plansAndResults() throws {
    let store = try Store(.memory, schema: schema)
    let id = try store.write { try $0.insert("Entry", ["id": "a"]) }
    try store.write { try $0.update(id, ["pages": 3]) }
    #expect(
      "\(try store.revertPlan(3))" == "undoes transaction 3: 0 deletions, 1 update, 0 revivals")
    #expect(
      "\(try store.revertPlan(2))"
        == "cannot undo transaction 2: Entry/a.pages, changed by transaction 3")
    let plan = "\(try store.prunePlan(before: 3))"
    #expect(plan == "drops 2 transactions before 3 (1 change), keeps 1")
    #expect("\(try store.maintenancePlan())" == "keeps everything: all history is kept")
    try store.setRetention(Retention(transactions: 1))
    let report = try store.maintain(minimumGain: 0)
    #expect(
      "\(report)".hasPrefix("keeps 1 transaction: drops 2 transactions before 3"), "\(report)")
    #expect("\(report)".contains(" bytes, were "), "\(report)")
    #expect("\(try store.compact())".contains(" bytes"))
  }

  @Test func objectsAndChangesAreOneLine() throws {
    let store = try Store(.memory, schema: schema)
    let (id, place) = try store.write { tx in
      let place = try tx.insert("Place", ["name": "Nara\nJapan"])
      return (try tx.insert("Entry", ["id": "a", "pages": 3]), place)
    }
    let target = ObjectReference(place)
    try store.write { tx in
      try tx.update(
        id, ["pages": 4, "place": .object(target), "others": .objects([target])])
    }
    let nothing = try store.write { try $0.insert("Place") }
    try store.write { tx in
      try tx.delete(nothing)
      try tx.update(id, ["id": "b", "mood": "calm"])
    }
    try store.write { try $0.delete(id) }
    let past = try store.snapshot(at: 3)
    let objects = try [id, place].map { "\(try #require(try past.object($0)))" }
    #expect(
      objects == [
        "Entry/a pages 4, place object #1, others 1 object", #"Place#1 name "Nara\nJapan""#,
      ])
    var changes: [String] = []
    try store.history().forEachChange { changes.append("\($0)") }
    #expect(
      changes == [
        #"insert Place#1 name "Nara\nJapan""#, "insert Entry/a pages 3",
        "update Entry#1 pages 3 → 4, place null → object #1, others +#1", "insert Place#2",
        "delete Place#2", #"update Entry/a id "a" → "b", mood null → "calm""#,
        #"delete Entry/b pages 4, mood "calm", place object #1, others 1 object"#,
      ])
  }

  @Test func aLiveUpdateCountsWhatChanged() async throws {
    let store = try Store(.memory, schema: schema)
    let ids = try await store.write { tx in
      try ["a", "b", "c"].map { try tx.insert("Entry", ["id": .string($0), "pages": 3]) }
    }
    let view = store.live("Entry", sortedBy: [SortKey("id")])
    var updates = view.makeAsyncIterator()
    let first = try #require(try await updates.next(isolation: nil))
    #expect("\(first)" == "3 rows as of transaction 2: 3 inserted, 0 deleted, 0 moved, 0 changed")
    try await store.write { tx in
      try tx.delete(ids[0])
      try tx.update(ids[1], ["id": "z"])
      try tx.update(ids[2], ["pages": 4])
      try tx.insert("Entry", ["id": "y"])
    }
    let second = try #require(try await updates.next(isolation: nil))
    let text = "\(second)"
    #expect(text == "3 rows as of transaction 3: 1 inserted, 1 deleted, 1 moved, 1 changed")
  }

  @Test func anObjectIsEncodedAsItsRecord() throws {
    let store = try Store(.memory, records: Page.self)
    let page = try store.write { try $0.insert(Page(title: "Fog", number: 4)) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(page), as: UTF8.self)
    #expect(text == #"{"number":4,"title":"Fog"}"#)
    let all = try store.snapshot().objects(of: Page.self)
    #expect(try encoder.encode(all) == encoder.encode(all.map(\.value)))
  }
}

private struct Page: Record, Encodable {
  var title: String
  var number: Int
  static let entity = RecordEntity(
    "Page", Page.init, Property("title", \.title), Property("number", \.number))
}
