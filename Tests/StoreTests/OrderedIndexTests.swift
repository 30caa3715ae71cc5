import Annals
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsState
import AnnalsStorage
import Foundation
import Testing

/// Ordered indexes that stores keep: from opening with a new one to what rewrites make of them.
@Suite struct OrderedIndexTests {
  struct Event: Record {
    var id: String
    var date: Date
    var title: String?

    static let entity = RecordEntity(
      "Event", Event.init, Property("id", \.id).unique(),
      Property("date", \.date).indexed(.descending), Property("title", \.title)
    ).indexed(by: \.title, \.date)
  }

  /// The same entity as a program that knows of no index sees it.
  static let plain = Schema {
    Entity("Event") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("date", .date, isOptional: false)
      Attribute("title", .string)
    }
  }

  private static let environment = StoreEnvironment.fixed(seed: 3)

  private func typed(_ location: StoreLocation) throws -> Store {
    try Store(location, schema: Schema(records: [Event.self]), environment: Self.environment)
  }

  /// Adds some events, in no order.
  private func add(_ range: Range<Int>, to store: Store) throws {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: 100) {
      try store.write { tx in
        for number in start..<min(start + 100, range.upperBound) {
          let seconds = Double(number &* 7919 % 10_007)
          let title = number % 7 == 0 ? nil : "\(String(repeating: "t", count: number % 300))"
          try tx.insert(
            "Event",
            [
              "id": .string("e\(number)"),
              "date": .date(Timestamp(microseconds: Int64(seconds) * 1_000_000)),
              "title": title.map { .string($0) } ?? .null,
            ])
        }
      }
    }
  }

  /// That the state's indexes are there and in the order of the values.
  private func expectOrder(
    _ store: Store, state: State? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let state = state ?? store.version.state
    let entity = try #require(state.schema.entity(named: "Event"), sourceLocation: sourceLocation)
    #expect(entity.indexes.count == 2, sourceLocation: sourceLocation)
    #expect(try state.invariantViolations() == [], sourceLocation: sourceLocation)
    var dates: [(date: Int64, row: Int64)] = []
    var rows = state.rows(of: entity.number)
    let property = try #require(entity.attribute(named: "date")).number
    while let row = try rows.next() {
      guard case .date(let date) = try state.value(entity.number, row, property) else { continue }
      dates.append((date.microseconds, row))
    }
    dates.sort { $0.date == $1.date ? $0.row < $1.row : $0.date > $1.date }
    let view = try #require(
      try state.index(entity.number, entity.indexes[0].number), sourceLocation: sourceLocation)
    let found = try view.rows(in: 0..<view.count, isBackward: false, reversesTies: false)
    #expect(found == dates.map(\.row), sourceLocation: sourceLocation)
  }

  @Test func `an index is built when a store is opened with it, and kept`() throws {
    let location = memoryFile()
    let plain = try Store(
      location, schema: OrderedIndexTests.plain, environment: OrderedIndexTests.environment)
    try add(0..<14_000, to: plain)
    try plain.checkpoint()
    try plain.close()
    var store = try typed(location)
    try expectOrder(store)
    try add(14_000..<14_200, to: store)
    try expectOrder(store)
    try store.checkpoint()
    let first = try #require(try store.version.view.checkpoint(atOrBefore: store.token.number))
    let chunks = try #require(first.entities[0].indexes.last).chunks
    #expect(chunks.count > 1)
    // An early insert at the next checkpoint.
    try store.write { tx in
      try tx.insert("Event", ["id": .string("late"), "date": .date(.init(microseconds: 1 << 50))])
    }
    try store.checkpoint()
    let second = try #require(try store.version.view.checkpoint(atOrBefore: store.token.number))
    let date = try #require(second.entities[0].indexes.first { $0.rule == 4 })
    let old = try #require(first.entities[0].indexes.first { $0.rule == 4 })
    #expect(
      zip(date.chunks, old.chunks).map { $0.reference.offset == $1.reference.offset }
        == [false] + Array(repeating: true, count: old.chunks.count - 1))
    #expect(try store.verify() == [])
    try store.close()
    store = try Store(location, creates: false, environment: OrderedIndexTests.environment)
    try expectOrder(store)
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func `rewrites and the past keep them`() throws {
    let location = memoryFile()
    var store = try typed(location)
    try add(0..<3000, to: store)
    try store.checkpoint()
    try store.write { tx in
      for object in try tx.objects(of: "Event").prefix(400) { try tx.delete(object.objectID) }
    }
    try add(3000..<3400, to: store)
    let middle = store.token
    try add(3400..<3600, to: store)
    try expectOrder(store, state: try store.version.state(at: middle.number))
    try expectOrder(store, state: try store.version.state(at: 5))
    _ = try store.compact()
    try expectOrder(store)
    #expect(try store.verify() == [])
    _ = try store.prune(try store.prunePlan(before: middle))
    try expectOrder(store)
    #expect(try store.verify() == [])
    try store.close()
    store = try Store(location, creates: false, environment: OrderedIndexTests.environment)
    try expectOrder(store)
    try expectOrder(store, state: try store.version.state(at: middle.number))
    try store.close()
    _ = try Store.salvage(
      location, to: "/salvaged.annals", environment: OrderedIndexTests.environment)
    let salvaged = try Store(
      StoreLocation(fileSystem: location.fileSystem, path: "/salvaged.annals"), creates: false,
      environment: OrderedIndexTests.environment)
    try expectOrder(salvaged)
    #expect(try salvaged.verify() == [])
    try salvaged.close()
  }

  @Test func `text over 4 KiB and undefined order fail no write`() throws {
    let store = try typed(memoryFile())
    let long = String(repeating: "long ", count: 2000)
    for number in 0..<20 {
      try store.write { tx in
        try tx.insert(
          "Event",
          [
            "id": .string("\(number)"), "date": .date(.init(microseconds: Int64(number))),
            "title": .string(number % 2 == 0 ? long + "\(number)" : "short"),
          ])
      }
    }
    try store.write { tx in
      let object = try #require(try tx.object(of: "Event", where: "id", is: .string("4")))
      try tx.update(object.objectID, ["title": .string("short now")])
      let other = try #require(try tx.object(of: "Event", where: "id", is: .string("6")))
      try tx.delete(other.objectID)
    }
    try expectOrder(store)
    let view = try #require(try store.version.state.index(1, 5))
    #expect(try view.orderedCount() == 11)
    #expect(view.count == 19)
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func `a default that becomes optional keeps objects in order`() throws {
    let location = memoryFile()
    func schema(_ rank: Attribute) -> Schema {
      Schema {
        Entity("Item") {
          Attribute("name", .string)
          rank
          IndexDescription("rank", ["rank"])
        }
      }
    }
    var store = try Store(
      location,
      schema: Schema {
        Entity("Item") { Attribute("name", .string) }
      },
      environment: OrderedIndexTests.environment)
    func add(_ values: [String: Value]) throws {
      try store.write { tx in try tx.insert("Item", values) }
    }
    func names() throws -> [Value] {
      let state = store.version.state
      #expect(try state.invariantViolations() == [])
      let number = try #require(state.schema.entities.first?.indexes.first).number
      let view = try #require(try state.index(1, number))
      return try view.rows(in: 0..<view.count, isBackward: false, reversesTies: false).map {
        try state.value(1, $0, 1)
      }
    }
    try add(["name": "old"])
    try store.close()
    store = try Store(
      location, schema: schema(Attribute("rank", .int64, isOptional: false, default: .int(5))),
      environment: OrderedIndexTests.environment)
    try add(["name": "low", "rank": .int(1)])
    try add(["name": "high", "rank": .int(9)])
    #expect(try names() == ["low", "old", "high"])
    try store.checkpoint()
    try store.close()
    store = try Store(
      location, schema: schema(Attribute("rank", .int64)),
      environment: OrderedIndexTests.environment)
    try add(["name": "none", "rank": .null])
    #expect(try names() == ["none", "low", "old", "high"])
    #expect(try store.verify() == [])
    try store.close()
  }

  /// Runs of equal values are turned round where ties fall; values that end alike are no run.
  @Test(arguments: ["flag", "small", "text"]) func `values that end alike`(first: String) throws {
    let schema = Schema {
      Entity("Item") {
        Attribute("flag", .bool)
        Attribute("small", .int16)
        Attribute("text", .string)
        Attribute("date", .date)
        IndexDescription("both", [IndexElement(first), IndexElement("date", isDescending: true)])
      }
    }
    let store = try Store(.memory, schema: schema)
    let date = Value.date(Timestamp(microseconds: 1 << 40))
    try store.write { tx in
      for number in 0..<900 {
        let kind = number % 7 % 2
        try tx.insert(
          "Item",
          [
            "flag": .bool(kind == 0), "small": .int(Int64(kind)), "text": ["a", "b"][kind],
            "date": date,
          ])
      }
    }
    let keys = [SortKey.ascending(PropertyPath(first)), .descending("date")]
    let fetch = DynamicFetch("Item").sorted(by: keys)
    let snapshot = store.snapshot()
    #expect(try snapshot.explain(fetch).hasPrefix("by index `both`"))
    let wanted = try snapshot.objectIDs(fetch.withoutIndexes())
    #expect(try snapshot.objectIDs(fetch) == wanted)
    #expect(try snapshot.objectIDs(fetch.offset(300).limit(250)) == Array(wanted[300..<550]))
  }
}
