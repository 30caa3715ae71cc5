import Annals

/// A day and time of day in the proleptic Gregorian calendar, without a zone.
package struct CivilDate: Hashable, Sendable {
  package var year: Int64
  package var month: Int64
  package var day: Int64 = 1
  package var hour: Int64 = 0
  package var minute: Int64 = 0
  package var second: Int64 = 0
  package var microsecond: Int64 = 0

  package init(
    year: Int64, month: Int64, day: Int64 = 1, hour: Int64 = 0, minute: Int64 = 0,
    second: Int64 = 0, microsecond: Int64 = 0
  ) {
    (self.year, self.month, self.day) = (year, month, day)
    (self.hour, self.minute, self.second, self.microsecond) = (hour, minute, second, microsecond)
  }

  /// Whole seconds since 1970-01-01 00:00:00 of the same clock. Out-of-range months and days carry
  /// over: month 13 is the next January.
  package var seconds: Int64 {
    let (extraYears, monthIndex) = (month - 1).dividedRoundingDown(by: 12)
    let first = CalendarDate(year: year + extraYears, month: monthIndex + 1, day: 1)
    // The first of a month from 1 to 12 is always a date.
    let days = (first.daysSince1970 ?? 0) + day - 1
    return days * 86400 + hour * 3600 + minute * 60 + second
  }

  /// The greatest year, positive or negative, whose dates are certainly moments: 64-bit
  /// microseconds end soon after.
  package static let greatestYear: Int64 = 290_000

  /// The time at which a clock `offset` seconds ahead of UTC shows this date.
  package func timestamp(offset: Int = 0) -> Timestamp {
    Timestamp(microseconds: (seconds - Int64(offset)) * 1_000_000 + microsecond)
  }

  /// `2019-10-22`; years beyond 0000 to 9999 with a sign.
  package var dayText: String { CalendarDate(year: year, month: month, day: day).text }

  /// `20:15:04`.
  package var timeText: String {
    "\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
  }
}

extension CivilDate {
  /// The date and time on a clock `offset` seconds ahead of UTC.
  package init(_ timestamp: Timestamp, offset: Int = 0) {
    let (seconds, microsecond) = timestamp.microseconds.dividedRoundingDown(by: 1_000_000)
    let (days, ofDay) = (seconds + Int64(offset)).dividedRoundingDown(by: 86_400)
    let date = CalendarDate(daysSince1970: days)
    self.init(
      year: date.year, month: date.month, day: date.day, hour: ofDay / 3600,
      minute: ofDay / 60 % 60, second: ofDay % 60, microsecond: microsecond)
  }
}
