/// A date as people and files write it: the one grammar of dates.
///
///     date = year [ "-" month [ "-" day [ ("T" | " ") time [ zone ] ] ] ]
///     year = 4 digits | ("-" | "+") 4 to 6 digits
///     time = hour ":" minute [ ":" second [ "." digits ] ]
///     zone = "Z" | [ " " ] ("-" | "+") 2 digits [ ":" ] 2 digits
///
/// Months, days, hours, minutes and seconds have two digits; `t` and `z` are read, too. Second 60
/// is a leap second, read as the start of the next one. Six digits behind the point count.
package struct WrittenDate: Hashable, Sendable {
  package let year: Int64
  package let month: Int64?
  package let day: Int64?
  /// The hour, as written.
  package let hour: Int64?
  /// The first moment that it can stand for; in UTC unless it has a zone.
  package let firstMoment: Timestamp
  /// Whether it has a zone.
  package let hasZone: Bool
  /// Whether it is a moment in the strict form of files: with seconds, and a zone as RFC 3339 has
  /// it.
  package let isRFC3339: Bool

  /// Nil if the text has none of these forms, or is not an existing date.
  package init?(_ text: String) {
    var text = text
    guard let date = text.withUTF8({ WrittenDate(UnsafeRawBufferPointer($0)) }) else { return nil }
    self = date
  }

  /// As the other form, for the bytes of a text.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    var reader = DigitReader(bytes)
    guard let year = reader.year() else { return nil }
    var parts: (month: Int64?, day: Int64?) = (nil, nil)
    if reader.consume("-") {
      guard let month = reader.number(digits: 2...2) else { return nil }
      parts.month = month
      if reader.consume("-") {
        guard let day = reader.number(digits: 2...2) else { return nil }
        parts.day = day
      }
    }
    let date = CalendarDate(year: year, month: parts.month ?? 1, day: parts.day ?? 1)
    guard let days = date.daysSince1970 else { return nil }
    var time = ClockTime()
    if parts.day != nil, !reader.isAtEnd {
      guard let read = ClockTime(&reader) else { return nil }
      time = read
      hour = time.hour
    } else {
      hour = nil
    }
    guard reader.isAtEnd,
      let first = Timestamp(
        seconds: days * 86_400 + time.seconds - (time.offset ?? 0), time.microseconds)
    else { return nil }
    self.year = year
    (month, day) = parts
    firstMoment = first
    hasZone = time.offset != nil
    isRFC3339 = time.isRFC3339
  }

  /// The moments that it stands for where clocks are `offset` seconds ahead of UTC, unless it has a
  /// zone of its own: one moment, or a whole day, month or year.
  package func period(offset: (Timestamp) -> Int) -> ClosedRange<Timestamp> {
    func moment(_ shown: Timestamp) -> Timestamp {
      Timestamp(local: shown, offset: offset) ?? shown
    }
    if hasZone { return firstMoment...firstMoment }
    let first = moment(firstMoment)
    if hour != nil { return first...first }
    var next = CalendarDate(year: year, month: month ?? 1, day: day ?? 1)
    if day != nil {
      next = CalendarDate(daysSince1970: (next.daysSince1970 ?? 0) + 1)
    } else if let month, month < 12 {
      next.month += 1
    } else {
      next = CalendarDate(year: year + 1, month: 1, day: 1)
    }
    guard let days = next.daysSince1970, let shown = Timestamp(seconds: days * 86_400, 0) else {
      return first...(.max)
    }
    return first...max(first, Timestamp(microseconds: moment(shown).microseconds - 1))
  }

  /// Years beyond this, before and after 0, are out of range.
  package static let greatestYear: Int64 = 294_247

  /// The year that a text begins with, if a month follows.
  package static func year(of text: String) -> Int64? {
    var text = text
    return text.withUTF8 { bytes in
      var reader = DigitReader(UnsafeRawBufferPointer(bytes))
      let year = reader.year()
      return reader.consume("-") && reader.number(digits: 2...2) != nil ? year : nil
    }
  }

  /// Whether a text begins like a date whose year has a sign or more than four digits: if it cannot
  /// be read, it may be out of range.
  package static func looksLong(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var reader = DigitReader(UnsafeRawBufferPointer(bytes))
      let isSigned = reader.consume("-") || reader.consume("+")
      guard reader.number(digits: 4...4) != nil else { return false }
      let isLonger = reader.number(digits: 1...16) != nil
      return reader.consume("-") && (isLonger || isSigned)
    }
  }
}

/// The time of day of a written date, and its offset from UTC.
private struct ClockTime {
  var hour: Int64 = 0
  /// Since midnight.
  var seconds: Int64 = 0
  var microseconds: Int64 = 0
  var offset: Int64?
  var isRFC3339 = false

  init() {}

  /// Reads `T18:15:04.5Z` and its shorter forms.
  init?(_ reader: inout DigitReader) {
    guard reader.consume("T") || reader.consume("t") || reader.consume(" "),
      let hour = reader.number(digits: 2...2), reader.consume(":"),
      let minute = reader.number(digits: 2...2), hour < 24, minute < 60
    else { return nil }
    self.hour = hour
    seconds = hour * 3_600 + minute * 60
    let hasSeconds = reader.consume(":")
    if hasSeconds {
      guard let second = reader.number(digits: 2...2), second <= 60 else { return nil }
      seconds += second
      if reader.consume(".") {
        guard let digits = reader.fraction() else { return nil }
        if second < 60 { microseconds = digits }
      }
    }
    if reader.isAtEnd { return }
    guard let (offset, isRFC3339) = reader.offset() else { return nil }
    self.offset = offset
    self.isRFC3339 = isRFC3339 && hasSeconds
  }
}

extension Timestamp {
  /// So many seconds since 1970 and microseconds, from 0 to 999,999; nil out of range.
  fileprivate init?(seconds: Int64, _ microseconds: Int64) {
    var (seconds, microseconds) = (seconds, microseconds)
    if seconds < 0, microseconds > 0 {
      // Counted from the second above, so that the earliest moments do not overflow in between.
      seconds += 1
      microseconds -= 1_000_000
    }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (total, overflowOfSum) = whole.addingReportingOverflow(microseconds)
    guard !overflow, !overflowOfSum else { return nil }
    self.init(microseconds: total)
  }
}
