import Annals

/// A day and time of day in the proleptic Gregorian calendar, without a zone.
struct CivilDate: Hashable, Sendable {
  var year: Int64
  var month: Int64
  var day: Int64 = 1
  var hour: Int64 = 0
  var minute: Int64 = 0
  var second: Int64 = 0
  var microsecond: Int64 = 0

  /// Whole seconds since 1970-01-01 00:00:00 of the same clock. Out-of-range months and days carry
  /// over: month 13 is the next January.
  var seconds: Int64 {
    let (extraYears, monthIndex) = (month - 1).dividedRoundingDown(by: 12)
    let first = CalendarDate(year: year + extraYears, month: monthIndex + 1, day: 1)
    // The first of a month from 1 to 12 is always a date.
    let days = (first.daysSince1970 ?? 0) + day - 1
    return days * 86400 + hour * 3600 + minute * 60 + second
  }

  /// The greatest year, positive or negative, whose dates are certainly moments: 64-bit
  /// microseconds end soon after.
  static let greatestYear: Int64 = 290_000

  /// The time at which a clock `offset` seconds ahead of UTC shows this date.
  func timestamp(offset: Int = 0) -> Timestamp {
    Timestamp(microseconds: (seconds - Int64(offset)) * 1_000_000 + microsecond)
  }

  /// `2019-10-22`; years beyond 0000 to 9999 with a sign.
  var dayText: String { CalendarDate(year: year, month: month, day: day).text }

  /// `20:15:04`.
  var timeText: String {
    "\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
  }
}

extension CivilDate {
  /// The date and time on a clock `offset` seconds ahead of UTC.
  init(_ timestamp: Timestamp, offset: Int = 0) {
    let (seconds, microsecond) = timestamp.microseconds.dividedRoundingDown(by: 1_000_000)
    let (days, ofDay) = (seconds + Int64(offset)).dividedRoundingDown(by: 86_400)
    let date = CalendarDate(daysSince1970: days)
    self.init(
      year: date.year, month: date.month, day: date.day, hour: ofDay / 3600,
      minute: ofDay / 60 % 60, second: ofDay % 60, microsecond: microsecond)
  }
}
