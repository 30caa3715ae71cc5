import Annals
import AnnalsModel
import Foundation
import Testing

private struct Job: Record {
  var name: String
  var due: Date?
  var isDone: Bool
  var tries: Int

  static let entity = RecordEntity(
    "Job", Job.init,
    Property("name", \.name),
    Property("due", \.due),
    Property("isDone", \.isDone),
    Property("tries", \.tries).default(1)
  ).indexed(by: \.due, where: \.isDone == false).unique(by: \.name, where: \.isDone == false)
}

/// Indexes of some objects alone.
@Suite struct PartialIndexTests {
  @Test func `names are unique among the objects of the condition`() throws {
    let store = try Store(.memory, records: Job.self)
    func job(_ name: String, isDone: Bool = false) -> Job {
      Job(name: name, due: nil, isDone: isDone, tries: 1)
    }
    let first = try store.write { tx in
      try tx.insert(job("wash", isDone: true))
      try tx.insert(job("wash", isDone: true))
      return try tx.insert(job("wash"))
    }
    let refused = #expect(throws: AnnalsError.self) {
      try store.write { try $0.insert(job("wash")) }
    }
    #expect(refused?.code == .invalidChange)
    try store.write { tx in
      try tx.update(first.objectID, ["isDone": true])
      try tx.insert(job("wash"))
    }
    #expect(throws: AnnalsError.self) {
      try store.write { try $0.update(first.objectID, ["isDone": false]) }
    }
    #expect(try store.verify() == [])
  }

  @Test func `it serves what asks for no other objects`() throws {
    let store = try Store(.memory, records: Job.self)
    try store.write { tx in
      for number in 0..<400 {
        try tx.insert(
          Job(
            name: "job \(number)", due: Date(timeIntervalSince1970: Double(number * 7 % 400)),
            isDone: number % 20 != 0, tries: number % 3))
      }
    }
    let snapshot = store.snapshot()
    let next = Fetch(Job.self).where(\.isDone == false).sorted(by: \.due).limit(5)
    #expect(
      try snapshot.explain(next).hasPrefix(
        "by index `due where isDone == FALSE`: 20 of 400 objects\nin order"))
    #expect(try snapshot.objectIDs(next) == snapshot.objectIDs(next.withoutIndexes()))
    #expect(try snapshot.explain(next.sorted(by: \.name)).contains("due where isDone == FALSE"))
    let all = Fetch(Job.self).sorted(by: \.due).limit(5)
    #expect(try snapshot.explain(all).hasPrefix("reads all 400 objects"))
    #expect(throws: AnnalsError.self) {
      try snapshot.objectIDs(all.using("due where isDone == FALSE"))
    }
  }

  @Test func `it is kept, renamed with its attribute, and goes with it`() throws {
    let location = memoryFile()
    let first = try Store(location, records: Job.self)
    try first.write { tx in
      try tx.insert(Job(name: "wash", due: .now, isDone: false, tries: 1))
    }
    try first.checkpoint()
    try first.close()
    let store = try Store(location, creates: false)
    let entity = try #require(store.schema.entity(named: "Job"))
    #expect(
      entity.indexes.map { entity.condition(of: $0)?.description } == [
        "isDone == FALSE", "isDone == FALSE",
      ])
    try store.edit(.renameProperty(entity: "Job", "isDone", to: "finished"))
    let renamed = try #require(store.schema.entity(named: "Job"))
    #expect(renamed.condition(of: renamed.indexes[0])?.description == "finished == FALSE")
    #expect(try store.verify() == [])
    try store.edit(.removeProperty(entity: "Job", "finished"))
    #expect(store.schema.entity(named: "Job")?.indexes.isEmpty == true)
    #expect(try store.verify() == [])
    try store.close()
  }

  /// What a fetch asks, and whether it then finds no object that the index lacks.
  @Test(
    arguments: [
      (.always, false), (.isNil("due"), false), (.compare("due", .notEqual, .int(1)), false),
      (.compare("due", .less, .int(9)), false), (.compare("due", .greaterOrEqual, .int(5)), true),
      (.compare("due", .greaterOrEqual, .int(4)), false),
      (.compare("due", .greater, .double(4.5)), false), (.compare("due", .greater, .int(5)), true),
      (.compare("due", .equal, .int(5)), true), (.compare("due", .equal, .int(4)), false),
      (.isBetween("due", .int(5), .int(6)), true), (.isBetween("due", .int(4), .int(6)), false),
      (.isIn("due", [.int(7)]), false),
    ] as [(Condition, Bool)])
  func `a fetch that asks for no others is told`(asks: Condition, serves: Bool) throws {
    try expect(asks, serves, [.compare("due", .greaterOrEqual, .int(5))])
  }

  @Test(
    arguments: [
      (.always, false), (.isNil("due"), false), (.compare("due", .notEqual, .int(2)), false),
      (.compare("due", .equal, .int(2)), false), (.compare("due", .equal, .int(3)), true),
      (.compare("due", .less, .int(2)), true), (.compare("due", .less, .int(3)), false),
      (.isIn("due", [.int(2), .int(3)]), false),
      (.all([.isNil("due").negated, .compare("due", .notEqual, .int(2))]), true),
    ] as [(Condition, Bool)])
  func `a fetch that leaves out the same is told`(asks: Condition, serves: Bool) throws {
    try expect(
      asks, serves, [.compare("due", .notEqual, .int(2)), .isNil("due").negated])
  }

  private func expect(_ asks: Condition, _ serves: Bool, _ conditions: [Condition]) throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Job") {
          Attribute("due", .int64)
          Attribute("name", .string)
          IndexDescription("some", ["name"], where: .all(conditions))
        }
      })
    try store.write { tx in
      for number in 0..<200 {
        let due: Value = number % 11 == 10 ? .null : .int(Int64(number % 11))
        try tx.insert("Job", ["due": due, "name": .string("\(number)")])
      }
    }
    let snapshot = store.snapshot()
    let fetch = DynamicFetch("Job").where(asks)
    let found = try? snapshot.objectIDs(fetch.using("some"))
    #expect((found != nil) == serves)
    if let found { #expect(found == (try snapshot.objectIDs(fetch.withoutIndexes()))) }
  }

  @Test(
    arguments: [
      (.any([.isNil("due"), .compare("tries", .equal, .int(1))]), "joined by AND"),
      (.text("name", .begins, "a"), "joined by AND"),
      (.compare("name", .less, .string("b")), "texts and data are compared by == and != only"),
      (.compare("name", .equal, .string(String(repeating: "x", count: 257))), "256 bytes"),
      (.compare(["place", "name"], .equal, .string("b")), "no attribute of the object itself"),
      (.compare("tries", .equal, .string("b")), "does not compare with"),
      (.compare("nothing", .equal, .string("b")), "there is no attribute"),
      (.compare("tries", .less, .double(.infinity)), "inf is no value"),
      (.never, "joined by AND"),
    ] as [(Condition, String)])
  func `a condition that cannot be kept is refused`(condition: Condition, reason: String) throws {
    let error = #expect(throws: AnnalsError.self) {
      try Store(
        .memory,
        schema: Schema {
          Entity("Job") {
            Attribute("name", .string)
            Attribute("due", .date)
            Attribute("tries", .int64)
            IndexDescription("some", ["due"], where: condition)
          }
        })
    }
    #expect(error?.code == .invalidSchema)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }
}
