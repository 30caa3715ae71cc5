import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Testing

/// An index is built once and kept, and serves what it can serve.
@Suite struct KeptIndexTests {
  /// Objects enough that an index of them is worth a checkpoint, in one.
  private func store(_ location: StoreLocation) throws {
    let store = try Store(
      location,
      schema: Schema {
        Entity("Row") {
          Attribute("number", .int64)
          Attribute("mixed", .any)
        }
        Entity("Other") { Attribute("name", .string) }
      }, environment: .fixed())
    try store.write { tx in
      for number in 0..<6_000 as Range<Int64> {
        let mixed: [Value] = [
          .int(number % 50), .double(Double(number % 50)), .string("t\(number % 50)"),
          .double(Double(number % 50) + 0.5), .bool(number % 3 == 0), .null, .double(-0.0),
        ]
        try tx.insert("Row", ["number": .int(number), "mixed": mixed[Int(number % 7)]])
      }
    }
    try store.close()
  }

  /// The newest checkpoint's number, and how many entries it has of each index of rows.
  private func checkpoint(_ store: Store) throws -> (number: Int64, entries: [Int64]) {
    let view = store.version.view
    let directory = try #require(try view.checkpoint(atOrBefore: view.head.number))
    return (directory.number, directory.entities[0].indexes.map(\.count))
  }

  /// It was in no checkpoint until many changes had followed: each opening built it anew.
  @Test func aCloseKeepsAnIndexThatWasAdded() throws {
    let location = memoryFile()
    try store(location)
    let index = Schema {
      Entity("Row") {
        Attribute("number", .int64)
        IndexDescription("byNumber", ["number"])
      }
    }
    let second = try Store(location, schema: index, environment: .fixed(seed: 2))
    #expect(try checkpoint(second).entries == [])
    try second.close()
    let third = try Store(location, creates: false, environment: .fixed(seed: 3))
    #expect(try checkpoint(third) == (3, [6_000]))
    #expect(third.version.state.unsavedIndexEntries == 0)
    try third.write { try $0.insert("Row", ["number": 7_000]) }
    try third.close()
    // Once is enough.
    let fourth = try Store(location, creates: false, environment: .fixed(seed: 4))
    #expect(try checkpoint(fourth) == (3, [6_000]))
    let plan = try fourth.snapshot().explain(
      DynamicFetch("Row").where(.compare("number", .equal, 7_000)))
    #expect(plan.contains("byNumber"), "\(plan)")
    let fetch = DynamicFetch("Row").where(.compare("number", .equal, 7_000))
    #expect(try fourth.snapshot().count(fetch) == 1)
    #expect(try fourth.problems().isEmpty)
  }

  @Test func aCompactionKeepsAnIndexThatWasAdded() throws {
    let location = memoryFile()
    try store(location)
    let store = try Store(location, creates: false, environment: .fixed(seed: 2))
    try store.require(
      Schema {
        Entity("Row") {
          Attribute("number", .int64)
          IndexDescription("byNumber", ["number"])
        }
      })
    try store.compact()
    #expect(try checkpoint(store) == (3, [6_000]))
  }

  @Test func anIndexOfAnyKindServesWhatIsEqual() throws {
    let location = memoryFile()
    try store(location)
    let store = try Store(
      location,
      schema: Schema {
        Entity("Row") {
          Attribute("mixed", .any)
          Attribute("number", .int64)
          IndexDescription("mixed", ["mixed", "number"])
        }
      }, environment: .fixed(seed: 2))
    let snapshot = store.snapshot()
    let values: [Value] = [
      0, 7, 7.0, 7.5, -0.0, 0.0, "t7", "", true, false, .int(.max), .double(0x1p63), 1e300, .null,
    ]
    func compare(_ condition: AnnalsModel.Condition, isServed: Bool) throws {
      let fetch = DynamicFetch("Row").where(condition).sorted(by: [SortKey("number")])
      let plan = try snapshot.explain(fetch)
      #expect(plan.hasPrefix("by index `mixed`") == isServed, "\(condition): \(plan)")
      #expect(
        try snapshot.objectIDs(fetch) == snapshot.objectIDs(fetch.withoutIndexes()), "\(condition)")
    }
    for value in values {
      try compare(.compare("mixed", .equal, value), isServed: true)
      try compare(.isIn("mixed", [value, "t3", 9]), isServed: true)
      try compare(
        .all([.compare("mixed", .equal, value), .compare("number", .less, 1_000)]),
        isServed: true)
    }
    for condition in [
      .compare("mixed", .less, 7), .compare("mixed", .greaterOrEqual, "t"),
      .isBetween("mixed", 7, 7), .compare("mixed", .notEqual, 7),
    ] as [AnnalsModel.Condition] {
      try compare(condition, isServed: false)
    }
  }
}
