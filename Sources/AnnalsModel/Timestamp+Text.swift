// Moments as RFC 3339 text in UTC, by the proleptic Gregorian calendar.

extension Timestamp: CustomStringConvertible {
  /// `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`, the fraction without trailing zeros. Years outside 0000 to
  /// 9999, which RFC 3339 does not have, are written with a sign.
  public var description: String {
    let day = microseconds.quotientRoundedDown(by: 86_400_000_000)
    let remainder = microseconds % 86_400_000_000
    let inDay = remainder < 0 ? remainder + 86_400_000_000 : remainder
    let date = CalendarDate(daysSince1970: day)
    let seconds = inDay / 1_000_000
    var text = (0...9_999).contains(date.year) ? "" : (date.year < 0 ? "-" : "+")
    text += padded(date.year.magnitude, 4) + "-" + padded(UInt64(date.month), 2)
    text += "-" + padded(UInt64(date.day), 2) + "T" + padded(UInt64(seconds / 3_600), 2)
    text += ":" + padded(UInt64(seconds / 60 % 60), 2) + ":" + padded(UInt64(seconds % 60), 2)
    let fraction = inDay % 1_000_000
    if fraction != 0 {
      var digits = padded(UInt64(fraction), 6)
      while digits.hasSuffix("0") { digits.removeLast() }
      text += "." + digits
    }
    return text + "Z"
  }

  /// The earliest and the latest possible moment.
  package static var min: Timestamp { Timestamp(microseconds: .min) }
  package static var max: Timestamp { Timestamp(microseconds: .max) }

  /// Whether this many seconds after the year 2001 began, as Foundation counts, is a moment.
  package static func holds(secondsSince2001 seconds: Double) -> Bool {
    let microseconds = ((seconds + 978_307_200) * 1_000_000).rounded()
    return microseconds >= -0x1p63 && microseconds < 0x1p63
  }

  /// Which moments there are, for a message about a number that stands for none.
  package static var rangeText: String {
    "a date lies between \(min.dayText) and \(max.dayText)"
  }

  /// Whether a text begins like a date whose year has a sign or more than four digits: if it cannot
  /// be read, it may be out of range.
  package static func looksLong(_ text: String) -> Bool {
    var reader = DigitReader(bytes: Array(text.utf8))
    let isSigned = reader.consume("-") || reader.consume("+")
    guard reader.number(digits: 4...4) != nil else { return false }
    return reader.number(digits: 1...16) != nil || isSigned
  }

  /// The day alone, in UTC: for messages.
  package var dayText: String { String(description.prefix { $0 != "T" }) }

  /// Reads RFC 3339 text with `Z` or an offset, and any number of digits after the point, of which
  /// six count. Nil for any other text.
  package init?(_ text: String) {
    var reader = DigitReader(bytes: Array(text.utf8))
    let sign: Int64 = reader.consume("-") ? -1 : 1
    let isSigned = sign < 0 || reader.consume("+")
    guard let year = reader.number(digits: isSigned ? 4...6 : 4...4), reader.consume("-"),
      let month = reader.number(digits: 2...2), reader.consume("-"),
      let day = reader.number(digits: 2...2),
      reader.consume("T") || reader.consume("t") || reader.consume(" "),
      let hour = reader.number(digits: 2...2), reader.consume(":"),
      let minute = reader.number(digits: 2...2), reader.consume(":"),
      let second = reader.number(digits: 2...2), hour < 24, minute < 60, second < 60
    else { return nil }
    var fraction: Int64 = 0
    if reader.consume(".") {
      guard let digits = reader.fraction() else { return nil }
      fraction = digits
    }
    guard let offset = reader.offset(), reader.isAtEnd,
      let days = CalendarDate(year: sign * year, month: month, day: day).daysSince1970
    else { return nil }
    var seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    if seconds < 0, fraction > 0 {
      // Counted from the second above, so that the earliest moments do not overflow in between.
      seconds += 1
      fraction -= 1_000_000
    }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (total, overflowOfSum) = whole.addingReportingOverflow(fraction)
    guard !overflow, !overflowOfSum else { return nil }
    self.init(microseconds: total)
  }
}

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
    let era = shifted.quotientRoundedDown(by: 146_097)
    let dayOfEra = shifted - era * 146_097
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
    let era = shiftedYear.quotientRoundedDown(by: 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    // A day that its month does not have comes back as one of the next month.
    return CalendarDate(daysSince1970: days) == self ? days : nil
  }
}

/// Reads the parts of a date from ASCII text.
private struct DigitReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
    position += 1
    return true
  }

  mutating func digit() -> Int64? {
    guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
    position += 1
    return Int64(bytes[position - 1] - 0x30)
  }

  mutating func number(digits: ClosedRange<Int>) -> Int64? {
    var value: Int64 = 0
    var count = 0
    while count < digits.upperBound, let next = digit() {
      value = value * 10 + next
      count += 1
    }
    return count < digits.lowerBound ? nil : value
  }

  /// The microseconds of the digits after a point.
  mutating func fraction() -> Int64? {
    guard var value = digit() else { return nil }
    var count = 1
    while let next = digit() {
      if count < 6 {
        value = value * 10 + next
        count += 1
      }
    }
    for _ in count..<6 { value *= 10 }
    return value
  }

  /// The offset from UTC in seconds.
  mutating func offset() -> Int64? {
    if consume("Z") || consume("z") { return 0 }
    let sign: Int64 = consume("-") ? -1 : 1
    guard sign < 0 || consume("+"), let hours = number(digits: 2...2), consume(":"),
      let minutes = number(digits: 2...2), hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 3_600 + minutes * 60)
  }
}

extension Int64 {
  /// The quotient, rounded towards negative infinity.
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }
}

private func padded(_ number: UInt64, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
