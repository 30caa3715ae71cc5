import Annals
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

private struct Place: Record {
  var name: String
  static let entity = RecordEntity("Place", Place.init, Property("name", \.name))
}

private enum Kind: String, AttributeValue, CaseIterable { case single, range, ongoing }

private struct Event: Record {
  var title: String
  var count: Int
  var start: Date
  var note: String?
  var rating: Double?
  var kind: Kind
  var place: Reference<Place>?
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title), Property("count", \.count),
    Property("start", \.start), Property("note", \.note), Property("rating", \.rating),
    Property("kind", \.kind), Property("place", \.place))
}

/// The record type of a later program: one property renamed, one added.
private struct LaterEvent: Record {
  var heading: String
  var mood: String?
  var level: Int
  static let entity = RecordEntity(
    "Event", LaterEvent.init, Property("heading", \.heading).renamed(from: "title"),
    Property("mood", \.mood), Property("level", \.level).default(1))
}

/// Fetches answer as filtering and sorting all objects does.
@Suite struct FetchTests {
  private struct Lab {
    let store: Store
    let places: [Object<Place>]
    var random: SeededRandom

    init(seed: UInt64) throws {
      store = try Store(.memory, records: Event.self, Place.self)
      random = SeededRandom(seed: seed)
      places = try store.write { tx in
        try ["Kyoto", "Nara", "Uji"].map { try tx.insert(Place(name: $0)) }
      }
    }

    mutating func event() -> Event {
      let texts = ["", "fog", "Fog", "fog at dawn", "mist", "é", "e\u{301}"]
      return Event(
        title: texts[random.draw(texts.count)], count: random.draw(6),
        start: Date(timeIntervalSince1970: Double(random.draw(5)) * 86_400),
        note: random.draw(3) == 0 ? nil : texts[random.draw(texts.count)],
        rating: random.draw(4) == 0 ? nil : Double(random.draw(4)) / 2,
        kind: Kind.allCases[random.draw(3)],
        place: random.draw(3) == 0 ? nil : Reference(places[random.draw(3)]))
    }

    mutating func change(_ tx: WriteTransaction) throws {
      for _ in 0..<40 { try tx.insert(event()) }
      for object in try tx.objects(of: Event.self) {
        switch random.draw(8) {
        case 0: try tx.delete(object)
        case 1:
          let other = event()
          try tx.update(object) { $0 = other }
        default: break
        }
      }
    }
  }

  private typealias Trial = (RecordCondition<Event>, @Sendable (Event, String?) -> Bool)

  /// Conditions, and the same in Swift, which gets the name of the event's place.
  private static func trials(_ kyoto: Object<Place>) -> [Trial] {
    let day = Date(timeIntervalSince1970: 2 * 86_400)
    let id = kyoto.objectID
    return [
      (\.title == "fog", { e, _ in e.title.utf8.elementsEqual("fog".utf8) }),
      (\.title == "é", { e, _ in e.title.utf8.elementsEqual("é".utf8) }),
      (\.note != "fog", { e, _ in e.note != "fog" }),
      (\.note == nil || \.count > 3, { e, _ in e.note == nil || e.count > 3 }),
      (!(\.rating < 1), { e, _ in !(e.rating.map { $0 < 1 } ?? false) }),
      (\.rating <= 0.5 && \.kind == .single, { e, _ in e.rating ?? 9 <= 0.5 && e.kind == .single }),
      (\.start > day && \.place == kyoto, { e, _ in e.start > day && e.place?.objectID == id }),
      (\.place != kyoto, { e, _ in e.place?.objectID != id }),
      (.isIn(\.kind, [.range, .ongoing]), { e, _ in e.kind != .single }),
      (.isIn(\.note, ["fog", nil]), { e, _ in e.note == "fog" || e.note == nil }),
      (.between(\.rating, 0.5...1), { e, _ in e.rating.map { (0.5...1).contains($0) } ?? false }),
      (.begins(\.note, with: "fog"), { e, _ in e.note?.hasPrefix("fog") ?? false }),
      (
        .contains(\.title, "FOG", .caseInsensitive),
        { e, _ in e.title.lowercased().contains("fog") }
      ),
      (.equals(\.title, "e", .diacriticInsensitive), { e, _ in e.title == "é" }),
      (.like(\.title, "f*n"), { e, _ in e.title == "fog at dawn" }),
      (.through(\.place, \.name == "Kyoto"), { _, name in name == "Kyoto" }),
      (.through(\.place, \.name != "Kyoto"), { _, name in name != "Kyoto" }),
      (.always, { _, _ in true }), (.never, { _, _ in false }),
    ]
  }

  private static func check(
    _ source: some ObjectSource, _ all: [Object<Event>], _ kyoto: Object<Place>
  ) throws {
    for (condition, test) in trials(kyoto) {
      let expected = try all.filter { test($0.value, try source[$0.place]?.name) }
      let fetch = Fetch(Event.self).where(condition)
      #expect(try source.fetch(fetch).map(\.id) == expected.map(\.id), "\(condition)")
      #expect(try source.count(fetch) == expected.count)
      #expect(try source.exists(fetch) == !expected.isEmpty)
      let sorted = expected.sorted { a, b in
        if a.rating != b.rating {
          guard let x = a.rating, let y = b.rating else { return b.rating == nil }
          return x > y
        }
        if a.count != b.count { return a.count < b.count }
        return a.objectID.row < b.objectID.row
      }
      let ordered = fetch.sorted(by: \.rating, .descending).sorted(by: \.count)
      #expect(try source.objectIDs(ordered) == sorted.map(\.id), "\(condition)")
      let page = try source.fetch(ordered.offset(3).limit(4))
      #expect(page.map(\.id) == sorted.dropFirst(3).prefix(4).map(\.id))
      #expect(try source.first(ordered)?.id == sorted.first?.id)
      let notes = try source.fetch(fetch.sorted(by: .descending(\.note, nils: .first))).map(\.note)
      #expect(notes.prefix { $0 == nil }.count == notes.filter { $0 == nil }.count)
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func answerAsFilteringDoes(seed: UInt64) throws {
    var lab = try Lab(seed: seed)
    var past: [(Token, [Object<Event>])] = []
    for _ in 0..<4 {
      var changed = lab
      let store = lab.store
      try store.write { tx in
        try changed.change(tx)
        // With what the transaction has done.
        try Self.check(tx, try tx.objects(of: Event.self), changed.places[0])
      }
      lab = changed
      let snapshot = store.snapshot()
      past.append((snapshot.token, try snapshot.objects(of: Event.self)))
    }
    for (token, all) in past {
      try Self.check(try lab.store.snapshot(at: token), all, lab.places[0])
    }
  }

  @Test func theShortForm() throws {
    var lab = try Lab(seed: 5)
    let kyoto = lab.places[0]
    try lab.store.write { try lab.change($0) }
    let snapshot = lab.store.snapshot()
    let found = try snapshot.objects(
      of: Event.self, where: \.start > .distantPast && \.place == kyoto,
      sortedBy: .descending(\.start), limit: 5)
    #expect(found.count == 5 && found.allSatisfy { $0.place == Reference(kyoto) })
    #expect(found.map(\.start) == found.map(\.start).sorted(by: >))
    let first = try snapshot.objects(of: Event.self, sortedBy: .ascending(\.start), limit: 3)
    #expect(
      try first.map(\.objectID)
        == snapshot.fetch(
          Fetch(Event.self).sorted(by: .ascending(\.start)).limit(3)
        ).map(\.objectID))
    // Ties go by id, in the direction of the last key.
    for (a, b) in zip(found, found.dropFirst()) where a.start == b.start {
      #expect(a.objectID.row > b.objectID.row)
    }
    let byPlace = try snapshot.fetch(Fetch().sorted(by: .ascending(\Event.place, \.name)))
    let names = try byPlace.compactMap { try snapshot[$0.place]?.name }
    #expect(names == names.sorted() && names.count > 3)
  }

  @Test func manyAreChangedAndDeleted() throws {
    var lab = try Lab(seed: 6)
    try lab.store.write { try lab.change($0) }
    let before = try lab.store.snapshot().objects(of: Event.self)
    let threes = before.filter { $0.count == 3 }
    let commit = try lab.store.commit { tx in
      try tx.update(Event.self, where: \.count == 3) { $0.count += 10 }
    }
    #expect(commit.value == threes.count && threes.count > 2)
    #expect(try lab.store.transaction(commit.token.number).changes.count == threes.count)
    let deleted = try lab.store.write { try $0.delete(Event.self, where: \.count == 13) }
    #expect(deleted == threes.count)
    #expect(try lab.store.snapshot().count(of: Event.self) == before.count - threes.count)
    #expect(try lab.store.write { try $0.delete(Event.self, where: nil) } > 0)
    #expect(try lab.store.snapshot().exists(Fetch<Event>()) == false)
  }

  @Test func namesOfThePastAreFound() throws {
    let store = try Store(.memory, records: Event.self, Place.self)
    let empty = store.token
    let event = Event(
      title: "fog", count: 1, start: .now, note: nil, rating: nil, kind: .single, place: nil)
    try store.write { try $0.insert(event) }
    let then = store.token
    try store.require([LaterEvent.self])
    let past = try store.snapshot(at: then)
    #expect(past.schema.entity(named: "Event")?.attribute(named: "title") != nil)
    let fog = Fetch(LaterEvent.self).where(\.heading == "fog")
    #expect(try past.count(fog.where(\.mood == nil).sorted(by: \.heading).sorted(by: \.mood)) == 1)
    #expect(try past.count(fog.where(\.mood != "calm" && !(\.mood < "z"))) == 1)
    #expect(try past.count(fog.where(.contains(\.mood, "a") || .isIn(\.mood, ["a"]))) == 0)
    #expect(try store.snapshot().count(fog.where(\.level == 1)) == 1)
    #expect(try past.count(fog.where(\.level == 1)) == 1)
    #expect(try past.count(fog.where(\.level == 2)) == 0)
    #expect(try store.snapshot(at: empty).fetch(fog).isEmpty)
    #expect(try store.snapshot(at: 0).fetch(fog).isEmpty)
  }

  @Test func byNames() throws {
    var lab = try Lab(seed: 8)
    for _ in 0..<4 { try lab.store.write { try lab.change($0) } }
    let kyoto = lab.places[0]
    let typed = Fetch(Event.self).where(\.place == kyoto && .begins(\.title, with: "f"))
      .sorted(by: \.count, .descending)
    let condition = Condition.compare("place", .equal, .object(ObjectReference(kyoto.objectID)))
      .and(.text("title", .begins, "f"))
    let snapshot = lab.store.snapshot()
    let expected = try snapshot.objectIDs(typed)
    try #require(expected.count > 1)
    func check(_ found: [DynamicObject], _ count: Int) {
      #expect(found.map(\.objectID) == expected && count == expected.count)
    }
    let named = DynamicFetch("Event").where(condition).sorted(by: .descending("count"))
    check(try snapshot.fetch(named), try snapshot.count(named))
    try lab.store.write { tx in check(try tx.fetch(named), try tx.count(named)) }
    #expect(try snapshot.count(of: Event.self, where: typed.condition) == expected.count)
    let short = try snapshot.objects(
      of: Event.self, where: typed.condition, sortedBy: \.count, .descending)
    #expect(short.map(\.objectID) == expected)
    let page = try snapshot.fetch(named.limit(1).offset(1))
    #expect(page.map(\.objectID) == [expected[1]])
    let misspelt = #expect(throws: AnnalsError.self) {
      try snapshot.fetch(DynamicFetch("Event").where(.isNil("titel")))
    }
    #expect(misspelt?.code == .invalidArgument)
    #expect(misspelt?.message.contains("did you mean title?") == true, "\(misspelt as Any)")
    let unsorted = #expect(throws: AnnalsError.self) {
      try snapshot.fetch(DynamicFetch("Event").sorted(by: .ascending("titel")))
    }
    #expect(unsorted?.code == .invalidArgument)
  }

  @Test func objectsOfAnotherStoreAreRefused() throws {
    let lab = try Lab(seed: 1)
    let other = try Lab(seed: 1)
    let error = #expect(throws: AnnalsError.self) {
      try lab.store.snapshot().fetch(Fetch(Event.self).where(\.place == other.places[0]))
    }
    #expect(error?.code == .otherStore)
  }
}
