import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Site: Record {
  var name: String
  var height: Int
  static let entity = RecordEntity(
    "Site", Site.init, Property("name", \.name).indexed(), Property("height", \.height))
}

private struct Reading: Record {
  var code: String
  var mark: String?
  var taken: Date
  var level: Double?
  var count: Int
  var place: String?
  var isChecked: Bool
  var site: Reference<Site>?

  static let entity = RecordEntity(
    "Reading", Reading.init,
    Property("code", \.code).unique(),
    Property("mark", \.mark).unique(),
    Property("taken", \.taken).indexed(.descending),
    Property("level", \.level).indexed(),
    Property("count", \.count).default(3),
    Property("place", \.place).indexed(),
    Property("isChecked", \.isChecked),
    Property("site", \.site)
  ).indexed(by: \.count, \.taken).indexed(by: \.place, \.level).indexed(by: \.site, \.taken)
    .indexed(by: \.taken, \.code, where: \.level != nil && \.count >= 2)
    .indexed(by: \.level, where: \.isChecked == true && \.place != "a")
    .indexed(by: \.code, \.count, where: \.count < 4)
}

/// Whatever index serves, a fetch finds what reading all objects finds.
@Suite struct FetchPlanTests {
  private final class Random {
    private var numbers: SeededRandom
    /// Where readings are taken; one of them is deleted later.
    var sites: [Object<Site>] = []
    var deletedSite = -1

    init(seed: UInt64) { numbers = SeededRandom(seed: seed) }

    func below(_ bound: Int) -> Int { numbers.draw(bound) }

    func reading(_ number: Int) -> Reading {
      Reading(
        code: "c\(number)", mark: number % 3 == 0 ? "m\(number)" : nil, taken: date(),
        level: level(), count: below(6), place: place(),
        isChecked: below(2) == 0,
        site: site())
    }

    private func site() -> Reference<Site>? {
      let number = below(7)
      return number < sites.count && number != deletedSite ? Reference(sites[number]) : nil
    }

    func date() -> Date { Date(timeIntervalSince1970: Double(below(40)) * 3600) }

    func level() -> Double? {
      let levels: [Double?] = [nil, -0.0, 0.0, 1.5, -2, 1e300, 3, 7.25]
      return levels[below(levels.count)]
    }

    func place() -> String? {
      let long = String(repeating: "a long way from here ", count: 14)
      let places: [String?] = [
        nil, "", "a", "b", long, long + "x", long + "a", "é", "e\u{301}",
        "\u{D7FF}x", "\u{E000}",
      ]
      return places[below(places.count)]
    }

    func condition() -> RecordCondition<Reading>? {
      var result: RecordCondition<Reading>?
      for _ in 0..<below(4) {
        let part = single()
        result = result.map { $0 && part } ?? part
      }
      return result
    }

    private func single() -> RecordCondition<Reading> {
      let place = place() ?? "b"
      switch below(36) {
      case 34: return \.count <= below(6)
      case 35: return .isIn(\.level, [level(), level(), 3]) && \.count >= 2
      case 32: return \.mark == nil
      case 33: return .isIn(\.mark, ["m\(below(300))", "m0", [nil, "m3"][below(2)]])
      case 20: return .isIn(\.count, [below(6), below(6), below(9)])
      case 21: return .isIn(\.place, [place, self.place(), "b"])
      case 22: return .isIn(\.level, [level(), 0, 3])
      case 23: return \.place == place || \.place == "b" || .isIn(\.place, ["a", ""])
      case 24: return \.taken < date() || \.taken > date()
      case 25:
        return \.count == below(6) && \.taken > date() || \.count == below(6) && \.level > 0
      case 26: return .begins(\.place, with: String(place.prefix(below(5))))
      case 27: return .begins(\.place, with: ["a", "e", "\u{D7FF}", "\u{10FFFF}"][below(4)])
      case 28: return sites.isEmpty ? .always : \.site == sites[below(sites.count)]
      case 29: return .through(\.site, \.name == ["north", "south", "west"][below(3)])
      case 30: return .through(\.site, .isIn(\.name, ["north", "west"]) && \.height > 1)
      case 31: return \.site == nil || .through(\.site, \.name >= "s")
      case 0: return \.taken > date()
      case 1: return \.taken <= date()
      case 2: return \.taken == date()
      case 3: return .between(\.taken, date(), date())
      case 4: return \.level == level()
      case 5: return \.level >= (level() ?? 0)
      case 6: return \.level < (level() ?? 0)
      case 7: return \.count == below(6)
      case 8: return \.count > below(6)
      case 9: return \.place == place
      case 10: return \.place < place
      case 11: return \.place != nil
      case 12: return \.code == "c\(below(300))"
      case 13: return \.isChecked == true || \.count == 2
      case 14: return \.isChecked == true && \.place != "a"
      case 15: return \.level != nil
      case 16: return \.count >= 2
      case 17: return \.level > (level() ?? 0) && .between(\.count, 2, below(6))
      case 18: return \.place == "b" && \.isChecked == true
      default: return \.place == self.place()
      }
    }

    func sortKeys() -> [RecordSortKey<Reading>] {
      (0..<below(4)).map { _ in
        let nils: SortKey.NilPlace = [.byDirection, .first, .last][below(3)]
        switch below(8) {
        case 0, 1: return .descending(\.taken)
        case 2: return .ascending(\.taken)
        case 3: return .ascending(\.level, nils: nils)
        case 4: return .descending(\.level, nils: nils)
        case 5: return .descending(\.place, nils: nils)
        case 6: return .ascending(\.place, nils: nils)
        default: return below(2) == 0 ? .ascending(\.count) : .descending(\.count)
        }
      }
    }
  }

  private static func compare(
    _ source: some ObjectSource, _ names: [String], _ random: Random, _ comment: Comment
  ) throws -> Int {
    var served = 0
    for _ in 0..<60 {
      var fetch = Fetch(Reading.self).where(random.condition())
      for key in random.sortKeys() { fetch = fetch.sorted(by: key) }
      if random.below(2) == 0 { fetch = fetch.limit(random.below(30)) }
      if random.below(3) == 0 { fetch = fetch.offset(random.below(40)) }
      let expected = try source.objectIDs(fetch.withoutIndexes())
      #expect(try source.objectIDs(fetch) == expected, "\(comment): \(fetch)")
      #expect(try source.count(fetch) == expected.count, "\(comment): \(fetch)")
      #expect(try source.exists(fetch) == !expected.isEmpty, "\(comment): \(fetch)")
      for name in names {
        // An index that cannot serve is refused.
        guard let found = try? source.objectIDs(fetch.using(name)) else { continue }
        served += 1
        #expect(found == expected, "\(comment): \(fetch) by \(name)")
      }
    }
    return served
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `an index changes no answer`(seed: UInt64) throws {
    let random = Random(seed: seed)
    let store = try Store(.memory, records: Reading.self, Site.self)
    random.sites = try store.write { tx in
      try (0..<5).map { number in
        try tx.insert(Site(name: ["north", "south"][number % 2], height: number))
      }
    }
    var number = 0
    var tokens: [Token] = []
    for _ in 0..<6 {
      try store.write { tx in
        for _ in 0..<50 {
          try tx.insert(random.reading(number))
          number += 1
        }
        for object in try tx.fetch(Fetch(Reading.self)) where random.below(8) == 0 {
          if random.below(3) == 0 {
            try tx.delete(object.objectID)
          } else {
            let (taken, level) = (random.date(), random.level())
            try tx.update(object) {
              $0.taken = taken
              $0.level = level
            }
          }
        }
      }
      tokens.append(store.snapshot().token)
    }
    // References that lead to none.
    try store.write { try $0.delete(random.sites[1]) }
    random.deletedSite = 1
    let names =
      try #require(store.schema.entity(named: "Reading")).indexes.map(\.name)
      + ["code", "mark"]
    #expect(names.count == 11)
    var served = try Self.compare(store.snapshot(), names, random, "seed \(seed), head")
    for token in [tokens[1], tokens[4]] {
      served += try Self.compare(
        store.snapshot(at: token), names, random, "seed \(seed), at \(token.number)")
    }
    try store.write { tx in
      for _ in 0..<20 {
        try tx.insert(random.reading(number))
        number += 1
      }
      served += try Self.compare(tx, names, random, "seed \(seed), in a transaction")
    }
    #expect(served > 300)
  }

  @Test func `many records come in the order of their keys`() throws {
    let random = Random(seed: 9)
    let store = try Store(.memory, records: Reading.self, Site.self)
    try store.write { tx in
      for number in 0..<3_000 { try tx.insert(random.reading(number)) }
    }
    let snapshot = store.snapshot()
    let fetch = Fetch(Reading.self).sorted(by: \.taken, .descending)
    let found = try snapshot.fetch(fetch)
    #expect(found.map(\.objectID) == (try snapshot.objectIDs(fetch.withoutIndexes())))
    for object in found {
      #expect(object.code == "c\(object.objectID.row - 1)")
    }
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.taken >= $1.taken })
  }

  @Test func `an index that cannot serve is refused by name`() throws {
    let store = try Store(.memory, records: Reading.self, Site.self)
    let fetch = Fetch(Reading.self).where(\.isChecked == true)
    try store.write { tx in
      let random = Random(seed: 4)
      try tx.insert(random.reading(1))
    }
    for name in ["taken descending", "nothing"] {
      let error = #expect(throws: AnnalsError.self) {
        try store.snapshot().count(fetch.using(name))
      }
      #expect(error?.code == .invalidArgument && error?.message.contains(name) == true)
    }
  }

  @Test func `a plan says what serves and what would help`() throws {
    let store = try Store(.memory, records: Reading.self, Site.self)
    try store.write { tx in
      let random = Random(seed: 5)
      for number in 0..<500 { try tx.insert(random.reading(number)) }
    }
    let snapshot = store.snapshot()
    let newest = Fetch(Reading.self).where(\.isChecked == true)
      .sorted(by: \.taken, .descending).limit(5)
    let words = try snapshot.explain(newest).split(separator: "\n")
    #expect(
      words.prefix(3) == [
        "by index `taken descending`: 500 of 500 objects", "each is asked: isChecked == TRUE",
        "in order",
      ])
    #expect(words.contains("not by index `code`: it neither narrows this query nor has its order"))
    let checked = try snapshot.explain(Fetch(Reading.self).where(\.isChecked == true))
    #expect(checked.hasPrefix("reads all 500 objects\n"))
    #expect(checked.hasSuffix("an index of `isChecked` would help"))
    let one = try snapshot.explain(Fetch(Reading.self).where(\.code == "c7"))
    #expect(one.hasPrefix("by index `code`: 1 of 500 objects"))
  }

  @Test func `several ranges of one index serve`() throws {
    let store = try Store(.memory, records: Reading.self, Site.self)
    let random = Random(seed: 6)
    try store.write { tx in
      for number in 0..<40 {
        random.sites.append(try tx.insert(Site(name: "site \(number)", height: number)))
      }
      for number in 0..<1_000 { try tx.insert(random.reading(number)) }
    }
    let snapshot = store.snapshot()
    func first(_ condition: RecordCondition<Reading>) throws -> String {
      let plan = try snapshot.explain(Fetch(Reading.self).where(condition))
      return plan.split(separator: "\n").prefix(2).joined(separator: "; ")
    }
    #expect(
      try first(.isIn(\.code, ["c1", "c2", "c2", "none"]))
        .hasPrefix("by index `code`: 2 of 1000 objects; not by"))
    #expect(try first(\.code == "c3" || \.code == "c4").hasPrefix("by index `code`: 2 of "))
    #expect(try first(.begins(\.place, with: "b")).hasPrefix("by index `place"))
    // As many by the reference index, which is read alone.
    #expect(try first(\.site == random.sites[3]).contains(" `site`: "))
    #expect(
      try first(.through(\.site, \.name == "site 7"))
        .contains("objects; each is asked: site.name == \"site 7\""))
    #expect(
      try first(.through(\.site, \.name == "site 7")).hasPrefix("by index `site, taken`: "))
    let some = Fetch(Reading.self).where(.isIn(\.place, ["a", "b", "é"])).limit(70)
    for fetch in [some.sorted(by: .ascending(\.place)), some.sorted(by: .descending(\.place))] {
      #expect(try snapshot.explain(fetch).hasPrefix("by index `place"))
      for offset in [0, 1, 69, 100, 180, 900] {
        #expect(
          try snapshot.objectIDs(fetch.offset(offset))
            == snapshot.objectIDs(fetch.offset(offset).withoutIndexes()))
      }
    }
    // One of the two is not narrowed.
    #expect(try first(\.level == 3 || \.isChecked == true).hasPrefix("reads all "))
  }
}
