import Annals
import AnnalsInspector
import Foundation
import Testing

@testable import AnnalsCommand

/// A zone one hour ahead of UTC, two from 2019-03-31 01:00 to 2019-10-27 01:00 UTC: Berlin's.
let berlin = LocalZone(
  offset: { moment in
    let seconds = moment.microseconds / 1_000_000
    return (1_553_994_000..<1_572_138_000).contains(seconds) ? 7200 : 3600
  })

extension TokenArgument {
  /// A period from its start to the start of the next.
  fileprivate static func period(from: Timestamp, until: Timestamp) -> TokenArgument {
    .period(from...Timestamp(microseconds: until.microseconds - 1))
  }
}

private func moment(_ text: String) -> Timestamp {
  guard let moment = Timestamp(text) else { preconditionFailure("bad date in a test: \(text)") }
  return moment
}

@Suite struct TokenArgumentTests {
  static let now = moment("2019-10-22T18:15:04Z")

  static let accepted: [(String, TokenArgument)] = [
    ("0", .number(0)), ("42", .number(42)), ("20191022", .number(20_191_022)),
    ("9223372036854775807", .number(.max)), ("head", .mark(.head, back: 0)),
    ("head~3", .mark(.head, back: 3)), ("floor", .mark(.floor, back: 0)),
    ("base~0", .mark(.base, back: 0)), ("12h", .moment(moment("2019-10-22T06:15:04Z"))),
    ("30d", .moment(moment("2019-09-22T18:15:04Z"))),
    ("2w", .moment(moment("2019-10-08T18:15:04Z"))),
    ("90m", .moment(moment("2019-10-22T16:45:04Z"))),
    ("1y", .moment(moment("2018-10-22T18:15:04Z"))), ("now", .moment(now)),
    (
      "today",
      .period(from: moment("2019-10-21T22:00:00Z"), until: moment("2019-10-22T22:00:00Z"))
    ),
    (
      "yesterday",
      .period(from: moment("2019-10-20T22:00:00Z"), until: moment("2019-10-21T22:00:00Z"))
    ),
    ("2016-12-31T23:59:60Z", .moment(moment("2017-01-01T00:00:00Z"))),
    ("2016-12-31T23:59:60.5Z", .moment(moment("2017-01-01T00:00:00Z"))),
    ("-0044-03-15 12:00", .moment(moment("-0044-03-15T11:00:00Z"))),
    (
      "+12019-10",
      .period(from: moment("+12019-09-30T23:00:00Z"), until: moment("+12019-10-31T23:00:00Z"))
    ),
    ("2019-10-22T20:15:04Z", .moment(moment("2019-10-22T20:15:04Z"))),
    ("2019-10-22 20:15:04 +0200", .moment(moment("2019-10-22T18:15:04Z"))),
    ("2019-10-22T20:15:04.5-05:00", .moment(moment("2019-10-23T01:15:04.5Z"))),
    ("2019-10-22 20:15", .moment(moment("2019-10-22T18:15:00Z"))),
    ("2019-12-22T20:15:04", .moment(moment("2019-12-22T19:15:04Z"))),
    (
      "2019-10-22",
      .period(from: moment("2019-10-21T22:00:00Z"), until: moment("2019-10-22T22:00:00Z"))
    ),
    // A day of 25 hours, one of 23, a month with a change, the end of a year.
    (
      "2019-10-27",
      .period(from: moment("2019-10-26T22:00:00Z"), until: moment("2019-10-27T23:00:00Z"))
    ),
    (
      "2019-03-31",
      .period(from: moment("2019-03-30T23:00:00Z"), until: moment("2019-03-31T22:00:00Z"))
    ),
    (
      "2019-10",
      .period(from: moment("2019-09-30T22:00:00Z"), until: moment("2019-10-31T23:00:00Z"))
    ),
    (
      "2018-12",
      .period(from: moment("2018-11-30T23:00:00Z"), until: moment("2018-12-31T23:00:00Z"))
    ),
    (
      "7@6F9619FF-8B86-D011-B42D-00C04FC964FF",
      .token(
        Token(
          store: RawUUID(high: 0x6F96_19FF_8B86_D011, low: 0xB42D_00C0_4FC9_64FF), number: 7,
          opening: 0))
    ),
  ]

  @Test(arguments: accepted)
  func reads(text: String, expected: TokenArgument) throws {
    #expect(try TokenArgument(text, zone: berlin, now: TokenArgumentTests.now) == expected)
  }

  static let refused = [
    "", "x", "-1", "head~", "head~-1", "head~x", "heads", "~1", "2019-13", "2019-00", "2019-02-29",
    "2019-10-22T25:00", "2019-1-2", "3q", "d", "20191022T181504Z", "2019-W43-2",
    "2019-W43", "2019-295", "tomorrow", "-3d", "1.5d", "99999999999999999999", "7@x",
    "99999999999999w", "2019-10-22T20:15:04 CET", "+5",
  ]

  @Test(arguments: refused)
  func refuses(text: String) {
    #expect(throws: RequestFault.self) {
      try TokenArgument(text, zone: berlin, now: TokenArgumentTests.now)
    }
  }

  @Test func aPeriodEndsOrBeginsByItsRole() throws {
    let day = try TokenArgument("2019-10-22", zone: .fixed(0), now: TokenArgumentTests.now)
    #expect(day.end == moment("2019-10-22T23:59:59.999999Z"))
    #expect(day.start == moment("2019-10-22T00:00:00Z"))
    #expect(TokenArgument.number(1).end == nil && TokenArgument.number(1).start == nil)
  }

  @Test func localTimesInAGapOrTwice() {
    // 02:30 does not exist on 31 March; it happens twice on 27 October, and the first is meant.
    let gap = CivilDate(year: 2019, month: 3, day: 31, hour: 2, minute: 30)
    #expect(berlin.moment(gap) == moment("2019-03-31T01:30:00Z"))
    let twice = CivilDate(year: 2019, month: 10, day: 27, hour: 2, minute: 30)
    #expect(berlin.moment(twice) == moment("2019-10-27T00:30:00Z"))
  }

  static let shown: [(String, String)] = [
    ("2019-10-22T18:15:04Z", "2019-10-22 20:15:04 +0200"),
    ("2019-12-31T23:30:00.25Z", "2020-01-01 00:30:00.25 +0100"),
    ("0000-12-31T22:59:59Z", "0000-12-31 23:59:59 +0100"),
  ]

  @Test(arguments: shown)
  func printsLocalTime(utc: String, expected: String) {
    #expect(berlin.exactText(moment(utc)) == expected)
    #expect(berlin.text(moment(utc)) == expected.replacing(".25 ", with: " "))
    #expect(
      LocalZone.fixed(-12_600).text(moment("2019-10-22T18:15:04Z")) == "2019-10-22 14:45:04 -0330")
  }

  @Test func everyDayReadsBack() {
    for day in stride(from: Int64(-200_000), to: 200_000, by: 7) {
      let date = CivilDate(Timestamp(microseconds: day * 86_400_000_000))
      #expect(date.seconds == day * 86400)
    }
  }
}

@Suite struct ObjectArgumentTests {
  static let accepted: [(String, ObjectArgument)] = [
    ("Post/42", .key(entity: "Post", key: "42")),
    ("File/a/b#3", .key(entity: "File", key: "a/b#3")),
    ("Note/", .key(entity: "Note", key: "")), ("Post#7", .row(entity: "Post", row: 7)),
  ]

  @Test(arguments: accepted)
  func reads(text: String, expected: ObjectArgument) throws {
    let argument = try ObjectArgument(text)
    #expect(argument == expected)
    #expect(argument.text == text)
  }

  @Test(arguments: ["", "/", "/a", "Post", "Post#", "#7", "Post#0", "Post#-1", "Post#x", "Post#+1"])
  func refuses(text: String) {
    #expect(throws: RequestFault.self) { try ObjectArgument(text) }
  }
}
