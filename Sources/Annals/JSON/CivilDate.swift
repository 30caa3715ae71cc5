import AnnalsModel

/// A day and time of day in the proleptic Gregorian calendar, without a zone.
package struct CivilDate: Hashable, Sendable {
  package var year: Int64
  package var month: Int64
  package var day: Int64
  package var hour: Int64 = 0
  package var minute: Int64 = 0
  package var second: Int64 = 0
  package var microsecond: Int64 = 0

  package init(
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

  /// What a clock shows that is `offset` seconds ahead of UTC.
  package init(_ timestamp: Timestamp, offset: Int = 0) {
    let (seconds, microsecond) = CivilDate.floorDivide(timestamp.microseconds, 1_000_000)
    let (days, ofDay) = CivilDate.floorDivide(seconds + Int64(offset), 86400)
    // Days are counted from 1 March of year 0, so that the leap day ends a year; 146,097 days make
    // a cycle of 400 years.
    let (cycle, ofCycle) = CivilDate.floorDivide(days + 719_468, 146_097)
    let yearOfCycle = (ofCycle - ofCycle / 1460 + ofCycle / 36524 - ofCycle / 146_096) / 365
    let ofYear = ofCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let fromMarch = (5 * ofYear + 2) / 153
    let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
    self.init(
      year: yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month: month,
      day: ofYear - (153 * fromMarch + 2) / 5 + 1, hour: ofDay / 3600, minute: ofDay / 60 % 60,
      second: ofDay % 60, microsecond: microsecond)
  }

  /// Whole seconds since 1970-01-01 00:00:00 of the same clock. Out-of-range months and days count
  /// on: month 13 is the next January.
  package var seconds: Int64 {
    let (extraYears, monthIndex) = CivilDate.floorDivide(month - 1, 12)
    let year = self.year + extraYears - (monthIndex < 2 ? 1 : 0)
    let (cycle, yearOfCycle) = CivilDate.floorDivide(year, 400)
    let fromMarch = (monthIndex + 10) % 12
    let ofYear = (153 * fromMarch + 2) / 5 + day - 1
    let ofCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + ofYear
    let days = cycle * 146_097 + ofCycle - 719_468
    return days * 86400 + hour * 3600 + minute * 60 + second
  }

  /// Whether every part is within its range; second 60, a leap second, is.
  package var isValid: Bool {
    guard (1...12).contains(month), (0...23).contains(hour), (0...59).contains(minute),
      (0...60).contains(second), abs(year) <= 290_000
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...lengths[Int(month) - 1]).contains(day)
  }

  /// The moment at which a clock `offset` seconds ahead of UTC shows this.
  package func timestamp(offset: Int = 0) -> Timestamp {
    Timestamp(microseconds: (seconds - Int64(offset)) * 1_000_000 + microsecond)
  }

  /// `2019-10-22`; years beyond four digits with a sign and at least six, as ISO 8601 has it.
  package var dayText: String {
    let digits = String(year.magnitude)
    let isPlain = (0...9999).contains(year)
    let padding = String(repeating: "0", count: max(0, (isPlain ? 4 : 6) - digits.utf8.count))
    let sign = isPlain ? "" : year < 0 ? "-" : "+"
    return "\(sign)\(padding)\(digits)-\(CivilDate.two(month))-\(CivilDate.two(day))"
  }

  /// `20:15:04`.
  package var timeText: String {
    "\(CivilDate.two(hour)):\(CivilDate.two(minute)):\(CivilDate.two(second))"
  }

  /// `.25` for a quarter of a second; empty for a whole one.
  package var fractionText: String {
    if microsecond == 0 { return "" }
    let digits = String(1_000_000 + microsecond).dropFirst()
    return "." + digits.prefix(upTo: (digits.lastIndex { $0 != "0" }).map(digits.index(after:))!)
  }

  package static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = a.quotientAndRemainder(dividingBy: b)
    return remainder < 0 ? (quotient - 1, remainder + b) : (quotient, remainder)
  }
}
