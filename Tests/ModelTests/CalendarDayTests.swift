import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// Days of the calendar.
@Suite struct CalendarDayTests {
  @Test func aDayIsItsText() throws {
    let day = try #require(CalendarDay("2019-10-06"))
    #expect((day.year, day.month, day.day) == (2019, 10, 6))
    #expect(day.description == "2019-10-06" && day == CalendarDay(year: 2019, month: 10, day: 6))
    #expect(CalendarDay("-0044-03-15")?.description == "-0044-03-15")
    for text in [
      "2019-02-29", "2019-13-01", "2019-10", "2019", "2019-10-06T00:00", "2019-10-6", "",
      "+10000-01-01", "-10000-12-31", "2019-10-06 ", "today",
    ] {
      #expect(CalendarDay(text) == nil, "\(text)")
    }
    #expect(CalendarDay(year: 10_000, month: 1, day: 1) == nil)
    #expect(CalendarDay(year: 2020, month: 2, day: 29) != nil)
    #expect(CalendarDay(year: .max, month: .max, day: .min) == nil)
  }

  @Test func daysAreCounted() throws {
    let day = try #require(CalendarDay("2019-12-31"))
    #expect(day.adding(days: 1)?.description == "2020-01-01")
    #expect(day.adding(days: -365)?.description == "2018-12-31")
    #expect(day.distance(to: try #require(CalendarDay("2020-03-01"))) == 61)
    #expect(CalendarDay.latest.adding(days: 1) == nil)
    #expect(CalendarDay.earliest.adding(days: -1) == nil)
    #expect(day.adding(days: .max) == nil)
    #expect(CalendarDay.earliest.description == "-9999-01-01")
    #expect(CalendarDay.latest.description == "9999-12-31")
    #expect(CalendarDay.earliest < day && day < .latest)
    #expect(CalendarDay(daysSince1970: 2_932_897) == nil && CalendarDay(daysSince1970: .min) == nil)
  }

  @Test func everyDayComesBack() throws {
    var random = SeededRandom(seed: 4)
    for _ in 0..<2_000 {
      let days = Int64(random.below(7_304_484)) - 4_371_587
      let day = try #require(CalendarDay(daysSince1970: days))
      #expect(CalendarDay(day.description) == day)
      #expect(CalendarDay(year: day.year, month: day.month, day: day.day) == day)
    }
  }

  @Test func codableIsTheText() throws {
    let day = try #require(CalendarDay("2019-10-06"))
    let data = try JSONEncoder().encode([day])
    #expect(String(decoding: data, as: UTF8.self) == #"["2019-10-06"]"#)
    #expect(try JSONDecoder().decode([CalendarDay].self, from: data) == [day])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CalendarDay].self, from: Data(#"["2019-02-30"]"#.utf8))
    }
  }

  @Test func bothDaysOfASpanCount() throws {
    func days(_ first: String, _ last: String) throws -> String {
      CalendarSpan(
        from: try #require(CalendarDay(first)), through: try #require(CalendarDay(last))
      ).description
    }
    #expect(try days("2019-10-04", "2019-10-04") == "1 day")
    #expect(try days("2019-10-04", "2019-10-06") == "3 days")
    #expect(try days("2019-10-01", "2019-10-31") == "1 month")
    #expect(try days("9999-12-31", "9999-12-31") == "1 day")
  }
}
