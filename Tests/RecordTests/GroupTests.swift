import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Place: Record {
  var name: String
  static let entity = RecordEntity("Place", Place.init, Property("name", \.name))
}

private enum Kind: String, AttributeValue, CaseIterable { case walk, ride }

private struct Trip: Record {
  var start: Date
  var end: Date?
  var length: Double?
  var steps: Int
  var guests: Int?
  var note: String?
  var written: String
  var kind: Kind
  var place: Reference<Place>?

  static let entity = RecordEntity(
    "Trip", Trip.init,
    Property("start", \.start).indexed(.descending),
    Property("end", \.end).indexed(),
    Property("length", \.length).indexed(),
    Property("steps", \.steps),
    Property("guests", \.guests),
    Property("note", \.note).indexed(.descending),
    Property("written", \.written).indexed(),
    Property("kind", \.kind),
    Property("place", \.place)
  ).indexed(by: \.kind, \.start)
}

/// Groups are what filtering and counting all objects gives, whatever index serves.
@Suite struct GroupTests {
  private final class Lab {
    let store: Store
    var places: [Object<Place>] = []
    private var numbers: SeededRandom

    init(seed: UInt64) throws {
      numbers = SeededRandom(seed: seed)
      store = try Store(.memory, records: Place.self, Trip.self)
      places = try store.write { tx in
        try ["Kyoto", "Nara", "Kyoto"].map { try tx.insert(Place(name: $0)) }
      }
    }

    func below(_ bound: Int) -> Int { numbers.draw(bound) }

    /// Over some days around the end of summer time.
    func date() -> Date { Date(timeIntervalSince1970: 1_571_799_600 + Double(below(600)) * 1_800) }

    func trip() -> Trip {
      let notes = [nil, "", "fog", String(repeating: "a long way ", count: 30), "\u{E9}"]
      let long = String(repeating: "x", count: 5_000)
      let written = ["2004", "2004-05", "2004-05-17", "2005-01-01T10:00:00Z", "2019-11-1", "soon"]
      return Trip(
        start: date(), end: below(4) == 0 ? nil : date(),
        length: [nil, 0.0, -0.0, 1.5, -2.25, 40][below(6)], steps: below(5) - 1,
        guests: below(3) == 0 ? nil : below(4),
        note: below(40) == 0 ? long : notes[below(notes.count)],
        written: written[below(written.count)], kind: Kind.allCases[below(2)],
        place: below(4) == 0 ? nil : Reference(places[below(3)]))
    }

    func change(_ tx: WriteTransaction) throws {
      for _ in 0..<60 { try tx.insert(trip()) }
      for object in try tx.fetch(Fetch(Trip.self)) {
        switch below(9) {
        case 0: try tx.delete(object)
        case 1:
          let other = trip()
          try tx.update(object) { $0 = other }
        default: break
        }
      }
    }

    func condition() -> RecordCondition<Trip>? {
      switch below(7) {
      case 0: \.start > date()
      case 1: .between(\.start, date(), date())
      case 2: \.kind == .walk
      case 3: \.kind == .walk && \.start < date()
      case 4: \.end == nil
      case 5: \.steps > 1
      default: nil
      }
    }
  }

  /// What the values of a property's objects are grouped into: key and count, in order.
  private static func naive<K: Hashable>(
    _ objects: [Object<Trip>], _ key: (Trip) -> K
  ) -> [K: [Trip]] { Dictionary(grouping: objects.map(\.value), by: key) }

  private static func check<K: Hashable, T: Comparable>(
    _ groups: [RecordGroup<K, (Int?, Double?, Double?, Int?)>], _ expected: [K: [Trip]],
    _ order: (K) -> T?, isDescending: Bool, _ comment: Comment
  ) {
    #expect(groups.count == expected.count, comment)
    for group in groups {
      let trips = expected[group.key] ?? []
      let guests = trips.compactMap(\.guests)
      let lengths = trips.compactMap(\.length)
      #expect(group.count == trips.count, comment)
      #expect(group.values.0 == (guests.isEmpty ? nil : guests.reduce(0, +)), comment)
      #expect(group.values.1 == (lengths.isEmpty ? nil : lengths.reduce(0, +)), comment)
      #expect(
        group.values.2
          == (trips.isEmpty ? nil : Double(trips.map(\.steps).reduce(0, +)) / Double(trips.count)),
        comment)
      #expect(group.values.3 == guests.max(), comment)
    }
    checkOrder(groups.map { order($0.key) }, isDescending, comment)
  }

  private static func checkOrder<T: Comparable>(
    _ keys: [T?], _ isDescending: Bool, _ comment: Comment
  ) {
    for (a, b) in zip(keys, keys.dropFirst()) {
      switch (a, b) {
      case (nil, nil): break
      case (nil, _): #expect(!isDescending, comment)
      case (_, nil): #expect(isDescending, comment)
      case (let a?, let b?): #expect(isDescending ? b < a : a < b, comment)
      }
    }
  }

  private static func compare(
    _ source: some ObjectSource, _ lab: Lab, _ comment: Comment
  ) throws {
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    for _ in 0..<12 {
      let all = Fetch(Trip.self).where(lab.condition())
      let objects = try source.fetch(all)
      for isDescending in [false, true] {
        for var fetch in [all, all.withoutIndexes()] {
          let comment: Comment = "\(comment): \(fetch)"
          // Counts alone, which an index can give.
          fetch = isDescending ? fetch.sorted(by: \.end, .descending) : fetch
          let days = try source.groups(fetch, by: .each(.day, of: \.end, in: zone))
          let byDay = naive(objects) { $0.end.map(calendar.startOfDay) }
          #expect(days.map(\.count) == order(byDay, isDescending), comment)
          checkOrder(days.map { $0.key.map { Date($0.range.lowerBound) } }, isDescending, comment)
          let notes = try source.groups(fetch, by: \.note)
          let byNote = naive(objects) { $0.note.map { Array($0.utf8) } }
          #expect(notes.count == byNote.count, comment)
          for note in notes {
            #expect(note.count == byNote[note.key.map { Array($0.utf8) }]?.count, comment)
          }
          let lengths = try source.groups(fetch, by: \.length)
          #expect(
            Dictionary(uniqueKeysWithValues: lengths.map { ($0.key, $0.count) })
              == naive(objects, \.length).mapValues(\.count), comment)
          // So many groups that the index gives up.
          let moments = try source.groups(fetch, by: \.start)
          #expect(
            Dictionary(uniqueKeysWithValues: moments.map { ($0.key, $0.count) })
              == naive(objects, \.start).mapValues(\.count), comment)
          // With aggregates.
          let byStart = naive(objects) { calendar.startOfDay(for: $0.start) }
          let starts = isDescending ? fetch.sorted(by: \.start) : fetch
          let aggregated = try source.groups(
            starts, by: .each(.day, of: \.start, in: zone), .sum(\.guests), .sum(\.length),
            .average(\.steps), .maximum(\.guests))
          let counted = try source.groups(starts, by: .each(.day, of: \.start, in: zone))
          #expect(counted.map(\.key) == aggregated.map(\.key), comment)
          #expect(counted.map(\.count) == aggregated.map(\.count), comment)
          check(
            aggregated.map {
              RecordGroup(key: Date($0.key.range.lowerBound), count: $0.count, values: $0.values)
            }, byStart, { $0 }, isDescending: false, comment)
        }
      }
    }
  }

  private static func order(_ groups: [Date?: [Trip]], _ isDescending: Bool) -> [Int] {
    let rising = groups.sorted { a, b in
      (a.key ?? .distantPast) < (b.key ?? .distantPast)
    }
    return (isDescending ? rising.reversed() : rising).map(\.value.count)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `groups are those of all objects`(seed: UInt64) throws {
    let lab = try Lab(seed: seed)
    var tokens: [Token] = []
    for _ in 0..<4 {
      try lab.store.write { tx in try lab.change(tx) }
      tokens.append(lab.store.snapshot().token)
    }
    try Self.compare(lab.store.snapshot(), lab, "seed \(seed), head")
    try Self.compare(lab.store.snapshot(at: tokens[1]), lab, "seed \(seed), then")
    try lab.store.write { tx in
      try lab.change(tx)
      try Self.compare(tx, lab, "seed \(seed), in a transaction")
    }
  }

  @Test func `groups by relationships, kinds and written dates`() throws {
    let lab = try Lab(seed: 9)
    try lab.store.write { tx in try lab.change(tx) }
    let snapshot = lab.store.snapshot()
    let all = Fetch(Trip.self)
    let objects = try snapshot.fetch(all)
    let places = try snapshot.groups(all, by: \.place)
    #expect(
      Dictionary(uniqueKeysWithValues: places.map { ($0.key, $0.count) })
        == Self.naive(objects, \.place).mapValues(\.count))
    let names = try snapshot.groups(all, by: .through(\.place, \.name), .count(of: \.guests))
    #expect(names.map(\.key) == [nil, "Kyoto", "Nara"])
    #expect(names.map(\.count).reduce(0, +) == objects.count)
    #expect(
      names.map(\.values).reduce(0, +) == objects.filter { $0.value.guests != nil }.count)
    let kinds = try snapshot.groups(all, by: \.kind, .minimum(\.start), .minimum(\.note))
    #expect(kinds.map(\.key) == [.ride, .walk])
    let walks = objects.map(\.value).filter { $0.kind == .walk }
    #expect(kinds[1].values.0 == walks.map(\.start).min())
    #expect(kinds[1].values.1 == "")
    let months = try snapshot.groups(all, by: .each(.month, of: \.written))
    #expect(months.map(\.key) == [nil, "2004", "2004-05", "2005-01"])
    #expect(
      months[0].count
        == objects.filter { ["2019-11-1", "soon"].contains($0.value.written) }.count)
    // Limit and offset count groups.
    let some = try snapshot.groups(all.offset(1).limit(2), by: .each(.month, of: \.written))
    #expect(some.map(\.key) == ["2004", "2004-05"])
  }

  @Test func `aggregates of all`() throws {
    let lab = try Lab(seed: 10)
    let all = Fetch(Trip.self)
    let none = try lab.store.snapshot().aggregate(all, .sum(\.steps), .count(of: \.note))
    #expect(none == (nil, 0))
    try lab.store.write { tx in try lab.change(tx) }
    let objects = try lab.store.snapshot().fetch(all).map(\.value)
    let (steps, last) = try lab.store.snapshot().aggregate(all, .sum(\.steps), .maximum(\.start))
    #expect(steps == objects.map(\.steps).reduce(0, +) && last == objects.map(\.start).max())
    let average: Double? = try lab.store.snapshot().aggregate(all.where(.never), .average(\.steps))
    #expect(average == nil)
  }

  @Test func `sums are exact or refused`() throws {
    let lab = try Lab(seed: 11)
    try lab.store.write { tx in
      for steps in [Int.max, Int.max, Int.min, -5] {
        var trip = lab.trip()
        trip.steps = steps
        trip.kind = .walk
        try tx.insert(trip)
      }
    }
    let walks = Fetch(Trip.self)
    let sum: Int? = try lab.store.snapshot().aggregate(walks, .sum(\.steps))
    #expect(sum == Int.max - 6)
    let error = #expect(throws: AnnalsError.self) {
      try lab.store.snapshot().groups(walks.where(\.steps > 0), by: \.kind, .sum(\.steps))
    }
    #expect(error?.code == .tooLarge)
    let average: Double? = try lab.store.snapshot().aggregate(
      walks.where(\.steps > 0), .average(\.steps))
    #expect(average == Double(Int.max))
  }

  @Test func `an index counts the groups`() throws {
    let lab = try Lab(seed: 12)
    try lab.store.write { tx in for _ in 0..<9 { try lab.change(tx) } }
    let snapshot = lab.store.snapshot()
    func explain(_ fetch: DynamicFetch, _ key: GroupKey, _ aggregates: [Aggregate] = []) throws
      -> String
    {
      try snapshot.explain(fetch, groupedBy: key, aggregates)
    }
    let all = DynamicFetch("Trip")
    let day = GroupKey.each(.day, of: "start")
    #expect(try explain(all, day).hasPrefix("counts groups by index `start descending`: "))
    #expect(
      try explain(all.where(.compare("kind", .equal, .string("walk"))), day)
        .hasPrefix("counts groups by index `kind, start`: "))
    #expect(try explain(all, .value("length")).hasPrefix("counts groups by index `length`: "))
    #expect(try explain(all.withoutIndexes(), day).hasPrefix("reads all "))
    #expect(try explain(all.where(.compare("steps", .greater, .int(1))), day).hasPrefix("reads "))
    #expect(try explain(all, day, [Aggregate(.sum, of: "steps")]).hasSuffix("\nthen grouped"))
    let trips = Fetch(Trip.self)
    #expect(
      try snapshot.explain(trips, groupedBy: .each(.day, of: \.start, in: .gmt))
        == explain(all, day))
    #expect(
      try snapshot.explain(trips, groupedBy: .value(\.length), .sum(\.steps))
        .hasSuffix("\nthen grouped"))
    // Texts over 4 KiB have no place in an index.
    #expect(try explain(all, .value("note")).hasPrefix("reads all "))
  }

  @Test func `what cannot be grouped is refused`() throws {
    let lab = try Lab(seed: 13)
    try lab.store.write { tx in try lab.change(tx) }
    func code(_ key: GroupKey?, _ aggregates: [Aggregate] = []) -> AnnalsError.Code? {
      do {
        _ = try lab.store.snapshot().groups(DynamicFetch("Trip"), by: key, aggregates)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(.each(.day, of: "steps")) == .invalidArgument)
    #expect(code(.value("nothing")) == .invalidArgument)
    #expect(code(.value("place"), [Aggregate(.sum, of: "note")]) == .invalidArgument)
    #expect(code(nil, [Aggregate(.average, of: "start")]) == .invalidArgument)
    #expect(code(.value(["place", "name"]), [Aggregate(.maximum, of: "note")]) == nil)
  }

  @Test func `chosen properties are those of the objects`() throws {
    let lab = try Lab(seed: 14)
    try lab.store.write { tx in try lab.change(tx) }
    let fetch = Fetch(Trip.self).where(\.steps >= 0).sorted(by: \.start, .descending).limit(20)
    for source in [lab.store.snapshot()] {
      let objects = try source.fetch(fetch).map(\.value)
      let values = try source.values(fetch, \.note, \.start, \.place, \.kind)
      #expect(values.count == 20)
      for (object, value) in zip(objects, values) {
        #expect(value == (object.note, object.start, object.place, object.kind))
      }
      #expect(try source.values(fetch, \.steps) == objects.map(\.steps))
    }
  }
}

/// Sums and averages near the ends of their range.
@Suite struct GreatSumTests {
  private func aggregates(
    _ lengths: [Double], _ aggregate: RecordAggregate<Trip, Double?>
  ) throws -> Double? {
    let store = try Store(.memory, records: Place.self, Trip.self)
    try store.write { tx in
      for length in lengths {
        try tx.insert(
          Trip(start: .now, length: length, steps: 1, written: "", kind: .walk, place: nil))
      }
    }
    return try store.snapshot().aggregate(Fetch(Trip.self), aggregate)
  }

  private func sum(_ lengths: [Double]) throws -> Double? {
    try aggregates(lengths, .sum(\.length))
  }

  private func average(_ lengths: [Double]) throws -> Double? {
    try aggregates(lengths, .average(\.length))
  }

  /// They were null, where whole numbers were an error.
  @Test func sumsBeyondTheDoublesAreErrors() throws {
    let most = Double.greatestFiniteMagnitude
    for lengths in [[most, most], [-most, -most], [1, most, most, -1]] {
      let error = #expect(throws: AnnalsError.self) { try sum(lengths) }
      #expect(error?.code == .tooLarge)
      #expect(error?.message.contains("length is beyond the doubles") == true)
    }
  }

  /// A sum that is a double is one, in whatever order its numbers come; an average always is.
  @Test func theOrderMakesNoDifference() throws {
    let most = Double.greatestFiniteMagnitude
    #expect(try sum([most, most, -most]) == most)
    #expect(try sum([most, -most, most]) == most)
    #expect(try sum([most, most, -most, -most]) == 0)
    #expect(try average([most, most]) == most)
    #expect(try average([-most, -most, -most, -most]) == -most)
    #expect(try average([most, most, -most, -most]) == 0)
  }
}
