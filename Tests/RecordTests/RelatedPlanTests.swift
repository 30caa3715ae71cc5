import Annals
import AnnalsModel
import AnnalsTestSupport
import Testing

private struct Road: Record {
  var name: String
  var signs: [Reference<Sign>]
  static let entity = RecordEntity(
    "Road", Road.init, Property("name", \.name), Property("signs", \.signs))

  static let cars = Inverse(\Car.road)
  static let walks = Inverse(\Walk.roads)
}

private struct Sign: Record {
  var text: String
  static let entity = RecordEntity("Sign", Sign.init, Property("text", \.text).indexed())
}

private struct Car: Record {
  var plate: Int
  var color: String
  var road: Reference<Road>?
  static let entity = RecordEntity(
    "Car", Car.init, Property("plate", \.plate).indexed(), Property("color", \.color),
    Property("road", \.road).onDelete(.keep))
}

private struct Walk: Record {
  var day: Int
  var roads: [Reference<Road>]
  static let entity = RecordEntity(
    "Walk", Walk.init, Property("day", \.day).indexed(),
    Property("roads", \.roads).onDelete(.keep))
}

/// Conditions on the objects behind a to-many relationship or an inverse, planned from their side.
@Suite struct RelatedPlanTests {
  private let store: Store

  /// So many roads, each with ten cars and five signs, and as many walks.
  private init(roads count: Int, seed: UInt64) throws {
    store = try Store(
      .memory, records: Road.self, Sign.self, Car.self, Walk.self, environment: .fixed(seed: seed))
    var random = SeededRandom(seed: seed)
    try store.write { tx in
      let signs = try (0..<count * 5).map { try tx.insert(Sign(text: "s\($0)")) }
      let roads = try (0..<count).map { number in
        let list = (0..<random.below(6)).map { _ in signs[random.below(signs.count)].reference }
        return try tx.insert(Road(name: "r\(number % 7)", signs: list))
      }
      for plate in 0..<count * 10 {
        let road = random.below(20) == 0 ? nil : roads[random.below(count)].reference
        try tx.insert(Car(plate: plate / 2, color: "c\(plate % 3)", road: road))
      }
      for day in 0..<count {
        let list = (0..<random.below(4)).map { _ in roads[random.below(count)].reference }
        try tx.insert(Walk(day: day / 3, roads: list))
      }
    }
    try store.write { tx in
      for road in try tx.objects(of: Road.self) where random.below(10) == 0 { try tx.delete(road) }
    }
  }

  init() throws { try self.init(roads: 300, seed: 7) }

  @Test func aPlanSaysThatItBeginsWithThem() throws {
    let snapshot = store.snapshot()
    func plan(_ condition: RecordCondition<Road>) throws -> String {
      try snapshot.explain(Fetch(Road.self).where(condition))
    }
    let roads = try snapshot.count(of: Road.self)
    #expect(
      try plan(.any(\.cars, \.plate == 9)).hasPrefix(
        "begins with `^Car.road`, by index `plate`: 2 of 3000, and goes to those of the \(roads) "
          + "objects that have them"))
    #expect(try plan(.any(\.walks, \.day < 3)).contains("by index `day`: 9 of 300"))
    #expect(try plan(.any(\.signs, \.text == "s7")).contains("by index `text`: 1 of 1500"))
    let both = try plan(.any(\.cars, \.plate == 9 && \.color == "c1") && \.name == "r1")
    #expect(both.contains("each is asked: name == \"r1\""), "\(both)")
    // More of them than there are owners: asking each owner would read all of them.
    let many = try plan(.any(\.cars, \.plate < 150))
    #expect(many.contains("by index `plate`: 300 of 3000"), "\(many)")
    // No index finds them, or most of them would be found, or that some are not there is asked.
    #expect(try plan(.any(\.cars, \.color == "c1")).hasPrefix("reads all"))
    #expect(try plan(.any(\.cars, \.plate >= 0)).hasPrefix("reads all"))
    #expect(try plan(.none(\.cars, \.plate == 9)).hasPrefix("reads all"))
    #expect(try plan(.every(\.cars, \.plate == 9)).hasPrefix("reads all"))
  }

  @Test(arguments: 1...8) func everyPlanFindsTheSame(_ seed: Int) throws {
    let world = try RelatedPlanTests(roads: 60, seed: UInt64(seed))
    let snapshot = world.store.snapshot()
    var random = SeededRandom(seed: UInt64(seed))
    var served = 0
    for _ in 0..<60 {
      let number = random.below(300)
      let parts: [RecordCondition<Road>] = [
        .any(\.cars, \.plate == number), .any(\.cars, \.plate < number / 20 && \.color != "c1"),
        .any(\.walks, \.day == number / 15), .any(\.signs, \.text == "s\(number)"),
        .any(\.signs, .begins(\.text, with: "s\(number / 30)")), \.name == "r\(number % 7)",
        .none(\.cars, \.plate < number / 2), .any(\.cars, .always),
      ]
      var condition = parts[random.below(parts.count)]
      switch random.below(3) {
      case 0: condition = condition && parts[random.below(parts.count)]
      case 1: condition = condition || parts[random.below(parts.count)]
      default: break
      }
      let fetch = Fetch(Road.self).where(condition).sorted(by: .descending(\.name))
      if try snapshot.explain(fetch).hasPrefix("begins with") { served += 1 }
      let found = try snapshot.fetch(fetch).map(\.id)
      #expect(try found == snapshot.fetch(fetch.withoutIndexes()).map(\.id), "\(condition)")
      #expect(try snapshot.count(fetch) == found.count)
    }
    #expect(served > 10)
  }
}
