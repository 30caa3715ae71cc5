/// A moment as people write it in relation to now.
///
///     relative = "now" | "today" | "yesterday" | age
///     age      = digits ("m" | "h" | "d" | "w" | "y")
///
/// An age is that long before now: minutes, hours, days, weeks, and years of 365 days. A day is one
/// of the calendar where clocks are `offset` seconds ahead of UTC.
package enum RelativeDate {
  /// The moments that the text stands for: one moment, or a whole day. Nil for any other text, and
  /// for what lies before all moments.
  package static func period(
    _ text: String, now: Timestamp, offset: (Timestamp) -> Int
  ) -> ClosedRange<Timestamp>? {
    switch text {
    case "now": return now...now
    case "today": return day(0, before: now, offset)
    case "yesterday": return day(1, before: now, offset)
    default:
      guard let length = length(text) else { return nil }
      let (moment, isTooEarly) = now.microseconds.subtractingReportingOverflow(length)
      guard !isTooEarly else { return nil }
      return Timestamp(microseconds: moment)...Timestamp(microseconds: moment)
    }
  }

  /// Units by their letters, in seconds.
  private static let units: [Character: Int64] = [
    "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000,
  ]

  /// Whether a length of time ends with the letter.
  package static func isUnit(_ letter: Character) -> Bool { units[letter] != nil }

  /// The length of `90m`, `12h`, `30d`, `2w` or `1y` in microseconds; nil if the text is not a
  /// length, or too long.
  package static func length(_ text: String) -> Int64? {
    let digits = text.dropLast()
    guard let last = text.last, let seconds = units[last], !digits.isEmpty,
      digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int64(digits)
    else { return nil }
    let (length, overflows) = count.multipliedReportingOverflow(by: seconds * 1_000_000)
    return overflows ? nil : length
  }

  /// The day of the calendar that is so many days before the one around a moment.
  private static func day(
    _ count: Int64, before moment: Timestamp, _ offset: (Timestamp) -> Int
  ) -> ClosedRange<Timestamp>? {
    let length: Int64 = 86_400_000_000
    let (shown, overflow) = moment.microseconds.addingReportingOverflow(
      Int64(offset(moment)) * 1_000_000)
    guard !overflow else { return nil }
    let today = shown.dividedRoundingDown(by: length).quotient
    func start(_ day: Int64) -> Timestamp? {
      let (shown, overflow) = day.multipliedReportingOverflow(by: length)
      return overflow ? nil : Timestamp(local: Timestamp(microseconds: shown), offset: offset)
    }
    guard let first = start(today - count), let next = start(today - count + 1) else { return nil }
    return first...max(first, Timestamp(microseconds: next.microseconds - 1))
  }
}
