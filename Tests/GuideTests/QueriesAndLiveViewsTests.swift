import Annals
import AnnalsTestSupport
import Foundation
import Testing

private struct Entry: Record {
  var title: String
  var date: Date
  var mood: String?
  var pages: Int
  var people: [Reference<Person>] = []

  static let entity = RecordEntity(
    "Entry", Entry.init,
    Property("title", \.title), Property("date", \.date).indexed(.descending),
    Property("mood", \.mood), Property("pages", \.pages), Property("people", \.people)
  ).indexed(by: \.mood, \.date)
}

private struct Person: Record {
  var name: String
  var isFriend: Bool

  static let entity = RecordEntity(
    "Person", Person.init, Property("name", \.name), Property("isFriend", \.isFriend))
}

private func date(_ text: String) -> Date {
  (try? Date(text + "T12:00:00Z", strategy: .iso8601)) ?? .distantPast
}

private func diary() throws -> Store {
  let store = try Store(.memory, records: Entry.self, Person.self, environment: .fixed())
  try store.write { tx in
    try tx.insert(Entry(title: "Fog", date: date("2019-10-05"), mood: "calm", pages: 2))
    try tx.insert(Entry(title: "Tokyo", date: date("2019-10-16"), mood: nil, pages: 5))
    try tx.insert(Entry(title: "Deer at Nara", date: date("2019-10-22"), mood: "glad", pages: 3))
  }
  return store
}

/// The code of *Queries and live views*.
@Suite(.deadline) struct QueriesAndLiveViewsTests {
  @Test func conditionsAndFetches() throws {
    let store = try diary()
    let (first, last) = (date("2019-10-10"), date("2019-10-30"))

    let fetch = Fetch(Entry.self)
      .where(\.date >= first && \.date < last && \.mood != "tired")
      .sorted(by: .descending(\.pages), .ascending(\.title))
      .limit(50)

    let snapshot = store.snapshot()
    let entries = try snapshot.fetch(fetch)  // records
    let count = try snapshot.count(fetch)
    let longest = try snapshot.first(fetch)
    let ids = try snapshot.objectIDs(fetch)
    let titles = try snapshot.values(fetch, \.title, \.pages)

    let search: RecordCondition<Entry> = .contains(
      \.title, "nara", [.caseInsensitive, .diacriticInsensitive])
    let either = search || .isIn(\.mood, ["calm", "glad"]) || .between(\.pages, 4...6)

    let (anna, ben) = try store.write { tx in
      let anna = try tx.insert(Person(name: "Anna", isFriend: true))
      let ben = try tx.insert(Person(name: "Ben", isFriend: true))
      try tx.update(Entry.self, where: \.title == "Fog") { $0.people = [anna.reference] }
      try tx.update(Entry.self, where: \.title == "Tokyo") { $0.people = [ben.reference] }
      return (anna, ben)
    }

    let withAnna = Fetch(Entry.self).where(.contains(\.people, anna))
    let withFriends = Fetch(Entry.self).where(
      .any(\.people, \.isFriend == true && \.name != "Anna"))

    #expect(try store.snapshot().fetch(withAnna).map(\.title) == ["Fog"])
    #expect(try store.snapshot().fetch(withFriends).map(\.title) == ["Tokyo"])

    let crowded = Fetch(Entry.self).sorted(by: .descending(.count(\.people)), .ascending(\.date))
    let counts = try store.snapshot().fetch(crowded).map(\.people.count)
    #expect(counts == counts.sorted(by: >))
    #expect(ben.name == "Ben")

    let mayBeNil: RecordCondition<Entry>? = nil
    let all = Fetch(Entry.self).where(mayBeNil)  // no condition: every entry

    print(try snapshot.explain(fetch))

    let months = try snapshot.groups(
      Fetch(Entry.self), by: .each(.month, of: \.date, in: .gmt), .sum(\.pages))
    for month in months { print(month.key.label, month.count, month.values ?? 0) }

    try store.write(author: "me") { tx in
      try tx.update(Entry.self, where: \.mood == nil) { $0.mood = "calm" }
      try tx.delete(Entry.self, where: \.pages < 3)
    }

    #expect(entries.map(\.title) == ["Tokyo", "Deer at Nara"])
    #expect(count == 2 && ids.count == 2 && longest?.title == "Tokyo")
    #expect(titles[0].0 == "Tokyo" && titles[1].1 == 3)
    #expect(try snapshot.count(Fetch(Entry.self).where(either)) == 3)
    #expect(try snapshot.count(all) == 3)
    #expect(months.map(\.count) == [3])
    #expect(try store.snapshot().count(of: Entry.self) == 2)
  }

  @Test func aListThatStaysCurrent() async throws {
    let store = try diary()
    let byDate = Fetch(Entry.self).sorted(by: \.date)

    let view = store.live(byDate, sections: .calendar(.month, of: \.date, in: .gmt))
    for try await update in view {
      let rows = update.rows
      for section in try rows.sections() { print(section.bucket?.label ?? "", section.count) }
      for entry in try rows.rows(in: 0..<min(200, rows.count)) { print(entry.title) }
      for place in update.diff.inserts { print("new:", try rows[place.position].title) }
      if rows.count == 4 { break }  // ending the iteration ends the view
      try await store.write { tx in
        try tx.insert(Entry(title: "Home", date: date("2019-11-02"), mood: nil, pages: 1))
      }
    }
    #expect(try store.snapshot().count(of: Entry.self) == 4)
  }

  @MainActor @Test func rowsForAUserInterface() throws {
    let store = try diary()

    let list = try LiveRows(store.live(Fetch(Entry.self).sorted(by: \.date)))
    print(list.rows.count, list.diff.inserts.count)
    list.change(to: Fetch(Entry.self).sorted(by: .descending(\.pages)))
    #expect(list.rows.count == 3)
  }

  @Test func theSameListAsOfLastWeek() throws {
    let store = try diary()
    let lastWeek = store.token
    try store.write { try $0.delete(Entry.self, where: \.title == "Fog") }

    let fetch = Fetch(Entry.self).sorted(by: \.date)
    let then = try store.snapshot(at: lastWeek).rows(fetch)
    let diff = try store.diff(of: fetch, from: lastWeek)
    print(then.count, "then;", diff.deletes.count, "of them are gone")
    #expect(then.count == 3 && diff.deletes.count == 1)
  }
}
