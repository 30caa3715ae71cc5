import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Spot: Record {
  var name: String
  var latitude: Double
  var longitude: Double?
  var height: Int
  var seen: Date
  var isChecked: Bool

  static let entity = RecordEntity(
    "Spot", Spot.init,
    Property("name", \.name),
    Property("latitude", \.latitude),
    Property("longitude", \.longitude),
    Property("height", \.height).default(3),
    Property("seen", \.seen),
    Property("isChecked", \.isChecked)
  ).indexed(byBox: \.latitude, \.longitude).indexed(byBox: \.latitude, \.height, \.seen)
    .indexed(byBox: \.seen, \.longitude, where: \.isChecked == true)
    .indexed(by: \.seen)

  static let place = "box of latitude, longitude"
  static let three = "box of latitude, height, seen"
  static let checked = "box of seen, longitude where isChecked == TRUE"
}

/// Fetches that a box index serves find what reading all objects finds.
@Suite struct BoxPlanTests {
  private struct Random {
    var numbers: SeededRandom

    mutating func below(_ bound: Int) -> Int { numbers.draw(bound) }

    /// Few values, zeros of both signs among them.
    mutating func degrees() -> Double {
      let number = Double(below(41) - 20) / 4
      return number == 0 && below(2) == 0 ? -0.0 : number
    }

    mutating func date() -> Date { Date(timeIntervalSince1970: Double(below(60)) * 3600) }

    mutating func spot(_ number: Int) -> Spot {
      Spot(
        name: "spot \(number % 17)", latitude: degrees(),
        longitude: below(6) == 0 ? nil : degrees(), height: below(9), seen: date(),
        isChecked: below(2) == 0)
    }

    mutating func condition() -> RecordCondition<Spot> {
      var result = latitude()
      for _ in 0...below(3) { result = result && part() }
      return result
    }

    private mutating func latitude() -> RecordCondition<Spot> {
      let (a, b) = (degrees(), degrees())
      switch below(4) {
      case 0: return \.latitude > min(a, b) && \.latitude < max(a, b)
      case 1: return \.latitude >= min(a, b) && \.latitude <= max(a, b)
      case 2: return \.latitude > a
      default: return \.latitude <= b
      }
    }

    private mutating func part() -> RecordCondition<Spot> {
      let (a, b) = (degrees(), degrees())
      switch below(10) {
      case 8: return \.longitude == nil
      case 9: return \.longitude <= Double.nan
      case 0: return \.longitude > min(a, b) && \.longitude <= max(a, b)
      case 1: return \.longitude >= a
      case 2: return \.height < below(9)
      case 3: return \.seen >= date()
      case 4: return \.seen < date()
      case 5: return \.isChecked == true
      case 6: return \.longitude == a
      default: return \.name == "spot \(below(17))"
      }
    }
  }

  private func spots(_ count: Int, _ random: inout Random, in store: Store) throws {
    try store.write { tx in
      for number in 0..<count { try tx.insert(random.spot(number)) }
    }
  }

  private func expectSame(
    _ snapshot: Snapshot, _ fetch: Fetch<Spot>, _ comment: Comment
  ) throws -> Int {
    let wanted = try snapshot.objectIDs(fetch.withoutIndexes())
    var served = 0
    #expect(try snapshot.objectIDs(fetch) == wanted, comment)
    for name in [Spot.place, Spot.three, Spot.checked] {
      guard let found = try? snapshot.objectIDs(fetch.using(name)) else { continue }
      served += 1
      #expect(found == wanted, "\(comment), by \(name)")
      let all = fetch.limit(nil).offset(0).using(name)
      #expect(
        try snapshot.count(all) == snapshot.count(all.withoutIndexes()), "\(comment), by \(name)")
    }
    return served
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `random fetches find the same, now and as of earlier`(seed: UInt64) throws {
    var random = Random(numbers: SeededRandom(seed: seed))
    let location = memoryFile()
    var store = try Store(location, records: Spot.self)
    try spots(700, &random, in: store)
    var tokens = [store.snapshot().token]
    var served = 0
    for step in 0..<12 {
      try store.write { tx in
        let ids = try tx.objects(of: "Spot").map(\.objectID)
        for _ in 0..<10 {
          let id = ids[random.below(ids.count)]
          guard try tx.object(id) != nil else { continue }
          switch random.below(4) {
          case 0: try tx.delete(id)
          case 1: try tx.set(\Spot.longitude, of: id, to: nil)
          default: try tx.set(\Spot.latitude, of: id, to: random.degrees())
          }
        }
        for number in 0..<8 { try tx.insert(random.spot(number)) }
      }
      tokens.append(store.snapshot().token)
      if step % 4 == 2 { try store.checkpoint() }
      if step % 4 == 3 {
        try store.close()
        store = try Store(location, records: Spot.self)
      }
      let past = try store.snapshot(at: tokens[random.below(tokens.count)])
      for snapshot in [store.snapshot(), past] {
        for _ in 0..<12 {
          var fetch = Fetch(Spot.self).where(random.condition())
          if random.below(3) == 0 { fetch = fetch.sorted(by: \.seen, .descending) }
          if random.below(3) == 0 { fetch = fetch.limit(random.below(30)).offset(random.below(9)) }
          served += try expectSame(snapshot, fetch, "seed \(seed), step \(step), \(fetch)")
        }
      }
    }
    #expect(served > 100)
    #expect(try store.verify() == [])
    try store.close()
  }

  @Test func `the planner takes it for two ranges, and says so`() throws {
    var random = Random(numbers: SeededRandom(seed: 7))
    let store = try Store(.memory, records: Spot.self)
    try store.write { tx in
      for number in 0..<5_000 {
        var spot = random.spot(number)
        spot.latitude = Double(random.below(100_000)) / 1000
        spot.longitude = Double(random.below(100_000)) / 1000
        try tx.insert(spot)
      }
    }
    let snapshot = store.snapshot()
    let box = Fetch(Spot.self).where(
      \.latitude > 40 && \.latitude < 41 && \.longitude > 70 && \.longitude < 75)
    let plan = try snapshot.explain(box)
    let line = try #require(plan.split(separator: "\n").first)
    let found = try #require(line.wholeMatch(of: /by box index `(.*)`: (.*) of 5,?000 objects/))
    #expect(found.output.1 == Spot.place)
    #expect(try #require(Int(found.output.2)) <= 512, "\(plan)")
    #expect(!plan.contains("each is asked"))
    // One range is no box, and has an index that narrows it better.
    let one = Fetch(Spot.self).where(\.latitude > 40 && \.latitude < 41)
    #expect(try snapshot.explain(one).hasPrefix("reads all 5000 objects"))
    #expect(throws: AnnalsError.self) { try snapshot.objectIDs(one.using(Spot.place)) }
    // Nearly everything is read as it lies.
    let most = Fetch(Spot.self).where(\.latitude > 1 && \.longitude > 1)
    #expect(try snapshot.explain(most).hasPrefix("reads all"))
    // Groups and counts go by it too.
    #expect(try snapshot.count(box) == snapshot.objectIDs(box).count)
    #expect(
      try snapshot.groups(box, by: \.isChecked).map(\.count)
        == snapshot.groups(box.withoutIndexes(), by: \.isChecked).map(\.count))
  }

  @Test func `an index of objects that lack a value serves only what cannot want them`() throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Spot") {
          Attribute("a", .int64)
          Attribute("b", .int64)
          Attribute("c", .date)
          IndexDescription("three", box: ["a", "b", "c"])
        }
      })
    try store.write { tx in
      for number in 0..<300 {
        try tx.insert(
          "Spot",
          [
            "a": .int(Int64(number)), "b": .int(Int64(number % 7)),
            "c": .date(Timestamp(microseconds: 5)),
          ])
      }
    }
    let two = DynamicFetch("Spot").where(
      .all([.compare("a", .greater, .int(10)), .compare("b", .equal, .int(3))]))
    let three = two.where(.compare("c", .lessOrEqual, .date(Timestamp(microseconds: 5))))
    #expect(try store.snapshot().objectIDs(two.using("three")).count == 41)
    try store.write { tx in try tx.insert("Spot", ["a": .int(11), "b": .int(3)]) }
    let snapshot = store.snapshot()
    #expect(throws: AnnalsError.self) { try snapshot.objectIDs(two.using("three")) }
    #expect(try snapshot.objectIDs(two).count == 42)
    #expect(try snapshot.objectIDs(three.using("three")).count == 41)
    #expect(try snapshot.explain(two).contains("neither narrows") == true)
  }

  /// A number without a fraction is typed for a column of doubles, and one with a fraction may be
  /// for a column of whole numbers.
  @Test func `numbers of the other kind are served by indexes, too`() throws {
    let schema = Schema {
      Entity("Spot") {
        Attribute("x", .double)
        Attribute("n", .int64)
        IndexDescription("box", box: ["x", "n"])
        IndexDescription("x", ["x"])
        IndexDescription("n", ["n"])
      }
    }
    let store = try Store(.memory, schema: schema)
    let great: Int64 = 1 << 53
    var random = Random(numbers: SeededRandom(seed: 11))
    try store.write { tx in
      for number in 0..<4_000 {
        let whole = number < 20 ? great + Int64(number - 10) : Int64(random.below(60) - 30)
        try tx.insert(
          "Spot",
          [
            "x": .double(number < 20 ? Double(great) + Double(2 * number) : random.degrees()),
            "n": .int(whole),
          ])
      }
    }
    let snapshot = store.snapshot()
    let numbers: [Value] = [
      .int(0), .int(3), .int(-4), .double(-0.0), .double(2.5), .double(-2.5), .double(3),
      .int(great), .int(great + 1), .int(.max), .int(.min), .double(1e300), .double(-1e300),
      .double(Double(great)),
    ]
    for path in ["x", "n"] as [PropertyPath] {
      for number in numbers {
        for comparison in [
          Condition.Comparison.equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .notEqual,
        ] {
          let fetch = DynamicFetch("Spot").where(.compare(path, comparison, number))
          #expect(
            try snapshot.objectIDs(fetch) == snapshot.objectIDs(fetch.withoutIndexes()),
            "\(path) \(comparison) \(number)")
        }
        let between = DynamicFetch("Spot").where(.isBetween(path, number, .double(6.5)))
        #expect(try snapshot.objectIDs(between) == snapshot.objectIDs(between.withoutIndexes()))
      }
    }
    let box = DynamicFetch("Spot").where(
      .all([
        .compare("x", .greater, .int(1)), .compare("x", .less, .int(2)),
        .compare("n", .greater, .double(1.5)), .compare("n", .less, .double(4.5)),
      ]))
    #expect(try snapshot.explain(box).hasPrefix("by box index `box`"))
    #expect(try snapshot.objectIDs(box) == snapshot.objectIDs(box.withoutIndexes()))
    let one = DynamicFetch("Spot").where(.compare("x", .equal, .int(3)))
    #expect(try snapshot.explain(one).hasPrefix("by index `x`"))
  }

  @Test func `an index added to a store with objects is built, and stays over reopening`() throws {
    let location = memoryFile()
    let plain = Schema {
      Entity("Spot") {
        Attribute("x", .double)
        Attribute("y", .int32)
      }
    }
    var boxed = plain
    boxed.entities[0].indexes = [IndexDescription("box", box: ["x", "y"])]
    let first = try Store(location, schema: plain)
    var random = Random(numbers: SeededRandom(seed: 11))
    try first.write { tx in
      for _ in 0..<3_000 {
        try tx.insert(
          "Spot", ["x": .double(random.degrees()), "y": .int(Int64(random.below(50)))])
      }
    }
    let past = first.snapshot().token
    let fetch = DynamicFetch("Spot").where(
      .all([
        .isBetween("x", .double(-1), .double(0)), .compare("y", .greater, .int(30)),
        .compare("y", .less, .int(35)),
      ]))
    let wanted = try first.snapshot().objectIDs(fetch)
    #expect(try first.snapshot().explain(fetch).hasSuffix("a box index of `x,y` would help"))
    try first.checkpoint()
    try first.close()
    for _ in 0..<2 {
      let store = try Store(location, schema: boxed)
      #expect(try store.snapshot().explain(fetch).hasPrefix("by box index `box`"))
      #expect(try store.snapshot().objectIDs(fetch) == wanted)
      // The schema of then has no such index.
      #expect(try store.snapshot(at: past).explain(fetch).hasPrefix("reads all"))
      #expect(try store.snapshot(at: past).objectIDs(fetch) == wanted)
      #expect(try store.snapshot().indexes(of: "Spot").map(\.isBox) == [true])
      #expect(try store.verify() == [])
      try store.checkpoint()
      try store.close()
    }
  }

  @Test(
    arguments: [
      (["text", "x"], "numbers and dates"), (["x"], "two to eight"), (["x", "x"], "twice"),
      (["any", "x"], "numbers and dates"), (["next", "x"], "a relationship"),
      (["x", "nothing"], "no property"), (["flag", "x"], "numbers and dates"),
    ] as [([String], String)])
  func `what no box index can be over is refused`(over: [String], reason: String) throws {
    let error = #expect(throws: AnnalsError.self) {
      try Store(
        .memory,
        schema: Schema {
          Entity("Spot") {
            Attribute("x", .double)
            Attribute("text", .string)
            Attribute("any", .any)
            Attribute("flag", .bool)
            Relationship("next", to: "Spot")
            IndexDescription("box", box: over)
          }
        })
    }
    #expect(error?.code == .invalidSchema)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test func `an attribute in a box index keeps its type`() throws {
    func schema(_ type: AttributeType, box: Bool) -> Schema {
      Schema {
        Entity("Spot") {
          Attribute("x", type)
          Attribute("y", .double)
          if box { IndexDescription("box", box: ["x", "y"]) }
        }
      }
    }
    let store = try Store(.memory, schema: schema(.int16, box: true))
    try store.require(schema(.int64, box: false))
    let error = #expect(throws: AnnalsError.self) { try store.require(schema(.any, box: false)) }
    #expect(error?.message.contains("the box index") == true)
    let other = try Store(.memory, schema: schema(.any, box: false))
    let refused = #expect(throws: AnnalsError.self) {
      try other.require(schema(.int64, box: true))
    }
    #expect(refused?.code == .invalidSchema)
    // Of one name there is one index.
    let ordered = Schema {
      Entity("Spot") {
        Attribute("x", .int16)
        Attribute("y", .double)
        IndexDescription("box", ["x", "y"])
      }
    }
    #expect(throws: AnnalsError.self) { try store.require(ordered) }
  }
}
