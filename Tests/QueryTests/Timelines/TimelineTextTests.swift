import AnnalsModel
import Testing

@testable import AnnalsQuery

/// Dates that are written as texts, and times told in units of the calendar.
@Suite struct TimelineTextTests {
  @Test(arguments: [
    ("2004", "2004-01-01T00:00:00Z"), ("2004-05", "2004-05-01T00:00:00Z"),
    ("2004-05-17", "2004-05-17T00:00:00Z"), ("0000", "0000-01-01T00:00:00Z"),
    ("2004-02-29", "2004-02-29T00:00:00Z"),
    ("2004-05-17T20:15:00Z", "2004-05-17T20:15:00Z"),
    ("2004-05-17T20:15:00.25-05:30", "2004-05-18T01:45:00.25Z"),
    ("2004-05-17T20:15:00", "2004-05-17T20:15:00Z"), ("2004-05-17 20:15", "2004-05-17T20:15:00Z"),
    ("-0044-03-15", "-0044-03-15T00:00:00Z"), ("-0044", "-0044-01-01T00:00:00Z"),
    ("+12004-05", "+12004-05-01T00:00:00Z"), ("+2004", "2004-01-01T00:00:00Z"),
    ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
  ])
  func texts(text: String, moment: String) throws {
    #expect(first(text) == Timestamp(moment))
  }

  @Test(arguments: [
    "", "2", "200", "20045", "2004-", "2004-5", "2019-11-1", "2004-13", "2004-00", "2004-02-30",
    "2003-02-29", "2004-05-17 ", "12004-05", "20040517", "2004-W21-1", "+300000",
    " 2004", "2004/05", "2004-05-1x", "soon",
    "2004-05-17T20:15:61Z", "2004-05-17T20:15:00Z" + String(repeating: "0", count: 80), "２００４",
  ])
  func whatIsNoDate(text: String) { #expect(first(text) == nil) }

  private func first(_ text: String) -> Timestamp? {
    Array(text.utf8).withUnsafeBytes { WrittenDate($0)?.firstMoment }
  }

  /// Berlin in 2019: two hours ahead from 31 March, 01:00 UTC, to 27 October, 01:00 UTC.
  private static func berlin(_ moment: Timestamp) -> Int {
    let seconds = moment.microseconds / 1_000_000
    return (1_553_994_000..<1_572_138_000).contains(seconds) ? 7_200 : 3_600
  }

  @Test(arguments: [
    ("2019-01-01T00:00:00Z", "2019-01-01T00:00:00Z", "0 seconds"),
    ("2019-01-01T00:00:00Z", "2019-01-01T00:00:00.25Z", "0.25 seconds"),
    ("2019-01-01T00:00:00Z", "2019-01-01T00:01:01Z", "1 minute 1 second"),
    ("2019-01-31T12:00:00Z", "2019-02-28T12:00:00Z", "1 month"),
    ("2019-01-31T12:00:00Z", "2019-02-28T11:59:59Z", "27 days 23 hours"),
    ("2018-11-22T12:00:00Z", "2026-11-23T12:00:00Z", "8 years"),
    ("2018-03-01T00:00:00Z", "2020-02-29T00:00:00Z", "1 year 11 months"),
    // A day on which clocks are set forward has 23 hours, and is a day.
    ("2019-03-30T11:00:00Z", "2019-03-31T10:00:00Z", "1 day"),
    ("2019-03-31T00:30:00Z", "2019-03-31T01:30:00Z", "1 hour"),
    ("2019-10-27T00:30:00Z", "2019-10-27T01:30:00Z", "1 hour"),
    ("2019-10-26T22:30:00Z", "2019-10-27T22:30:00Z", "24 hours"),
    // The clock shows the time of day twice: the months are over at the first.
    ("2019-09-27T00:30:00Z", "2019-10-27T00:45:00Z", "1 month"),
    ("2019-09-27T00:30:00Z", "2019-10-27T01:15:00Z", "1 month"),
    ("2019-09-27T00:30:00Z", "2019-10-27T01:30:00Z", "1 month"),
    // The clock never shows it: they are over when it would have.
    ("2019-01-31T01:30:00Z", "2019-03-31T01:00:00Z", "1 month 30 days"),
    ("2019-01-31T01:30:00Z", "2019-03-31T01:29:59Z", "1 month 30 days"),
    ("2019-01-31T01:30:00Z", "2019-03-31T01:30:00Z", "2 months"),
  ])
  func spans(from: String, to: String, text: String) throws {
    let (a, b) = (try #require(Timestamp(from)), try #require(Timestamp(to)))
    let span = CalendarSpan(from: a, to: b, offset: Self.berlin)
    #expect(span.description == text)
    #expect(!span.isNegative)
    let back = CalendarSpan(from: b, to: a, offset: Self.berlin)
    #expect(back.isNegative == (a != b))
    #expect(back.description == span.description)
  }

  /// A later end is a longer time, also while clocks change.
  @Test(arguments: [
    ("2019-09-27T00:30:00Z", "2019-10-26T20:00:00Z"),
    ("2019-01-31T01:30:00Z", "2019-03-30T20:00:00Z"),
    ("2019-10-26T00:30:00Z", "2019-10-26T20:00:00Z"),
    ("2019-03-30T01:30:00Z", "2019-03-30T20:00:00Z"),
    ("2018-10-27T00:30:00Z", "2019-10-26T20:00:00Z"),
    ("2018-03-31T01:30:00Z", "2019-03-30T20:00:00Z"),
  ])
  func laterEndsAreLonger(from: String, to: String) throws {
    let (start, first) = (try #require(Timestamp(from)), try #require(Timestamp(to)))
    var last: [Int64] = []
    for minutes in 0..<720 {
      let end = Timestamp(microseconds: first.microseconds + Int64(minutes) * 60_000_000)
      let span = CalendarSpan(from: start, to: end, offset: Self.berlin)
      let parts = [span.years, span.months, span.days, span.hours, span.minutes]
      #expect(last.lexicographicallyPrecedes(parts), "\(end): \(span)")
      last = parts
    }
  }

  /// The parts add up to the later moment, and the greatest come first.
  @Test func extremesAreCounted() {
    let span = CalendarSpan(from: .min, to: .max, offset: { _ in 0 })
    #expect(span.years == 584_554)
    #expect(CalendarSpan(from: .min, to: .min, offset: { _ in -3_600 }).description == "0 seconds")
    _ = CalendarSpan(from: .min, to: .max, offset: { _ in 50_400 })
  }
}
