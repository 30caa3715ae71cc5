import Annals
import AnnalsTestSupport
import Foundation
import Testing

/// What programs make of text, and live results by names.
@Suite(.deadline) struct ConditionTextTests {
  @Test func conditionsAndSortKeysAreReadFromText() throws {
    let store = try noteStore()
    for (id, text, count) in [("a", "Fog", 3), ("b", "fog bank", 1), ("c", "Sun", 2)] {
      try store.write { tx in
        try tx.insert(
          "Note", ["id": .string(id), "text": .string(text), "count": .int(Int64(count))])
      }
    }
    let schema = store.schema
    let text = "text BEGINSWITH[c] 'fog' AND count > 0"
    let foggy = try Condition(parsing: text, of: "Note", in: schema)
    #expect(foggy.description == "text BEGINSWITH[c] \"fog\" AND count > 0")
    let keys = try SortKey.keys(parsing: "-count, text[c]", of: "Note", in: schema)
    let fetch = DynamicFetch("Note").where(foggy).sorted(by: keys)
    #expect(try store.snapshot().fetch(fetch).map { $0["id"] } == ["a", "b"])
    #expect(try store.snapshot().rows(fetch).count == 2)
    let seen = store.token
    try store.note("d", text: "Fog")
    let diff = try store.diff(of: DynamicFetch("Note").sorted(by: keys), from: seen)
    #expect(diff.inserts.map(\.position) == [3] && diff.deletes.isEmpty)
  }

  @Test func mistakesPointAtTheColumn() throws {
    let schema = noteSchema
    func error(_ body: () throws -> Void) -> AnnalsError? {
      do { try body() } catch { return error as? AnnalsError }
      return nil
    }
    let typo = error { _ = try Condition(parsing: "txt == 'a'", of: "Note", in: schema) }
    #expect(typo?.code == .invalidArgument)
    #expect(typo?.message.hasPrefix("column 1: Note has no property \"txt\"") == true)
    let keys = error { _ = try SortKey.keys(parsing: "text,,", of: "Note", in: schema) }
    #expect(keys?.code == .invalidArgument)
    let entity = error { _ = try Condition(parsing: "text == 'a'", of: "Nite", in: schema) }
    #expect(entity?.message.contains("did you mean Note?") == true, "\(String(describing: entity))")
  }

  @Test func datesWithoutAZoneAreOfUTCUnlessSaid() throws {
    let schema = Schema { Entity("Trip") { Attribute("from", .date) } }
    let summer = "from > 2019-07-01 12:00"
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let utc = try Condition(parsing: summer, of: "Trip", in: schema)
    let local = try Condition(parsing: summer, of: "Trip", in: schema, zone: berlin)
    #expect(utc.description == "from > 2019-07-01T12:00:00Z")
    #expect(local.description == "from > 2019-07-01T10:00:00Z")
  }

  @Test func whatIsSaidInRelationToNowIsReadAgainstTheGivenMoment() throws {
    let schema = Schema { Entity("Trip") { Attribute("from", .date) } }
    let now = Date(timeIntervalSince1970: 1_571_768_100)
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    func read(_ text: String) throws -> String {
      try Condition(parsing: text, of: "Trip", in: schema, zone: berlin, now: now).description
    }
    #expect(try read("from > 7d") == "from > 2019-10-15T18:15:00Z")
    #expect(try read("from > today") == "from > 2019-10-21T22:00:00Z")
    // Without a moment it is the clock's.
    let clock = try Condition(parsing: "from > now", of: "Trip", in: schema).description
    #expect(clock.hasPrefix("from > 20") && clock > "from > 2026", "\(clock)")
  }

  /// A timeline by names is live as one of records is.
  @Test func aTimelineByNamesIsLive() async throws {
    let store = try Store(
      .memory,
      schema: Schema {
        Entity("Trip") {
          Attribute("title", .string)
          Attribute("from", .date)
          Attribute("to", .date)
        }
      })
    func insert(_ title: String, _ from: Double, _ to: Double?) async throws {
      try await store.write { tx in
        try tx.insert(
          "Trip",
          [
            "title": .string(title), "from": .date(Timestamp(Date(timeIntervalSince1970: from))),
            "to": to.map { .date(Timestamp(Date(timeIntervalSince1970: $0))) } ?? .null,
          ])
      }
    }
    try await insert("Oslo", 1_000, 2_000)
    let trips = TimelineDefinition("Trip", start: "from", end: "to", label: "title")
    let live = store.live(trips)
    var updates = live.makeAsyncIterator()
    var shown: [String] = []
    func next() async throws -> [String] {
      let update = try #require(try await updates.next())
      let rows = try update.rows.all().map { "\($0.label) \($0.role)" }
      update.diff.apply(to: &shown) { rows[$0.position] }
      #expect(shown == rows)
      return rows
    }
    #expect(try await next() == ["Oslo start", "Oslo end"])
    try await insert("Rome", 1_500, nil)
    #expect(try await next() == ["Oslo start", "Rome single", "Oslo end"])
    live.change(to: trips, TimelineOrder(isDescending: true))
    #expect(try await next() == ["Oslo end", "Rome single", "Oslo start"])
  }
}
