import AnnalsModel
import AnnalsQuery
import AnnalsTestSupport
import Foundation
import Testing

/// Buckets of the calendar, against what the clocks of the zone show second by second.
@Suite struct CalendarTests {
  static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Beirut",
    "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Cairo",
    "Europe/Amsterdam", "America/Havana", "Pacific/Kwajalein", "America/Juneau",
  ]

  static func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name)) }

  static func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(text)) }

  /// The day that the clocks show.
  static func day(_ second: Int64, _ zone: TimeZone) -> Int64 {
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
    return Int64((Double(second + Int64(offset)) / 86_400).rounded(.down))
  }

  /// The first second of a day: none before it shows that day or a later one.
  static func first(_ day: Int64, _ zone: TimeZone) -> Int64 {
    var second = day * 86_400 - 2 * 86_400
    while self.day(second, zone) < day { second += 60 }
    second -= 60
    while self.day(second, zone) < day { second += 1 }
    return second
  }

  @Test(arguments: zones) func daysBeginAtTheirFirstInstant(_ name: String) throws {
    let zone = try Self.zone(name)
    var random = SeededRandom(seed: 71)
    for index in 0..<60 {
      // From 1890 to 2050, and around the changes of the clocks.
      var second = Int64(random.number(-2_524_608_000...2_524_608_000))
      if index % 2 == 0,
        let change = zone.nextDaylightSavingTimeTransition(
          after: Date(timeIntervalSince1970: Double(second)))
      {
        second = Int64(change.timeIntervalSince1970) + Int64(random.number(-7_200...7_200))
      }
      var buckets = CalendarBuckets(.day, timeZone: zone)
      let bucket = buckets.bucket(containing: Timestamp(microseconds: second * 1_000_000 + 5))
      var day = Self.day(second, zone)
      while Self.first(day + 1, zone) <= second { day += 1 }
      let range = Self.first(day, zone) * 1_000_000..<Self.first(day + 1, zone) * 1_000_000
      #expect(
        bucket.range.lowerBound.microseconds == range.lowerBound
          && bucket.range.upperBound.microseconds == range.upperBound, "\(name) \(second)")
      #expect(bucket.label == Timestamp(microseconds: day * 86_400_000_000).dayText)
    }
  }

  @Test(arguments: [
    ("Europe/Berlin", "2019-03-31T12:00:00Z", 23), ("Europe/Berlin", "2019-10-27T12:00:00Z", 25),
    ("America/Sao_Paulo", "2018-11-04T12:00:00Z", 23),
    ("America/Sao_Paulo", "2018-02-17T12:00:00Z", 25), ("Asia/Beirut", "2022-03-27T12:00:00Z", 23),
    ("Pacific/Apia", "2011-12-29T22:00:00Z", 24), ("UTC", "2016-12-31T12:00:00Z", 24),
  ])
  func daysHaveAsManyHoursAsTheyHave(_ name: String, _ text: String, _ hours: Int64) throws {
    var buckets = CalendarBuckets(.day, timeZone: try Self.zone(name))
    let range = buckets.bucket(containing: try Self.moment(text)).range
    #expect(
      range.upperBound.microseconds - range.lowerBound.microseconds == hours * 3_600_000_000)
  }

  /// At 00:01 clocks were set to 23:01 of the day before, which is over all the same.
  @Test func aDayThatHasBegunIsNotLeft() throws {
    var days = CalendarBuckets(.day, timeZone: try Self.zone("America/St_Johns"))
    let midnight = try Self.moment("2010-11-07T02:30:00Z")
    let day = days.bucket(containing: try Self.moment("2010-11-07T02:45:00Z"))
    #expect(day.label == "2010-11-07" && day.range.lowerBound == midnight)
    let before = days.bucket(containing: try Self.moment("2010-11-07T02:29:59Z"))
    #expect(before.label == "2010-11-06" && before.range.upperBound == midnight)
    #expect(days.bucket(after: before) == day)
  }

  @Test func whatAZoneLeftOutHasNoBucket() throws {
    var buckets = CalendarBuckets(.day, timeZone: try Self.zone("Pacific/Apia"))
    let before = buckets.bucket(containing: try Self.moment("2011-12-29T22:00:00Z"))
    #expect(before.label == "2011-12-29")
    #expect(buckets.bucket(after: before)?.label == "2011-12-31")
  }

  @Test(arguments: CalendarUnit.allCases, zones)
  func bucketsFollowOneAnother(_ unit: CalendarUnit, _ name: String) throws {
    let zone = try Self.zone(name)
    var random = SeededRandom(seed: 72)
    for _ in 0..<20 {
      var buckets = CalendarBuckets(unit, timeZone: zone)
      var bucket = buckets.bucket(
        containing: Timestamp(microseconds: Int64(random.number(-4_000_000...4_000_000)) << 30))
      for _ in 0..<40 {
        let following = buckets.bucket(after: bucket)
        let next = try #require(following)
        #expect(next.range.lowerBound == bucket.range.upperBound && !next.range.isEmpty)
        #expect(next.label != bucket.label && bucket < next)
        let inside = Timestamp(
          microseconds: Int64.random(
            in: next.range.lowerBound.microseconds..<next.range.upperBound.microseconds,
            using: &random))
        var others = CalendarBuckets(unit, timeZone: zone)
        #expect(others.bucket(containing: inside) == next)
        // Its first and its last moment, of which nothing is cached.
        let end = next.range.upperBound.microseconds
        for edge in [next.range.lowerBound, Timestamp(microseconds: end - 1)] {
          var fresh = CalendarBuckets(unit, timeZone: zone)
          #expect(fresh.bucket(containing: edge) == next)
        }
        bucket = next
      }
    }
  }

  @Test func weeksAreNumberedAsISODoes() throws {
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = .gmt
    var buckets = CalendarBuckets(.week, timeZone: .gmt)
    for day in stride(from: Int64(-20_000), to: 40_000, by: 1) {
      let moment = Timestamp(microseconds: day * 86_400_000_000)
      let parts = calendar.dateComponents(
        [.yearForWeekOfYear, .weekOfYear], from: Date(timeIntervalSince1970: Double(day) * 86_400))
      let week = try #require(parts.weekOfYear)
      let year = try #require(parts.yearForWeekOfYear)
      let bucket = buckets.bucket(containing: moment)
      guard bucket.label == "\(year)-W\(week < 10 ? "0" : "")\(week)" else {
        Issue.record("\(moment): \(bucket.label)")
        return
      }
    }
  }

  @Test func monthsAndYearsBeginWithTheirFirstDay() throws {
    let zone = try Self.zone("America/Sao_Paulo")
    var months = CalendarBuckets(.month, timeZone: zone)
    var years = CalendarBuckets(.year, timeZone: zone)
    let moment = try Self.moment("2019-11-01T02:59:59Z")
    #expect(months.bucket(containing: moment).label == "2019-10")
    #expect(
      months.bucket(containing: moment).range
        == (try Self.moment("2019-10-01T03:00:00Z"))..<(try Self.moment("2019-11-01T03:00:00Z")))
    #expect(years.bucket(containing: moment).label == "2019")
    // Summer time at both ends.
    #expect(
      years.bucket(containing: try Self.moment("2017-07-01T00:00:00Z")).range
        == (try Self.moment("2017-01-01T02:00:00Z"))..<(try Self.moment("2018-01-01T02:00:00Z")))
  }

  @Test func anHourThatClocksShowTwiceIsTwo() throws {
    var hours = CalendarBuckets(.hour, timeZone: try Self.zone("Europe/Berlin"))
    let first = hours.bucket(containing: try Self.moment("2019-10-27T00:30:00Z"))
    let second = hours.bucket(after: first)
    #expect(first.label == "2019-10-27T02:00+02:00")
    #expect(second?.label == "2019-10-27T02:00+01:00")
    var halves = CalendarBuckets(.hour, timeZone: try Self.zone("Australia/Lord_Howe"))
    let half = halves.bucket(containing: try Self.moment("2019-04-06T15:10:00Z"))
    #expect(half.label == "2019-04-07T01:00+10:30")
    #expect(
      half.range
        == (try Self.moment("2019-04-06T15:00:00Z"))..<(try Self.moment("2019-04-06T15:30:00Z")))
  }

  @Test(arguments: CalendarUnit.allCases, ["UTC", "Europe/Berlin", "America/Sao_Paulo"])
  func datesFarAwayHaveBuckets(_ unit: CalendarUnit, _ name: String) throws {
    let zone = try Self.zone(name)
    var buckets = CalendarBuckets(unit, timeZone: zone)
    let extremes: [Int64] = [
      .min, .min + 1, -62_135_596_800_000_000, 253_402_300_800_000_000, .max - 1, .max,
    ]
    for microseconds in extremes {
      let moment = Timestamp(microseconds: microseconds)
      let bucket = buckets.bucket(containing: moment)
      #expect(bucket.contains(moment) && !bucket.range.isEmpty)
      let next = buckets.bucket(after: bucket)
      #expect((next == nil) == (bucket.range.upperBound == .max))
    }
    let year = buckets.bucket(containing: try Self.moment("0001-06-01T12:00:00Z")).label
    #expect(year.hasPrefix("0001"))
  }

  @Test(arguments: [
    ("2004", "2004", "2004", "2004", "2004"), ("2004-05", "2004", "2004-05", "2004-05", "2004-05"),
    ("2004-05-17", "2004", "2004-05", "2004-W21", "2004-05-17"),
    ("2005-01-01", "2005", "2005-01", "2004-W53", "2005-01-01"),
    ("2004-05-17T23:30:00-02:00", "2004", "2004-05", "2004-W21", "2004-05-17"),
    ("2004-05-17T23:30:00", "2004", "2004-05", "2004-W21", "2004-05-17"),
    ("-0044-03-15", "-0044", "-0044-03", "-0044-W11", "-0044-03-15"),
    ("+12004-05", "+12004", "+12004-05", "+12004-05", "+12004-05"),
  ])
  func textsAreGroupedAsWritten(
    _ text: String, _ year: String, _ month: String, _ week: String, _ day: String
  ) throws {
    let date = try #require(WrittenDate(text))
    #expect(
      [CalendarUnit.year, .month, .week, .day].map(date.label) == [year, month, week, day])
  }

  @Test(arguments: [
    "", "204", "20045", "2004-5", "2004-13", "2004-05-1", "2019-11-1", "2004-02-30", "2004-05-17T",
    "2004-05-17T25:00:00Z", "2004-05-17 ", "2004-05-17T12", "\u{0662}004",
  ])
  func otherTextsAreNoDates(_ text: String) { #expect(WrittenDate(text) == nil) }

  @Test func aWrittenDateBeginsInUTC() throws {
    #expect(WrittenDate("2004-05")?.firstMoment == (try Self.moment("2004-05-01T00:00:00Z")))
    #expect(
      WrittenDate("2004-05-17T23:30:00-02:00")?.firstMoment
        == (try Self.moment("2004-05-18T01:30:00Z")))
    for hour in ["00", "09", "10", "23"] {
      #expect(WrittenDate("2004-05-17T\(hour):30:00Z")?.label(.hour) == "2004-05-17T\(hour)")
    }
  }
}
