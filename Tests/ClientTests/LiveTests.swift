import Annals
import AnnalsTestSupport
import Foundation
import Testing

// A program that shows a list.
struct Event: Record {
  var title: String
  var start: Date
  static let entity = RecordEntity(
    "Event", Event.init, Property("title", \.title), Property("start", \.start))
}

func follow(_ store: Store) async throws {
  let byDate = Fetch(Event.self).sorted(by: \.start)
  let view = store.live(byDate, sections: .calendar(.month, of: \.start, in: .current))
  for try await update in view {  // first all rows, then each step, whoever made it
    let (rows, diff) = (update.rows, update.diff)
    for section in try rows.sections() { print(section.bucket?.label ?? "no date", section.count) }
    for event in try rows.rows(in: 0..<min(200, rows.count)) { print(event.start, event.title) }
    for place in diff.inserts { print("new:", try rows[place.position].title) }
    for move in diff.moves { print("moved:", move.from.section, "to", move.to.section) }
    if rows.count > 1_000 { view.change(to: byDate.limit(100)) }  // one more step
  }
}

func compare(_ store: Store, with lastWeek: Token) throws {
  let then = try store.snapshot(at: lastWeek).rows(Fetch(Event.self).sorted(by: \.start))
  let diff = try store.diff(of: Fetch(Event.self).sorted(by: \.start), from: lastWeek)
  print(then.count, "then;", diff.inserts.count, "more and", diff.deletes.count, "fewer now")
}

/// A program outside the package follows a list.
@Suite(.deadline) struct LiveTests {
  @MainActor @Test func `a program follows a list`() async throws {
    let store = try Store(.memory, records: Event.self)
    let view = store.live(
      Fetch(Event.self).sorted(by: \.start), sections: .calendar(.month, of: \.start))
    var iterator = view.makeAsyncIterator()
    #expect(try await iterator.next()?.rows.isEmpty == true)
    try insert("late", 40, into: store)
    try insert("early", 3, into: store)
    let update = try #require(try await iterator.next())
    #expect(try update.rows.sections().map { $0.bucket?.label } == ["1970-01", "1970-02"])
    #expect(try update.rows.all().map(\.title) == ["early", "late"])
    #expect(update.diff.insertedSections == [0, 1] && update.diff.inserts.count == 2)
    view.change(to: Fetch(Event.self).sorted(by: \.start, .descending))
    let turned = try #require(try await iterator.next())
    var titles = ["early", "late"]
    try turned.diff.apply(to: &titles) { try turned.rows[$0.position].title }
    #expect(titles == ["late", "early"])
  }

  private func insert(_ title: String, _ day: Double, into store: Store) throws {
    try store.write {
      _ = try $0.insert(Event(title: title, start: Date(timeIntervalSince1970: day * 86_400)))
    }
  }
}
