import AnnalsModel
import Testing

@Suite struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999999Z"),
    (1_342_594_892_000_000, "2012-07-18T07:01:32Z"), (951_782_400_000_000, "2000-02-29T00:00:00Z"),
    (4_107_542_399_500_000, "2100-02-28T23:59:59.5Z"),
    (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
    (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
    (-62_167_219_200_000_001, "-0001-12-31T23:59:59.999999Z"),
    (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    (253_402_300_800_000_000, "+10000-01-01T00:00:00Z"),
  ])
  func textIsRFC3339(microseconds: Int64, text: String) {
    #expect(Timestamp(microseconds: microseconds).description == text)
    #expect(Timestamp(text)?.microseconds == microseconds)
  }

  @Test func theExtremesAreReadBack() {
    for microseconds in [Int64.min, .max] {
      let text = Timestamp(microseconds: microseconds).description
      #expect(Timestamp(text)?.microseconds == microseconds, "\(text)")
    }
  }

  @Test(arguments: [
    ("2012-07-18T09:01:32+02:00", 1_342_594_892_000_000),
    ("2012-07-18 07:01:32.1234567Z", 1_342_594_892_123_456),
    ("2012-07-18 07:01:32.9999999Z", 1_342_594_892_999_999),
    ("1969-12-31T23:59:59.9999999Z", -1),
    ("2012-07-18t05:31:32-01:30", 1_342_594_892_000_000),
    // Leap seconds are the start of the next second.
    ("2016-12-31T23:59:60Z", 1_483_228_800_000_000),
    ("2016-12-31T15:59:60.75-08:00", 1_483_228_800_000_000),
  ])
  func offsetsAndFractionsAreRead(text: String, microseconds: Int64) {
    #expect(Timestamp(text)?.microseconds == microseconds)
  }

  /// The second day of 1970 has 23 hours: clocks are set from one hour ahead of UTC to two.
  @Test(arguments: [
    ("1970-01-01T12:00:00Z", "today", "1969-12-31T23:00:00Z", "1970-01-01T22:59:59.999999Z"),
    ("1970-01-02T12:00:00Z", "today", "1970-01-01T23:00:00Z", "1970-01-02T21:59:59.999999Z"),
    ("1970-01-03T12:00:00Z", "today", "1970-01-02T22:00:00Z", "1970-01-03T21:59:59.999999Z"),
    ("1970-01-03T12:00:00Z", "yesterday", "1970-01-01T23:00:00Z", "1970-01-02T21:59:59.999999Z"),
  ])
  func aDayEndsWhereTheNextOneBegins(now: String, day: String, first: String, last: String) throws {
    let now = try #require(Timestamp(now))
    let found = RelativeDate.period(day, now: now) { moment in
      moment.microseconds < 90_000_000_000 ? 3_600 : 7_200
    }
    #expect(found?.lowerBound.description == first && found?.upperBound.description == last)
  }

  @Test(arguments: [
    "", "2012", "2012-07-18", "2012-07-18T07:01:32", "2012-13-01T00:00:00Z",
    "2012-02-30T00:00:00Z", "2011-02-29T00:00:00Z", "2012-01-00T00:00:00Z",
    "2012-01-01T24:00:00Z", "2012-01-01T00:60:00Z", "2012-01-01T00:00:61Z", "2012-01-01T00:00Z",
    "2012-01-01T00:00:00+0000", "2012-01-01T00:00:00 +00:00", "20120101T000000Z", "2012-W01-1",
    "2012-01-01T00:00:00.Z", "2012-01-01T00:00:00Zx", "+999999-01-01T00:00:00Z",
    "2012-01-01T00:00:00+24:00",
  ])
  func otherTextIsNoMoment(text: String) {
    #expect(Timestamp(text) == nil)
  }
}
