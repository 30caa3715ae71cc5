/// A day of the proleptic Gregorian calendar.
package struct CalendarDate: Hashable, Sendable {
  package var year: Int64
  package var month: Int64
  package var day: Int64

  package init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The date this many days after 1970-01-01.
  package init(daysSince1970 days: Int64) {
    // Years are counted from March, in cycles of 400 years, so that the leap day ends a year.
    let shifted = days + 719_468
    let (era, dayOfEra) = shifted.dividedRoundingDown(by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The days from 1970-01-01 to this date; nil if there is no such date.
  package var daysSince1970: Int64? {
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    let shiftedYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shiftedYear.dividedRoundingDown(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    // A day that its month does not have comes back as one of the next month.
    return CalendarDate(daysSince1970: days) == self ? days : nil
  }

  /// `2019-10-06`; years outside 0000 to 9999 with a sign.
  package var text: String { "\(year.yearText)-\(month.padded(2))-\(day.padded(2))" }
}

extension Int64 {
  /// So many microseconds, less than a second, as `.25`; empty for none.
  package var fractionText: String {
    if self == 0 { return "" }
    var digits = String(1_000_000 + self).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }

  /// The quotient, rounded towards negative infinity, and the remainder, which is not negative.
  @inlinable
  package func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  /// The digits without a sign, with zeros before them up to this width.
  package func padded(_ width: Int) -> String {
    let digits = String(magnitude)
    return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
  }

  /// A year in four digits; outside 0000 to 9999 with a sign.
  package var yearText: String {
    ((0...9_999).contains(self) ? "" : self < 0 ? "-" : "+") + padded(4)
  }
}
