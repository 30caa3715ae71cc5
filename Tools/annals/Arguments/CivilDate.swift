import Annals

/// A day and time of day in the proleptic Gregorian calendar, without a zone.
struct CivilDate: Hashable, Sendable {
  var year: Int64
  var month: Int64
  var day: Int64
  var hour: Int64 = 0
  var minute: Int64 = 0
  var second: Int64 = 0
  var microsecond: Int64 = 0

  init(
    year: Int64, month: Int64, day: Int64 = 1, hour: Int64 = 0, minute: Int64 = 0,
    second: Int64 = 0, microsecond: Int64 = 0
  ) {
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
    self.microsecond = microsecond
  }

  /// The date and time on a clock `offset` seconds ahead of UTC.
  init(_ timestamp: Timestamp, offset: Int = 0) {
    let (seconds, microsecond) = CivilDate.floorDivide(timestamp.microseconds, 1_000_000)
    let (days, ofDay) = CivilDate.floorDivide(seconds + Int64(offset), 86400)
    let date = CalendarDate(daysSince1970: days)
    self.init(
      year: date.year, month: date.month, day: date.day, hour: ofDay / 3600,
      minute: ofDay / 60 % 60, second: ofDay % 60, microsecond: microsecond)
  }

  /// Whole seconds since 1970-01-01 00:00:00 of the same clock. Out-of-range months and days carry
  /// over: month 13 is the next January.
  var seconds: Int64 {
    let (extraYears, monthIndex) = CivilDate.floorDivide(month - 1, 12)
    let first = CalendarDate(year: year + extraYears, month: monthIndex + 1, day: 1)
    // The first of a month from 1 to 12 is always a date.
    let days = (first.daysSince1970 ?? 0) + day - 1
    return days * 86400 + hour * 3600 + minute * 60 + second
  }

  /// The greatest year, positive or negative, that is accepted: 64-bit microseconds end soon after.
  static let lastYear: Int64 = 290_000

  /// Whether every part is within its range, and the month has the day.
  var isValid: Bool {
    (0...23).contains(hour) && (0...59).contains(minute) && (0...59).contains(second)
      && abs(year) <= CivilDate.lastYear
      && CalendarDate(year: year, month: month, day: day).daysSince1970 != nil
  }

  /// The time at which a clock `offset` seconds ahead of UTC shows this date.
  func timestamp(offset: Int = 0) -> Timestamp {
    Timestamp(microseconds: (seconds - Int64(offset)) * 1_000_000 + microsecond)
  }

  /// `2019-10-22`; years beyond 0000 to 9999 with a sign.
  var dayText: String {
    let digits = String(year.magnitude)
    let padding = String(repeating: "0", count: max(0, 4 - digits.utf8.count))
    let sign = (0...9999).contains(year) ? "" : year < 0 ? "-" : "+"
    return "\(sign)\(padding)\(digits)-\(CivilDate.two(month))-\(CivilDate.two(day))"
  }

  /// `20:15:04`.
  var timeText: String {
    "\(CivilDate.two(hour)):\(CivilDate.two(minute)):\(CivilDate.two(second))"
  }

  /// `.25` for a quarter of a second; empty for a whole one.
  var fractionText: String {
    if microsecond == 0 { return "" }
    var digits = String(1_000_000 + microsecond).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }

  static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
    return remainder < 0 ? (quotient - 1, remainder + b) : (quotient, remainder)
  }
}
