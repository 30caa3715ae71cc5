import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Place: Record {
  var name: String?
  static let entity = RecordEntity("Place", Place.init, Property("name", \.name))
}

/// A place as an older program knows it.
private struct NamedPlace: Record {
  var name: String
  static let entity = RecordEntity(
    "Place", NamedPlace.init, Property("name", \.name).default("nowhere"))
}

private struct Visit: Record {
  var number: Int
  var stars: Int?
  var title: String?
  var day: Date?
  var place: Reference<Place>?
  static let entity = RecordEntity(
    "Visit", Visit.init, Property("number", \.number), Property("stars", \.stars),
    Property("title", \.title), Property("day", \.day), Property("place", \.place))
}

/// A visit as an older program knows it: what is optional in the store is required, with a default.
private struct RatedVisit: Record, Equatable {
  var number: Int
  var stars: Int
  var title: String
  var day: Date
  var place: Reference<NamedPlace>?
  static let entity = RecordEntity(
    "Visit", RatedVisit.init, Property("number", \.number),
    Property("stars", \.stars).default(3).whenErased(-1),
    Property("title", \.title).default("fog").whenErased("gone"),
    Property("day", \.day).default(RatedVisit.someDay), Property("place", \.place))

  static let someDay = Date(timeIntervalSince1970: 86_400)
}

/// Where a record reads a default or a replacement, conditions, orders, groups and live views see
/// the same value.
@Suite(.deadline) struct ReplacedValueTests {
  static let indexes: [[[String]]] = [
    [], [["stars"], ["title"], ["day"]], [["stars", "number"], ["number", "stars"]],
  ]

  private func filled(
    _ indexes: [[String]], using random: inout SeededRandom
  ) throws -> Store {
    let schema = Schema {
      Entity("Place") { Attribute("name", .string) }
      Entity("Visit") {
        Attribute("number", .int64, isOptional: false)
        Attribute("stars", .int64)
        Attribute("title", .string)
        Attribute("day", .date)
        Relationship("place", to: "Place")
        for index in indexes {
          IndexDescription(index.joined(separator: ","), index.map { IndexElement($0) })
        }
      }
    }
    let store = try Store(.memory, schema: schema)
    let places = try store.write { tx in
      try ["Kyoto", nil, "nowhere"].map { try tx.insert(Place(name: $0)) }
    }
    try store.write { tx in
      for number in 0..<60 { try tx.insert(visit(number, places, using: &random)) }
    }
    return store
  }

  private func visit(
    _ number: Int, _ places: [Object<Place>], using random: inout SeededRandom
  ) -> Visit {
    Visit(
      number: number, stars: random.chance(70) ? random.below(6) : nil,
      title: random.chance(70) ? ["fog", "fox", "mist", ""][random.below(4)] : nil,
      day: random.chance(70) ? Date(timeIntervalSince1970: 43_200 * Double(random.below(6))) : nil,
      place: random.chance(80) ? places.randomElement(using: &random).map { Reference($0) } : nil)
  }

  /// Conditions, with what they are of a record.
  private func conditions(
    _ snapshot: Snapshot
  ) -> [(RecordCondition<RatedVisit>, (RatedVisit) throws -> Bool)] {
    func name(_ visit: RatedVisit) throws -> String? { try snapshot[visit.place]?.value.name }
    var result: [(RecordCondition<RatedVisit>, (RatedVisit) throws -> Bool)] = []
    func add(
      _ condition: RecordCondition<RatedVisit>, _ holds: @escaping (RatedVisit) throws -> Bool
    ) { result.append((condition, holds)) }
    for stars in -1...5 {
      add(\.stars == stars) { $0.stars == stars }
      add(\.stars != stars) { $0.stars != stars }
      add(\.stars < stars) { $0.stars < stars }
      add(\.stars >= stars) { $0.stars >= stars }
      add(.between(\.stars, 1, stars)) { 1 <= $0.stars && $0.stars <= stars }
      add(.isIn(\.stars, [stars, 0])) { $0.stars == stars || $0.stars == 0 }
      add(!(\.stars == stars) && \.number < 40) { $0.stars != stars && $0.number < 40 }
      add(\.stars == stars || .begins(\.title, with: "fo")) {
        $0.stars == stars || $0.title.hasPrefix("fo")
      }
    }
    for text in ["fog", "gone", "mist", ""] {
      add(\.title == text) { $0.title == text }
      add(\.title > text) { $0.title > text }
      add(.contains(\.title, text, .caseInsensitive)) { $0.title.contains(text) || text.isEmpty }
      add(.like(\.title, "\(text)*")) { $0.title.hasPrefix(text) }
    }
    add(\.day == RatedVisit.someDay) { $0.day == RatedVisit.someDay }
    add(\.day <= RatedVisit.someDay) { $0.day <= RatedVisit.someDay }
    for text in ["Kyoto", "nowhere"] {
      add(.through(\.place, \.name == text)) { try name($0) == text }
      add(.through(\.place, \.name != text)) { try name($0) != text }
    }
    return result
  }

  private func check(_ snapshot: Snapshot) throws {
    let all = try snapshot.fetch(Fetch(RatedVisit.self))
    for (condition, holds) in conditions(snapshot) {
      let fetch = Fetch(RatedVisit.self).where(condition)
      let expected = try all.filter { try holds($0.value) }.map(\.objectID)
      #expect(try snapshot.objectIDs(fetch) == expected, "\(condition)")
      #expect(try snapshot.count(fetch) == expected.count, "\(condition)")
      #expect(try snapshot.objectIDs(fetch.withoutIndexes()) == expected, "\(condition)")
    }
    try checkOrders(snapshot, all)
    try checkGroups(snapshot, all)
  }

  private func checkOrders(_ snapshot: Snapshot, _ all: [Object<RatedVisit>]) throws {
    func sorted<V: Comparable>(_ value: (RatedVisit) -> V) -> [ObjectID] {
      all.sorted { (value($0.value), $0.objectID.row) < (value($1.value), $1.objectID.row) }
        .map(\.objectID)
    }
    let orders: [(RecordSortKey<RatedVisit>, RecordSortKey<RatedVisit>, [ObjectID])] = [
      (.ascending(\.stars), .descending(\.stars), sorted(\.stars)),
      (.ascending(\.title), .descending(\.title), sorted(\.title)),
      (.ascending(\.day), .descending(\.day), sorted(\.day)),
    ]
    for (rising, falling, expected) in orders {
      let up = Fetch(RatedVisit.self).sorted(by: rising)
      let down = Fetch(RatedVisit.self).sorted(by: falling)
      #expect(try snapshot.objectIDs(up) == expected)
      #expect(try snapshot.objectIDs(down) == expected.reversed())
      let page = Array(expected.dropFirst(7).prefix(9))
      #expect(try snapshot.objectIDs(up.offset(7).limit(9)) == page)
    }
    let names = try snapshot.fetch(
      Fetch(RatedVisit.self).sorted(by: .ascending(\.place, \.name, nils: .first))
    ).map { try snapshot[$0.place]?.value.name ?? "" }
    #expect(names == names.sorted())
  }

  private func checkGroups(_ snapshot: Snapshot, _ all: [Object<RatedVisit>]) throws {
    let fetch = Fetch(RatedVisit.self)
    let counts = Dictionary(grouping: all, by: \.value.stars).mapValues(\.count)
    let groups = try snapshot.groups(fetch, by: \.stars, .minimum(\.title))
    #expect(Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.count) }) == counts)
    #expect(try snapshot.groups(fetch, by: \.stars).map(\.key) == counts.keys.sorted())
    for group in groups {
      let titles = all.filter { $0.value.stars == group.key }.map(\.value.title)
      #expect(group.values == titles.min())
    }
    let (sum, count) = try snapshot.aggregate(fetch, .sum(\.stars), .count(of: \.title))
    #expect(sum == all.map(\.value.stars).reduce(0, +) && count == all.count)
    let days = try snapshot.groups(fetch, by: .each(.day, of: \.day, in: .gmt))
    #expect(days.map(\.count).reduce(0, +) == all.count)
    let first = RatedVisit.someDay
    let onDay = all.filter { first <= $0.value.day && $0.value.day < first + 86_400 }.count
    #expect(days.first { $0.key.label == "1970-01-02" }?.count ?? 0 == onDay)
    let predicate = #Predicate<RatedVisit> { $0.stars == 3 && $0.title.count == 3 }
    #expect(
      try snapshot.fetch(fetch.where(predicate)).map(\.value)
        == all.map(\.value).filter { $0.stars == 3 && $0.title.count == 3 })
    let timeline = Timeline(start: \RatedVisit.day)
    #expect(try snapshot.timeline(timeline).count == all.count)
  }

  @Test(arguments: indexes, [1, 2] as [UInt64])
  func everyReadSeesTheValuesOfRecords(indexes: [[String]], seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let store = try filled(indexes, using: &random)
    let before = store.snapshot()
    try check(before)
    let ids = try store.snapshot().objectIDs(Fetch(Visit.self))
    for number in 0..<12 {
      try store.erase(
        ids[number * 5], properties: [["stars"], ["title"], ["stars", "title"]][number % 3],
        reason: "r")
    }
    try check(store.snapshot())
    let token = store.token
    let count = try store.snapshot().count(Fetch(RatedVisit.self).where(\.stars == 3))
    #expect(
      try store.write { tx in
        try tx.update(RatedVisit.self, where: \.stars == 3) { $0.number += 100 }
      } == count)
    #expect(
      try store.write { tx in try tx.delete(RatedVisit.self, where: \.title == "gone") } > 0)
    #expect(try store.snapshot().count(Fetch(RatedVisit.self).where(\.title == "gone")) == 0)
    try check(store.snapshot())
    try check(store.snapshot(at: token))
  }

  private func change(_ store: Store, using random: inout SeededRandom) throws {
    let ids = try store.snapshot().objectIDs(Fetch(Visit.self))
    try store.write { tx in
      for _ in 0..<5 {
        let id = ids[random.below(ids.count)]
        try tx.set(\Visit.stars, of: id, to: random.chance(50) ? random.below(6) : nil)
        if random.chance(50) { try tx.set(\Visit.day, of: id, to: nil) }
        try tx.set(\Visit.title, of: id, to: random.chance(50) ? "mist" : nil)
      }
      try tx.insert(visit(ids.count, [], using: &random))
    }
  }

  /// A past state without the attributes reads as their defaults; other attributes may have had
  /// their names then.
  @Test(arguments: [false, true]) func aStateBeforeTheAttributes(hasOthers: Bool) throws {
    let schema = Schema {
      Entity("Place") { Attribute("id", .int64) }
      Entity("Visit") {
        Attribute("number", .int64, isOptional: false)
        Relationship("place", to: "Place")
        if hasOthers {
          Attribute("stars", .string)
          Attribute("title", .date)
        }
      }
    }
    let store = try Store(.memory, schema: schema)
    try store.write { tx in
      let place = try tx.insert("Place", ["id": 1])
      for number in 0..<20 {
        let leads = number % 3 == 0
        let values: [String: Value] = [
          "number": .int(Int64(number)), "place": leads ? .object(ObjectReference(place)) : .null,
        ]
        let others: [String: Value] = hasOthers ? ["stars": "x", "title": .date(.now)] : [:]
        try tx.insert("Visit", values.merging(others) { a, _ in a })
      }
    }
    let then = store.token
    if hasOthers {
      try store.edit(
        .renameProperty(entity: "Visit", "stars", to: "old stars"),
        .removeProperty(entity: "Visit", "title"))
    }
    try store.require([RatedVisit.self, NamedPlace.self])
    let past = try store.snapshot(at: then)
    #expect(try past.fetch(Fetch(RatedVisit.self)).allSatisfy { $0.value.stars == 3 })
    try check(past)
    try check(store.snapshot())
  }

  @Test(arguments: indexes, [3, 4] as [UInt64])
  func liveViewsSeeTheValuesOfRecords(indexes: [[String]], seed: UInt64) async throws {
    var random = SeededRandom(seed: seed)
    let store = try filled(indexes, using: &random)
    let fetch = Fetch(RatedVisit.self).where(\.stars >= 2 && \.title != "mist")
      .sorted(by: .descending(\.day))
    var view = store.live(fetch, sections: .by(\.stars)).makeAsyncIterator()
    var rows = try #require(try await view.next()).rows
    for _ in 0..<20 {
      try change(store, using: &random)
      rows = try #require(try await view.next()).rows
      let wanted = try store.snapshot().fetch(Fetch(RatedVisit.self)).filter {
        $0.value.stars >= 2 && $0.value.title != "mist"
      }
      let expected = wanted.sorted {
        ($0.value.stars, $1.value.day, $1.objectID.row)
          < ($1.value.stars, $0.value.day, $0.objectID.row)
      }
      #expect(try rows.all().map(\.value) == expected.map(\.value))
    }
  }

  @Test func anIndexServesOnceNoObjectNeedsTheDefault() throws {
    var random = SeededRandom(seed: 5)
    let store = try filled([["stars"]], using: &random)
    let fetch = Fetch(RatedVisit.self).sorted(by: .ascending(\.stars))
    let serves = { try store.snapshot().explain(fetch).hasPrefix("by index `stars`") }
    #expect(try !serves())
    #expect(
      try store.snapshot().explain(fetch).contains(
        "not by index `stars`: some objects lack a value, which records read as another"))
    try store.write { tx in
      try tx.update(Visit.self, where: \.stars == nil) { $0.stars = 3 }
    }
    #expect(try serves())
    #expect(try store.snapshot().explain(fetch.where(\.stars == 3)).contains("by index `stars`"))
    #expect(try store.snapshot().groups(Fetch(RatedVisit.self), by: \.stars).count == 6)
    try check(store.snapshot())
    let id = try store.snapshot().objectIDs(Fetch(Visit.self))[0]
    try store.erase(id, properties: ["stars"], reason: "r")
    #expect(try !serves())
    try check(store.snapshot())
  }
}
