import Annals
import AnnalsModel
import Foundation
import Testing

/// States from before an entity existed have none of its objects, whatever is asked. Lists used to
/// throw "there is no entity 1" there.
@Suite struct BeforeTheEntityTests {
  /// A place in transaction 2; events come with 3, two of them in 4, one of which goes in 5.
  private func store() throws -> Store {
    let store = try Store(.memory, records: Place.self, environment: .fixed())
    try store.write { try $0.insert(Place(name: "Nara")) }
    try store.require([Event.self])
    try store.write { tx in
      try tx.insert(Event(title: "a", start: Date(timeIntervalSince1970: 0)))
      try tx.insert(Event(title: "b", start: Date(timeIntervalSince1970: 86_400)))
    }
    try store.write { tx in try tx.delete(tx.objects(of: Event.self)[0]) }
    return store
  }

  private static let sorted = Fetch(Event.self).where(\.title != "x").sorted(by: \.start)

  @Test(arguments: [0, 1, 2] as [Int64])
  func everythingAsksNothing(number: Int64) throws {
    let past = try store().snapshot(at: number)
    for fetch in [Fetch(Event.self), BeforeTheEntityTests.sorted] {
      #expect(try past.rows(fetch).count == 0)
      #expect(try past.rows(fetch, sections: .by(\.title)).sections().isEmpty)
      #expect(try past.fetch(fetch).isEmpty)
      #expect(try past.count(fetch) == 0)
      #expect(try past.groups(fetch, by: \.title).isEmpty)
    }
    #expect(try past.objects(of: Event.self).isEmpty)
    #expect(try past.timeline(Timeline<Event>(start: \.start)).isEmpty)
    let named = DynamicFetch("Event").where(.compare("title", .equal, "a")).sorted(by: [
      SortKey("start")
    ])
    #expect(try past.rows(named).count == 0)
    #expect(try past.fetch(named).isEmpty)
    #expect(try past.count(named) == 0)
    #expect(try past.groups(named, by: .value("title")).isEmpty)
    #expect(try past.values(named, "title").isEmpty)
    #expect(try past.objects(of: "Event").isEmpty)
    #expect(try past.count(of: "Event") == 0)
    #expect(try past.timeline(TimelineDefinition("Event", start: "start")).isEmpty)
  }

  @Test func differencesGoThereAndBack() throws {
    let store = try store()
    let fetch = BeforeTheEntityTests.sorted
    #expect(try store.diff(of: fetch, from: 1, to: 4).inserts.count == 2)
    #expect(try store.diff(of: fetch, from: 4, to: 2).deletes.count == 2)
    #expect(try store.diff(of: fetch, from: 2, to: 1).isEmpty)
    #expect(try store.diff(of: fetch, from: 0).inserts.count == 1)
    let named = DynamicFetch("Event").sorted(by: [SortKey("start")])
    #expect(try store.diff(of: named, from: 2, to: 5).inserts.count == 1)
    #expect(try store.diff(of: named, from: 4, to: 0).deletes.count == 2)
  }

  /// A view that comes to show an entity while its steps are still before it.
  @Test func liveStepsGoAcrossIt() async throws {
    let store = try Store(.memory, records: Place.self, environment: .fixed())
    let view = store.live("Place", delivery: .everyTransaction)
    var updates = view.makeAsyncIterator()
    #expect(try await updates.next(isolation: nil)?.rows.count == 0)
    try await store.write { _ = try $0.insert(Place(name: "Nara")) }
    try store.require([Event.self])
    try await store.write {
      _ = try $0.insert(Event(title: "a", start: Date(timeIntervalSince1970: 0)))
    }
    #expect(try await updates.next(isolation: nil)?.rows.count == 1)
    view.change(to: "Event")
    let changed = try #require(try await updates.next(isolation: nil))
    #expect(changed.rows.count == 0 && changed.diff.deletes.count == 1)
    #expect(try await updates.next(isolation: nil)?.rows.count == 1)
  }

  @Test func anEntityThatNeverWasIsTheErrorByName() throws {
    let store = try store()
    let past = try store.snapshot(at: 2)
    let error = #expect(throws: AnnalsError.self) { try past.rows(DynamicFetch("Evnt")) }
    #expect(
      error?.message
        == "as of transaction 2 the store has no entity Evnt; it has Place")
    let now = #expect(throws: AnnalsError.self) { try store.snapshot().objects(of: "Evnt") }
    #expect(now?.message.hasPrefix("the store has no entity Evnt; did you mean Event") == true)
  }
}

/// What a past state's schema lacks is named with the number of the state.
@Suite struct UnknownInThePastTests {
  /// Three refusals of a snapshot: of a fetch, a count with groups, and chosen values.
  private func refusals(_ snapshot: Snapshot) -> [String] {
    let fetch = DynamicFetch("Note").where(.compare("stars", .equal, 3))
    let all = DynamicFetch("Note")
    let calls: [() throws -> Void] = [
      { _ = try snapshot.rows(fetch) }, { _ = try snapshot.fetch(fetch) },
      { _ = try snapshot.count(fetch) },
      { _ = try snapshot.fetch(all.sorted(by: [SortKey("stars")])) },
      { _ = try snapshot.groups(all, by: .value("stars")) },
      { _ = try snapshot.values(all, "stars") },
      { _ = try snapshot.timeline(TimelineDefinition("Note", start: "stars")) },
    ]
    return calls.compactMap { call in
      #expect(throws: AnnalsError.self) { try call() }?.message
    }
  }

  @Test func aMessageOfAPastStateHasItsNumber() throws {
    let before = Schema { Entity("Note") { Attribute("title", .string) } }
    let store = try Store(.memory, schema: before)
    try store.write { try $0.insert("Note", ["title": "a"]) }
    let then = store.snapshot()
    #expect(
      Set(refusals(then)) == [#"Note has no property "stars""#], "\(refusals(then))")
    try store.require(Schema { Entity("Note") { Attribute("stars", .date) } })
    let past = refusals(try store.snapshot(at: 2))
    #expect(past.count == 7)
    #expect(
      Set(past) == [#"as of transaction 2 Note has no property "stars""#], "\(past)")
    // A snapshot that was taken before the schema changed is not of the past for its holder.
    #expect(Set(refusals(then)).count == 1)
  }
}

private struct Place: Record {
  var name: String
  static let entity = RecordEntity("Place", Place.init, Property("name", \.name))
}

private struct Event: Record {
  var title: String
  var start: Date
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title), Property("start", \.start))
}
