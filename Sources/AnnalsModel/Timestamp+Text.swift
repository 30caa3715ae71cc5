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

  /// The moments that a transaction may have: all whole days of the range of dates, so that
  /// there are moments before and after each.
  package static var transactionRange: Range<Timestamp> {
    let day: Int64 = 86_400_000_000
    return Timestamp(microseconds: (.min / day) * day)..<Timestamp(microseconds: (.max / day) * day)
  }

  /// Which moments a transaction may have, for a message about one that it may not.
  package static var transactionRangeText: String {
    let range = transactionRange
    return "a transaction's date lies from \(range.lowerBound.dayText) to before "
      + range.upperBound.dayText
  }

  /// Whether this many seconds after the year 2001 began, as Foundation counts, is a moment.
  package static func holds(secondsSince2001 seconds: Double) -> Bool {
    let microseconds = ((seconds + 978_307_200) * 1_000_000).rounded()
    return microseconds >= -0x1p63 && microseconds < 0x1p63
  }

  /// Which moments there are, for a message about a number that stands for none.
  package static var rangeText: String {
    "a date lies between \(min.dayText) and \(max.dayText)"
  }

  /// The day alone, in UTC: for messages.
  package var dayText: String { String(description.prefix { $0 != "T" }) }

  /// Reads RFC 3339 text with `Z` or an offset, and any number of digits after the point, of which
  /// six count. Nil for any other text.
  package init?(_ text: String) {
    guard let date = WrittenDate(text), date.isRFC3339 else { return nil }
    self = date.firstMoment
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
