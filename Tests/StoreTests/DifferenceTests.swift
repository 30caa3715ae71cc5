import Annals
import AnnalsModel
import Testing

/// Differences of whole states.
@Suite struct DifferenceTests {
  /// More objects than the pages hold in which they are read.
  @Test func manyObjectsAreAllThere() throws {
    let store = try noteStore()
    let count = 9_000
    try store.write { tx in
      for number in 0..<count { try tx.insert("Note", ["id": .string("\(number)")]) }
    }
    let there = try store.diff(from: 1).changes
    #expect(there.map(\.objectID.row) == (1...count).map { Int64($0) })
    #expect(there.allSatisfy { $0.kind == .insert })
    let back = try store.diff(from: 2, to: 1).changes
    #expect(back.map(\.objectID) == there.map(\.objectID))
    #expect(back.allSatisfy { $0.kind == .delete })
    #expect(back.last?.before("id") == .string("\(count - 1)"))
    for (first, second) in [(1, 2), (2, 1), (2, 2)] as [(Int64, Int64)] {
      let found = try store.diff(from: first, to: second)
      #expect(found.from.number == first && found.to.number == second)
    }
  }

  @Test func onlyAPropertyThatWasRemovedLater() throws {
    let store = try Store(
      memoryFile(),
      schema: Schema {
        Entity("Page") {
          Attribute("id", .string, isOptional: false, isUnique: true)
          Attribute("stars", .int64)
        }
      }, environment: .fixed())
    let page = try store.write { try $0.insert("Page", ["id": "p", "stars": 1]) }
    try store.write { try $0.update(page, ["stars": 2]) }
    try store.edit(.removeProperty(entity: "Page", "stars"))
    for (from, to, before, after) in [
      (2, 3, 1, 2), (3, 2, 2, 1), (2, 4, 1, .null), (4, 2, .null, 1), (3, 4, 2, .null),
    ] as [(Int64, Int64, Value, Value)] {
      let changes = try store.diff(from: from, to: to).changes
      #expect(changes.map(\.changedProperties) == [["stars"]], "\(from) to \(to)")
      #expect(changes.first?.before("stars") == before && changes.first?.after("stars") == after)
    }
    #expect(try store.diff(from: 4).changes.isEmpty)
  }

  /// A note, its folder, and the folder's parent: of these only the folder changes.
  @Test func aFetchFollowsAReferenceHalfwayAlongItsPath() throws {
    let schema = Schema {
      Entity("Note") { Relationship("folder", to: "Folder") }
      Entity("Folder") {
        Attribute("name", .string)
        Relationship("parent", to: "Folder")
      }
    }
    let store = try Store(memoryFile(), schema: schema, environment: .fixed())
    let (attic, box) = try store.write { tx in
      let home = try tx.insert("Folder", ["name": "home"])
      let box = try tx.insert("Folder", ["parent": .object(ObjectReference(home))])
      _ = try tx.insert("Note", ["folder": .object(ObjectReference(box))])
      return (try tx.insert("Folder", ["name": "attic"]), box)
    }
    let start = store.token
    try store.write { try $0.update(box, ["parent": .object(ObjectReference(attic))]) }
    for (name, wasThere) in [("home", true), ("attic", false)] {
      let isThere = Condition.compare(["folder", "parent", "name"], .equal, .string(name))
      let diff = try store.diff(of: DynamicFetch("Note").where(isThere), from: start)
      #expect(diff.deletes.count == (wasThere ? 1 : 0), "\(name)")
      #expect(diff.inserts.count == (wasThere ? 0 : 1), "\(name)")
    }
  }
}
