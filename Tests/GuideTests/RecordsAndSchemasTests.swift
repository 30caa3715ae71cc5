import Annals
import Foundation
import Testing

private enum Mood: String, AttributeValue, CaseIterable { case calm, glad, tired }

private struct Place: Record {
  var name: String
  var latitude: Double?
  static let entity = RecordEntity(
    "Place", Place.init,
    Property("name", \.name).unique().length(1...80),
    Property("latitude", \.latitude).range(-90...90))
}

private struct Entry: Record {
  var id: UUID
  var title: String
  var mood: Mood
  var pages: Int
  var place: Reference<Place>?
  var companions: [Reference<Place>]

  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("id", \.id).unique().preservedAfterDeletion(),
    Property("title", \.title).length(1...).renamed(from: "name"),
    Property("mood", \.mood).default(.calm),
    Property("pages", \.pages).default(1).range(0...),
    Property("place", \.place),
    Property("companions", \.companions)
  ).unique(by: \.title, \.place)
}

/// The code of *Records and schemas*.
@Suite struct RecordsAndSchemasTests {
  @Test func referencesAndRules() throws {
    let store = try Store(.memory, records: Place.self, Entry.self)
    let entry = try store.write { tx in
      let nara = try tx.insert(Place(name: "Nara", latitude: 34.7))
      return try tx.insert(
        Entry(
          id: UUID(), title: "Deer", mood: .glad, pages: 2, place: Reference(nara), companions: []))
    }

    let snapshot = store.snapshot()
    if let place = try snapshot[entry.place] { print(entry.title, "in", place.name) }
    let inNara = try snapshot.objects(
      of: Entry.self, where: .through(\.place, \.name == "Nara"))

    do {
      try store.write { tx in try tx.set(\.pages, of: entry, to: -1) }
    } catch let error as AnnalsError where error.code == .invalidChange {
      print(error.violations[0].property, error.violations[0].rule)
    }

    try store.write(author: "me") { tx in try tx.delete(entry) }
    try store.history(where: .kind(.delete)).forEachChange { change in
      if let tombstone = change.tombstone(as: Entry.self) {
        print("gone:", try tombstone.id?.uuidString ?? "unknown")
      }
    }
    #expect(inNara.map(\.title) == ["Deer"])
    #expect(try store.snapshot().count(of: Entry.self) == 0)
  }

  @Test func schemasByName() throws {
    let schema = Schema {
      Entity("Entry") {
        Attribute("id", .uuid, isOptional: false, isUnique: true)
        Attribute("title", .string, isOptional: false, default: "untitled")
        Relationship("place", to: "Place")
      }
      Entity("Place") {
        Attribute("name", .string)
      }
    }
    let store = try Store(.memory, schema: schema)
    try store.write { tx in
      let place = try tx.insert("Place", ["name": "Nara"])
      try tx.insert("Entry", ["id": .uuid(UUID()), "place": .object(ObjectReference(place))])
    }
    for entry in try store.snapshot().objects(of: "Entry") { print(entry["title"]) }

    try store.edit(.renameProperty(entity: "Entry", "title", to: "heading"))
    try store.edit(.removeProperty(entity: "Entry", "place"))
    #expect(try store.snapshot().objects(of: "Entry")[0]["heading"] == "untitled")
    #expect(try store.snapshot(at: 2).objects(of: "Entry")[0]["title"] == "untitled")
  }
}
