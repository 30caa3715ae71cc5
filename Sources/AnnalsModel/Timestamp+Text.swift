// Moments as RFC 3339 text in UTC, by the proleptic Gregorian calendar.

extension Timestamp: CustomStringConvertible {
  /// `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`, the fraction without trailing zeros. Years outside 0000 to
  /// 9999, which RFC 3339 does not have, are written with a sign.
  public var description: String {
    let (day, inDay) = microseconds.dividedRoundingDown(by: 86_400_000_000)
    let seconds = inDay / 1_000_000
    var text = CalendarDate(daysSince1970: day).text + "T" + (seconds / 3_600).padded(2)
    text += ":" + (seconds / 60 % 60).padded(2) + ":" + (seconds % 60).padded(2)
    return text + (inDay % 1_000_000).fractionText + "Z"
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
    var reader = DigitReader(text)
    let isSigned = reader.consume("-") || reader.consume("+")
    guard reader.number(digits: 4...4) != nil else { return false }
    return reader.number(digits: 1...16) != nil || isSigned
  }

  /// The day alone, in UTC: for messages.
  package var dayText: String { String(description.prefix { $0 != "T" }) }

  /// Reads RFC 3339 text with `Z` or an offset, and any number of digits after the point, of which
  /// six count. Nil for any other text.
  package init?(_ text: String) {
    var reader = DigitReader(text)
    guard let year = reader.year(), reader.consume("-"),
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
      let days = CalendarDate(year: year, month: month, day: day).daysSince1970
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

extension Timestamp {
  /// The first moment at which clocks show `local`, which is a clock's display read as UTC; where
  /// clocks were set past it, the moment by the offset before. `offset` gives what clocks are ahead
  /// of UTC, in seconds. Nil out of range.
  package init?(local: Timestamp, offset: (Timestamp) -> Int) {
    func back(_ microseconds: Int64) -> Timestamp? {
      let (moment, overflow) = local.microseconds.subtractingReportingOverflow(microseconds)
      return overflow ? nil : Timestamp(microseconds: moment)
    }
    func exact(_ seconds: Int) -> Timestamp? {
      back(Int64(seconds) * 1_000_000).flatMap { offset($0) == seconds ? $0 : nil }
    }
    let day: Int64 = 86_400_000_000
    let before = offset(back(day) ?? local)
    let after = offset(back(-day) ?? local)
    guard let moment = exact(before) ?? exact(after) ?? back(Int64(before) * 1_000_000) else {
      return nil
    }
    self = moment
  }
}
