import Annals
import AnnalsModel
import Foundation
import Testing

private struct Guest: Record {
  var name: String
  var mail: String
  var note: String?
  var age: Int
  var friends: [ObjectID]
  static let entity = RecordEntity(
    "Guest", Guest.init, Property("name", \.name),
    Property("mail", \.mail).unique().whenErased("nobody"),
    Property("note", \.note), Property("age", \.age).whenErased(-1),
    Property("friends", \.friends, to: "Guest").whenErased([]))
}

/// Records read what was erased as they say, and conditions, orders and groups leave it alone.
@Suite struct ErasedValueTests {
  private func made() throws -> (Store, [Object<Guest>]) {
    let store = try Store(.memory, records: Guest.self)
    var people: [Object<Guest>] = []
    try store.write { tx in
      for number in 0..<4 {
        people.append(
          try tx.insert(
            Guest(
              name: "p\(number)", mail: "m\(number)", note: number == 0 ? nil : "n", age: number,
              friends: people.map(\.objectID))))
      }
    }
    return (store, people)
  }

  @Test func aRecordSaysWhatErasedValuesReadAs() throws {
    let (store, people) = try made()
    let id = people[2].objectID
    try store.erase(\Guest.mail, of: people[2], reason: "r")
    try store.erase(id, properties: ["age", "note", "friends"], reason: "r")
    let snapshot = store.snapshot()
    let found = try #require(try snapshot.object(Guest.self, id))
    #expect(found.value.mail == "nobody" && found.value.age == -1 && found.value.note == nil)
    #expect(found.value.friends.isEmpty && found.value.name == "p2")
    #expect(try snapshot.isErased(\Guest.note, of: id) && !snapshot.isErased(\Guest.name, of: id))
    #expect(try !snapshot.isErased(\Guest.note, of: people[0].objectID))
    #expect(try snapshot.object(Guest.self, where: \.mail, is: "m2") == nil)
    #expect(try snapshot.object(Guest.self, where: \.mail, is: "nobody") == nil)
    // Changing something else leaves it erased; setting it makes it a value.
    try store.write { tx in try tx.set(\Guest.name, of: id, to: "other") }
    #expect(try store.snapshot().isErased(\Guest.mail, of: id))
    try store.write { tx in try tx.set(\Guest.mail, of: id, to: "nobody") }
    #expect(try !store.snapshot().isErased(\Guest.mail, of: id))
    try store.erase(\Guest.name, of: people[2], reason: "r")
    let error = #expect(throws: AnnalsError.self) {
      try store.snapshot().object(Guest.self, id)
    }
    #expect(error?.code == .erased && error?.message.contains("whenErased") == true)
    #expect(try store.snapshot().object(id)?["name"] == .erased)
    // The past reads the same, and so does what changed.
    #expect(throws: AnnalsError.self) { try store.snapshot(at: 2).objects(of: Guest.self) }
    var names: [String?] = []
    try store.history().forEach { transaction in
      for change in transaction.changes where change.objectID == id && change.kind == .insert {
        names.append(try change.after(\Guest.mail))
        #expect(throws: AnnalsError.self) { try change.after(\Guest.name) }
      }
    }
    #expect(names == ["nobody"])
  }

  /// Entities with the same objects: one without an index, others with one each way.
  private static let schema = Schema {
    for (name, index) in [
      ("Plain", nil), ("Up", [IndexElement("n"), IndexElement("t")]),
      ("Down", [IndexElement("n", isDescending: true)]), ("Text", [IndexElement("t")]),
    ] as [(String, [IndexElement]?)] {
      Entity(name) {
        Attribute("n", .int64)
        Attribute("t", .string)
        Attribute("a", .any)
        if let index { IndexDescription("index", index) }
      }
    }
  }

  /// An index finds what looking at each object finds, erased values among them.
  @Test func indexesAgreeWithObjects() throws {
    var random = SystemRandomNumberGenerator()
    let store = try Store(.memory, schema: ErasedValueTests.schema)
    let names = ["Plain", "Up", "Down", "Text"]
    let values: [[String: Value]] = (0..<60).map { _ in
      let number = Int64.random(in: -3...3, using: &random)
      return [
        "n": number == 3 ? .null : .int(number),
        "t": Bool.random(using: &random) ? .string("t\(number)") : .null,
        "a": Bool.random(using: &random) ? .int(number) : .string("t\(number)"),
      ]
    }
    try store.write { tx in
      for name in names { for value in values { try tx.insert(name, value) } }
    }
    for row in stride(from: Int64(1), through: 60, by: 5) {
      for entity in 1...4 {
        let id = ObjectID(store: store.token.store, entity: EntityNumber(entity), row: row)
        try store.erase(id, properties: row % 2 == 0 ? ["n"] : ["n", "t", "a"], reason: "r")
      }
    }
    let number: PropertyPath = "n"
    let text: PropertyPath = "t"
    let conditions: [Condition] = [
      .always, .compare(number, .greater, 1), .compare(number, .greaterOrEqual, -1),
      .compare(number, .less, 1), .compare(number, .equal, 2), .compare(number, .notEqual, 2),
      .isNil(number), .compare(number, .notEqual, .null), .isBetween(number, -2, 1),
      .isIn(number, [1, .null]),
      .any([.compare(number, .less, -1), .compare(number, .greater, 1)]), .isNil(text),
      .compare(text, .greater, "t"),
      .all([.compare(number, .lessOrEqual, 2), .compare(text, .notEqual, .null)]),
      .compare("a", .equal, 1),
    ]
    let orders: [[SortKey]] = [
      [], [SortKey("n")], [SortKey("n", isDescending: true)], [SortKey("t"), SortKey("n")],
      [SortKey("a")],
    ]
    for condition in conditions {
      for order in orders {
        let plain = try store.snapshot().objectIDs(
          DynamicFetch("Plain").where(condition).sorted(by: order)
        ).map(\.row)
        for name in names.dropFirst() {
          let fetch = DynamicFetch(name).where(condition).sorted(by: order)
          let rows = try store.snapshot().objectIDs(fetch).map(\.row)
          #expect(rows == plain, "\(condition) \(order) of \(name)")
          let unplanned = try store.snapshot().objectIDs(fetch.withoutIndexes()).map(\.row)
          #expect(unplanned == plain, "\(condition) \(order) of \(name) without an index")
        }
      }
    }
    func count(_ condition: Condition) throws -> Int {
      try store.snapshot().fetch(DynamicFetch("Up").where(condition)).count { $0["n"].isErased }
    }
    #expect(try count(.compare(number, .greater, -9)) == 0)
    #expect(try count(.compare(number, .less, 9)) == 0)
    #expect(try count(.isNil(number)) == 0 && count(.compare(number, .equal, 1)) == 0)
    #expect(try count(.compare(number, .notEqual, 1)) > 0)
    let last = try store.snapshot().fetch(DynamicFetch("Up").sorted(by: SortKey("n"))).last
    #expect(last?["n"] == .erased)
  }
}
