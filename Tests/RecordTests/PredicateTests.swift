import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private enum Kind: String, AttributeValue, Codable, CaseIterable { case single, range, ongoing }

private struct Event: Record {
  var code: UUID
  var title: String
  var count: Int
  var start: Date
  var note: String?
  var rating: Double?
  var isDone: Bool
  var kind: Kind
  static let entity = RecordEntity(
    "Event", Event.init, Property("code", \.code).unique(), Property("title", \.title).indexed(),
    Property("count", \.count).indexed(), Property("start", \.start).indexed(),
    Property("note", \.note), Property("rating", \.rating), Property("isDone", \.isDone),
    Property("kind", \.kind))
}

/// Foundation's predicates and sort descriptors find what they find in an array of all records.
@Suite struct PredicateTests {
  private static let texts = [
    "", "fog", "Fog", "fog at dawn", "mist", "K", "\u{212A}", "é", "e\u{301}", ";", "\u{37E}",
  ]
  /// Whole microseconds, and moments between two.
  private static let dates = [0, 86_400, 86_400.000001, 86_400.0000004, 86_400.0000006].map {
    Date(timeIntervalSince1970: 1_600_000_000 + $0)
  }

  private func store(seed: UInt64) throws -> Store {
    var random = SeededRandom(seed: seed)
    let store = try Store(.memory, records: Event.self)
    try store.write { tx in
      for _ in 0..<700 {
        try tx.insert(
          Event(
            code: UUID(), title: Self.texts[random.draw(Self.texts.count)],
            count: random.draw(6), start: Self.dates[random.draw(3)],
            note: random.draw(3) == 0 ? nil : Self.texts[random.draw(Self.texts.count)],
            rating: random.draw(4) == 0 ? nil : [0, -0.0, 0.5, 1][random.draw(4)],
            isDone: random.draw(2) == 0, kind: Kind.allCases[random.draw(3)]))
      }
    }
    return store
  }

  /// The predicates, and whether a condition says the whole of each.
  private func predicates(_ random: inout SeededRandom) -> [(isPlanned: Bool, Predicate<Event>)] {
    let text = Self.texts[random.draw(Self.texts.count)]
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 } && text != "K" && text != ";"
    let date = Self.dates[random.draw(Self.dates.count)]
    let number = random.draw(6)
    let numbers = [number, 3]
    let texts = [text, "fog"]
    let rating = [0, 0.5, 1][random.draw(3)]
    let kind = Kind.allCases[random.draw(3)]
    let optional: String? = random.draw(2) == 0 ? nil : "fog"
    return [
      (isPlain, #Predicate { $0.title == text }), (isPlain, #Predicate { $0.note != text }),
      (true, #Predicate { $0.note == optional }), (true, #Predicate { $0.note == nil }),
      (true, #Predicate { $0.start < date }), (true, #Predicate { $0.start <= date }),
      (true, #Predicate { $0.start > date }), (true, #Predicate { $0.start >= date }),
      (true, #Predicate { $0.start == date }), (true, #Predicate { date < $0.start }),
      (true, #Predicate { number >= $0.count && $0.isDone }),
      (true, #Predicate { numbers.contains($0.count) || !$0.isDone }),
      (rating != 0, #Predicate { $0.rating == rating }),
      (false, #Predicate { $0.rating ?? 0 < rating }),
      (true, #Predicate { $0.kind == kind && $0.count > number }),
      (true, #Predicate { $0.kind != kind }),
      (false, #Predicate { $0.title.contains("fog") && $0.start >= date }),
      (false, #Predicate { $0.title < text }), (true, #Predicate { !($0.count == number) }),
      (false, #Predicate { $0.count == number || $0.title.count > 3 }),
      (false, #Predicate { !($0.count == number && $0.title.count > 3) }),
      (false, #Predicate { ($0.title == "fog" && $0.isDone) || $0.note?.isEmpty == true }),
      (
        false,
        #Predicate {
          ($0.count == number && $0.title.count > 3) || ($0.isDone && $0.title.count > 3)
        }
      ), (isPlain, #Predicate { texts.contains($0.title) }),
      (true, #Predicate { _ in true }), (true, #Predicate { _ in false }),
      (false, #Predicate { $0.count == $0.count }),
    ]
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func theyFindWhatTheyFindInAnArray(seed: UInt64) throws {
    let store = try store(seed: seed)
    let snapshot = store.snapshot()
    let all = try snapshot.objects(of: Event.self)
    var random = SeededRandom(seed: seed &+ 99)
    for (place, (isPlanned, predicate)) in predicates(&random).enumerated() {
      let note = Comment(rawValue: "seed \(seed), predicate \(place): \(predicate)")
      let expected = try all.filter { try predicate.evaluate($0.value) }.map(\.objectID)
      let fetch = Fetch(Event.self).where(predicate)
      #expect(try snapshot.objectIDs(fetch) == expected, note)
      #expect(try snapshot.fetch(fetch).map(\.objectID) == expected, note)
      #expect(try snapshot.count(fetch) == expected.count, note)
      #expect(try snapshot.exists(fetch) == !expected.isEmpty, note)
      #expect(try snapshot.first(fetch)?.objectID == expected.first, note)
      let (offset, limit) = (random.draw(40), random.draw(40))
      let part = Array(expected.dropFirst(offset).prefix(limit))
      #expect(try snapshot.objectIDs(fetch.offset(offset).limit(limit)) == part, note)
      #expect(try snapshot.count(fetch.offset(offset).limit(limit)) == part.count, note)
      let isEvaluated = try snapshot.explain(fetch).contains("the predicate is evaluated on each")
      #expect(isEvaluated == !isPlanned, note)
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func theyOrderAsTheyOrderAnArray(seed: UInt64) throws {
    let store = try store(seed: seed)
    let snapshot = store.snapshot()
    let all = try snapshot.objects(of: Event.self)
    let orders: [(isPlanned: Bool, [SortDescriptor<Event>])] = [
      (true, [SortDescriptor(\.start)]), (true, [SortDescriptor(\.count, order: .reverse)]),
      (true, [SortDescriptor(\.count), SortDescriptor(\.start, order: .reverse)]),
      (false, [SortDescriptor(\.title)]), (false, [SortDescriptor(\.rating, order: .reverse)]),
      (false, [SortDescriptor(\.count), SortDescriptor(\.title, order: .reverse)]),
      (false, [SortDescriptor(\.note), SortDescriptor(\.count)]), (true, []),
    ]
    for (isPlanned, order) in orders {
      let isFalling = order.last?.order == .reverse
      let expected = all.sorted { a, b in
        for descriptor in order {
          let result = descriptor.compare(a.value, b.value)
          if result != .orderedSame { return result == .orderedAscending }
        }
        return isFalling ? b.objectID.row < a.objectID.row : a.objectID.row < b.objectID.row
      }.map(\.objectID)
      let fetch = Fetch(Event.self).sorted(by: order)
      #expect(try snapshot.objectIDs(fetch) == expected, "\(order)")
      let page = Array(expected.dropFirst(100).prefix(9))
      #expect(try snapshot.objectIDs(fetch.offset(100).limit(9)) == page, "\(order)")
      #expect(try snapshot.explain(fetch).contains("sorted by the") == !isPlanned, "\(order)")
      let done = fetch.where(#Predicate { $0.isDone && $0.title.count < 5 })
      let rest = try expected.filter { id in
        let event = try #require(try snapshot.object(Event.self, id))
        return event.isDone && event.title.count < 5
      }
      #expect(try snapshot.objectIDs(done) == rest, "\(order)")
      #expect(try snapshot.count(done) == rest.count)
    }
  }

  @Test func indexesServeWhatIsPlanned() throws {
    let snapshot = try store(seed: 1).snapshot()
    let whole = try snapshot.explain(Fetch(Event.self).where(#Predicate { $0.count == 3 }))
    #expect(whole == (try snapshot.explain(Fetch(Event.self).where(\.count == 3))))
    let part = try snapshot.explain(
      Fetch(Event.self).where(#Predicate { $0.count == 3 && $0.title.count == 4 }))
    #expect(
      part == whole + "\nthe predicate is evaluated on each record that this finds", "\(part)")
  }

  @Test func referencesAreComparedAsTheyAre() throws {
    struct Place: Record {
      var name: String
      static let entity = RecordEntity("Place", Place.init, Property("name", \.name))
    }
    struct Visit: Record {
      var place: Reference<Place>?
      var guide: ObjectID?
      static let entity = RecordEntity(
        "Visit", Visit.init, Property("place", \.place), Property("guide", \.guide, to: Place.self))
    }
    let store = try Store(.memory, records: Visit.self, Place.self)
    let places = try store.write { tx in try ["a", "b"].map { try tx.insert(Place(name: $0)) } }
    try store.write { tx in
      for number in 0..<9 {
        let place = number % 3 == 0 ? nil : places[number % 3 - 1]
        try tx.insert(Visit(place: place.map { Reference($0) }, guide: place?.objectID))
      }
    }
    func check() throws {
      let all = try store.snapshot().objects(of: Visit.self)
      let reference = Reference(places[1])
      let (id, none) = (places[1].objectID, nil as Reference<Place>?)
      var predicates: [Predicate<Visit>] = []
      predicates.append(#Predicate { $0.place == reference })
      predicates.append(#Predicate { $0.place != reference })
      predicates.append(#Predicate { $0.place == none })
      predicates.append(#Predicate { $0.guide == id })
      predicates.append(#Predicate { $0.guide != nil })
      for predicate in predicates {
        let fetch = Fetch(Visit.self).where(predicate)
        let expected = try all.filter { try predicate.evaluate($0.value) }.map(\.objectID)
        #expect(try store.snapshot().objectIDs(fetch) == expected)
        #expect(try !store.snapshot().explain(fetch).contains("evaluated"))
      }
    }
    try check()
    try store.write { try $0.delete(places[1].objectID) }
    try check()
    let coded = try JSONEncoder().encode([Reference(places[0])])
    let decoded = try JSONDecoder().decode([Reference<Place>].self, from: coded)
    #expect(decoded == [Reference(places[0])])
  }

  @Test func whatCannotBeEvaluatedOrPlannedIsAnError() throws {
    let store = try store(seed: 2)
    let unwrapping = Fetch(Event.self).where(#Predicate { $0.rating! > 2 })
    let error = #expect(throws: AnnalsError.self) { try store.snapshot().fetch(unwrapping) }
    #expect(error?.code == .invalidArgument, "\(error as Any)")
    #expect(error?.message.hasPrefix("the predicate cannot be evaluated on Event#") == true)
    let grouped = #expect(throws: AnnalsError.self) {
      try store.snapshot().groups(unwrapping, by: \.count)
    }
    #expect(grouped?.message == error?.message)
    let shown = #expect(throws: AnnalsError.self) { try store.snapshot().rows(unwrapping) }
    #expect(shown?.message == error?.message)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>)
  func theyGroupAsTheyGroupAnArray(seed: UInt64) throws {
    let store = try store(seed: seed)
    let snapshot = store.snapshot()
    let all = try snapshot.objects(of: Event.self)
    var random = SeededRandom(seed: seed &+ 7)
    for (place, (_, predicate)) in predicates(&random).enumerated() {
      let note = Comment(rawValue: "seed \(seed), predicate \(place): \(predicate)")
      let found = try all.filter { try predicate.evaluate($0.value) }
      let expected = Dictionary(grouping: found, by: \.count).sorted { $0.key < $1.key }
      let fetch = Fetch(Event.self).where(predicate).sorted(by: [SortDescriptor(\.title)])
      // By the index of the property, where nothing is evaluated, and with values read.
      let counts = try snapshot.groups(fetch, by: \.count)
      #expect(counts.map(\.key) == expected.map(\.key), note)
      #expect(counts.map(\.count) == expected.map(\.value.count), note)
      let sums = try snapshot.groups(fetch.limit(2).offset(1), by: \.count, .maximum(\.start))
      let part = expected.dropFirst().prefix(2)
      #expect(sums.map(\.count) == part.map(\.value.count), note)
      #expect(sums.map(\.values) == part.map { $0.value.map(\.start).max() }, note)
      let sum = try snapshot.aggregate(fetch, .sum(\.count))
      #expect(sum == (found.isEmpty ? nil : found.map(\.count).reduce(0, +)), note)
    }
  }

  @Test func deletingByAPredicate() throws {
    let store = try store(seed: 3)
    let kept = try store.snapshot().count(Fetch(Event.self).where(\.isDone == false))
    try store.write { tx in
      let count = try tx.delete(Event.self, where: #Predicate { $0.isDone })
      #expect(count == 700 - kept)
    }
    #expect(try store.snapshot().count(of: Event.self) == kept)
  }
}
