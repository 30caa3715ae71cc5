import Annals
import AnnalsInspector
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// What is said of objects that are gone where values name them.
@Suite(.deadline) struct DepartedNameTests {
  private let world: InspectorWorld

  init() throws { world = try InspectorWorld(transactions: 0) }

  /// Places p1 and p2, and two posts that refer to them.
  private func grow(
    _ body: (Store, _ places: [ObjectID], _ posts: [ObjectID]) throws -> Void
  ) throws {
    try world.write { store in
      var (places, posts): ([ObjectID], [ObjectID]) = ([], [])
      try store.write { tx in
        for name in ["p1", "p2"] {
          places.append(
            try tx.insert("Place", ["id": .string(name), "name": .string("in \(name)")]))
        }
        for name in ["x1", "x2"] {
          let tags = places.map { ObjectReference($0) }
          posts.append(
            try tx.insert(
              "Post", ["id": .string(name), "place": .object(tags[0]), "tags": .objects(tags)]))
        }
      }
      try body(store, places, posts)
    }
  }

  private func isP1(_ object: ShownObject?) -> Bool {
    object?.name == "Place/p1" && object?.label == "in p1" && object?.exists == false
  }

  /// The reference stays when its object is deleted.
  @Test func aReferenceThatStays() throws {
    let folder = try TemporaryFolder()
    let schema = Schema(entities: [
      Entity(
        "Place",
        attributes: [Attribute("id", .string, isUnique: true), Attribute("name", .string)],
        displayName: "name"),
      Entity(
        "Post", attributes: [Attribute("id", .string, isUnique: true)],
        relationships: [Relationship("place", to: "Place", onDelete: .keep)]),
    ])
    try Store.with(path: folder.path("k.annals"), schema: schema) { store in
      let place = try store.write { tx in
        let place = try tx.insert("Place", ["id": .string("p1"), "name": .string("in p1")])
        for name in ["x1", "x2"] {
          try tx.insert(
            "Post", ["id": .string(name), "place": .object(ObjectReference(place))])
        }
        return place
      }
      try store.write { try $0.delete(place) }
      try store.write { try $0.insert("Place", ["id": .string("p3")]) }
    }
    let file = InspectedFile(name: "k", path: folder.path("k.annals"), shownPath: "k.annals")
    func ask(_ parameters: (String, String)...) -> Asking {
      Asking(file, RequestParameters(parameters))
    }
    let object = try ask(("object", "Post/x1")).object()
    #expect(isP1(object.properties.first { $0.name == "place" }?.value.object))
    let table = try ask(("entity", "Post"), ("columns", "id,place")).table()
    #expect(table.rows.count == 2 && table.rows.allSatisfy { isP1($0.values[1].object) })
    // At a moment at which it was there, it is.
    let then = try ask(("object", "Post/x1"), ("at", "\(object.moment.head - 2)")).object()
    #expect(then.properties.first { $0.name == "place" }?.value.object?.exists == true)
  }

  /// The reference goes with its object.
  @Test func aReferenceThatGoes() throws {
    try grow { store, places, posts in
      try store.write { tx in
        try tx.update(posts[0], ["place": .null, "tags": .objects([ObjectReference(places[1])])])
        try tx.delete(places[0])
      }
    }
    let head = try world.ask().transactions().head
    let documents = [
      try world.ask(["number": "\(head)"]).transaction().changes,
      try world.ask(["from": "\(head - 1)"]).difference().changes,
      try world.ask(["object": "Post/x1"]).life().versions.compactMap(\.change),
    ]
    for changes in documents {
      let update = try #require(changes.first { $0.object.name == "Post/x1" })
      #expect(isP1(update.properties.first { $0.property == "place" }?.before?.object))
      let removed = update.properties.first { $0.property == "tags" }?.edits?.removed
      #expect(removed?.count == 1 && isP1(removed?.first?.object))
    }
  }
}
