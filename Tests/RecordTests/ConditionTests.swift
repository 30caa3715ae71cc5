import Annals
import AnnalsModel
import Foundation
import Testing

private struct Place: Record {
  var name: String
  var country: String?
  static let entity = RecordEntity(
    "Place", Place.init, Property("name", \.name), Property("land", \.country))
}

private enum Kind: String, AttributeValue { case single, range }

private struct Event: Record {
  var title: String
  var count: Int
  var start: Date
  var end: Date?
  var rating: Float
  var flag: Bool
  var note: String?
  var kind: Kind
  var place: Reference<Place>?
  var source: ObjectID?
  var page: URL?
  var key: UUID
  var json: String?
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title), Property("count", \.count),
    Property("begin", \.start), Property("end", \.end), Property("rating", \.rating),
    Property("flag", \.flag), Property("note", \.note), Property("kind", \.kind),
    Property("place", \.place), Property("source", \.source, to: Place.self),
    Property("page", \.page), Property("key", \.key), Property("json", \.json).json())

  var shout: String { title.uppercased() }
}

/// Conditions of key paths become conditions of names, and long ones compile quickly: those here
/// take some milliseconds each, and the compiler gives up by itself where it takes seconds.
@Suite struct ConditionTests {
  private static let id = ObjectID(store: Bench.store, entity: 1, row: 5)
  private static let day = Date(timeIntervalSince1970: 86_400)
  private static let key = UUID(uuidString: "01234567-89AB-4DEF-8000-000000000001") ?? UUID()

  private func text(_ condition: RecordCondition<Event>) -> String { condition.description }

  @Test func eightComparisonsOfMixedTypes() {
    let kyoto = Object(objectID: Self.id, value: Place(name: "Kyoto"))
    let before = Date.now
    let fetch = Fetch(Event.self).where(
      \.title == "x" && \.count > 3 && \.start > .now && \.rating <= 4.5 && \.flag == true
        && \.place == kyoto && \.note != nil && \.kind == .single)
    let parts = fetch.condition?.description.components(separatedBy: " AND ") ?? []
    #expect(parts.count == 8)
    let date = parts[2].dropFirst("begin > ".count)
    #expect(parts[2].hasPrefix("begin > "))
    #expect(Timestamp(String(date)).map { $0 >= Timestamp(before) } == true, "\(date)")
    #expect(parts[0...1] == ["title == \"x\"", "count > 3"])
    #expect(
      parts[3...] == [
        "rating <= 4.5", "flag == TRUE", "place == 1#5", "note != nil", "kind == \"single\"",
      ])
  }

  @Test func comparisons() {
    #expect(
      text(\.title != "x" || !(\.count < 3) && \.rating >= 4 || \.key == Self.key)
        == "title != \"x\" OR NOT count < 3 AND rating >= 4.0 OR key == "
        + "01234567-89AB-4DEF-8000-000000000001")
    #expect(text(\.end < Self.day) == "end < 1970-01-02T00:00:00Z")
    #expect(text(\.end == nil && \.end != Self.day) == "end == nil AND end != 1970-01-02T00:00:00Z")
    #expect(text(\.page == URL(string: "a:b")) == "page == URL(\"a:b\")")
    #expect(text(\.json == "[]") == "json == JSON(\"[]\")")
    #expect(text(\.source == Self.id && \.place != nil) == "source == 1#5 AND place != nil")
    let place = Reference<Place>(Self.id)
    #expect(text(\.place == place || \.place == nil) == "place == 1#5 OR place == nil")
  }

  @Test func forms() {
    #expect(
      text(
        .begins(\.title, with: "g") && .ends(\.note, with: "h", .diacriticInsensitive)
          && .contains(\.note, "f", [.caseInsensitive, .diacriticInsensitive])
          && .like(\.title, "a*?") && .equals(\.note, "i", .caseInsensitive))
        == "title BEGINSWITH \"g\" AND note ENDSWITH[d] \"h\" AND note CONTAINS[cd] \"f\" AND "
        + "title LIKE \"a*?\" AND note ==[c] \"i\"")
    #expect(text(.isIn(\.kind, [.single, .range])) == "kind IN {\"single\", \"range\"}")
    #expect(text(.isIn(\.note, ["a", nil])) == "note IN {\"a\", nil}")
    #expect(text(.isIn(\.place, [Reference(Self.id), nil])) == "place IN {1#5, nil}")
    #expect(text(.between(\.count, 1...5)) == "count BETWEEN {1, 5}")
    #expect(
      text(.between(\.end, Self.day...Self.day))
        == "end BETWEEN {1970-01-02T00:00:00Z, 1970-01-02T00:00:00Z}")
  }

  /// In the compiler's eyes another expression than the plain one, as its roots differ.
  @Test func throughARelationship() {
    #expect(
      text(.through(\.place, \.name == "Kyoto" && !(\.country == nil || .like(\.name, "K*"))))
        == "place.name == \"Kyoto\" AND NOT (place.land == nil OR place.name LIKE \"K*\")")
  }

  @Test func conditionsMayBeMissing() {
    let none: RecordCondition<Event>? = nil
    let one: RecordCondition<Event> = \.count == 1
    #expect(Fetch<Event>().where(nil).condition == nil)
    #expect(Fetch<Event>().where(one).where(nil).condition == one)
    #expect(
      Fetch<Event>().where(one).where(\.count == 2).condition?.description
        == "count == 1 AND count == 2")
    #expect(one.and(none) == one && one.or(none) == one)
    #expect(text(one.or(.never)) == "count == 1 OR FALSEPREDICATE")
  }

  /// Using a condition takes stack for each level: too many would end the program.
  @Test func howDeepConditionsMayBeNested() throws {
    let store = try Store(.memory, records: Event.self, Place.self)
    func nested(_ depth: Int) -> RecordCondition<Event> {
      var condition: RecordCondition<Event> = \.count == 0
      for level in 1..<depth {
        condition = level % 2 == 0 ? condition && \.count == level : condition || \.count == level
      }
      return condition
    }
    let event = Event(
      title: "x", count: 5_000, start: Self.day, end: nil, rating: 1, flag: true, note: nil,
      kind: .single, place: nil, source: nil, page: nil, key: Self.key, json: nil)
    try store.write { try $0.insert(event) }
    let snapshot = store.snapshot()
    _ = try snapshot.count(Fetch<Event>().where(nested(250)))
    let untyped = DynamicFetch("Event").where(nested(3_000).condition)
    let calls: [() throws -> Void] = [
      { _ = try snapshot.count(Fetch<Event>().where(nested(251))) },
      { _ = try snapshot.fetch(Fetch<Event>().where(nested(3_000))) },
      { _ = try snapshot.fetch(untyped) },
    ]
    for (number, call) in calls.enumerated() {
      let error = #expect(throws: AnnalsError.self, "\(number)") { try call() }
      #expect(error?.code == .invalidArgument && error?.message.contains("most is 250") == true)
    }
    // One operator counts once.
    var wide: RecordCondition<Event> = \.count == 0
    for number in 1..<1_000 { wide = wide || \.count == number }
    #expect(try snapshot.count(Fetch<Event>().where(wide)) == 0)
  }

  @Test func theStoresOfObjectsAreKnown() {
    let place = Reference<Place>(Self.id)
    let conditions: [RecordCondition<Event>] = [
      \.place == place, \.count == 1 && !(\.source != Self.id), .isIn(\.place, [nil, place]),
    ]
    for condition in conditions { #expect(condition.stores == [Bench.store]) }
    #expect((\Event.count == 1).stores == [])
  }

  @Test func sortKeys() {
    let fetch = Fetch(Event.self).sorted(by: \.start, .descending).sorted(
      by: .ascending(\.note, nils: .last, textOrder: .caseInsensitive), .descending(\.place, \.name)
    )
    #expect(
      fetch.sortKeys.map(\.key.description) == ["-begin", "note[c] NILS LAST", "-place.name"])
  }

  @Test func aComputedPropertyIsNone() async {
    await #expect(processExitsWith: .failure) { _ = \Event.shout == "X" }
  }
}
