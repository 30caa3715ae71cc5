import Annals
import Foundation
import Testing

private struct Trip: Record {
  var title: String
  var from: Date
  var to: Date?
  var traveller: String

  static let entity = RecordEntity(
    "Trip", Trip.init,
    Property("title", \.title), Property("from", \.from), Property("to", \.to),
    Property("traveller", \.traveller))
}

private func date(_ text: String) -> Date {
  (try? Date(text + "T00:00:00Z", strategy: .iso8601)) ?? .distantPast
}

/// The code of *Timelines*.
@Suite struct TimelinesTests {
  @Test func tripsInTheOrderOfTheirDates() throws {
    let store = try Store(.memory, records: Trip.self, environment: .fixed())
    try store.write { tx in
      try tx.insert(
        Trip(title: "Kyoto", from: date("2019-10-20"), to: date("2019-10-29"), traveller: "Ann"))
      try tx.insert(
        Trip(title: "Tokyo", from: date("2019-10-16"), to: date("2019-10-20"), traveller: "Ann"))
      try tx.insert(
        Trip(title: "Living in Bern", from: date("2018-03-01"), to: nil, traveller: "Jo"))
    }
    let lastWeek = store.token

    let trips = Timeline(start: \Trip.from, end: \.to, openEnd: .whenEndIsNil)
      .labeled(by: \.title)
      .grouped(by: \.traveller)

    let rows = try store.snapshot().timeline(trips)
    for row in rows { print(row.dateText, row.role, row.label, row.length ?? row.elapsed) }

    let months = rows.sections(by: .month)
    for month in months { print(month.label, month.positions.count) }

    let spans = rows.intervals()
    let then = date("2019-10-22")
    print(spans.underWay(at: then).map(\.label))
    print(spans.gaps(inGroup: "Ann"))

    let newestFirst = trips.sorted(.descending).hidingEnds()
    let asKnown = try store.snapshot(at: lastWeek).timeline(newestFirst)

    #expect(
      rows.map(\.label) == [
        "Living in Bern", "Tokyo", "Tokyo", "Kyoto", "Kyoto", "Living in Bern",
      ])
    #expect(Set(spans.underWay(at: then).map(\.label)) == ["Kyoto", "Living in Bern"])
    #expect(asKnown.count < rows.count)
  }
}
