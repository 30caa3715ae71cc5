/// The time between two moments as a calendar counts it: whole years, months and days of a time
/// zone, and the rest as elapsed time.
///
/// From 31 January to 28 February is a month if that is the month's last day. A day on which clocks
/// change is a day.
public struct CalendarSpan: Hashable, Sendable {
  /// Whether the second moment is the earlier one.
  public private(set) var isNegative = false
  /// Whole years.
  public private(set) var years: Int64 = 0
  /// Whole months beyond the years.
  public private(set) var months: Int64 = 0
  /// Whole days beyond the months.
  public private(set) var days: Int64 = 0
  /// Whole hours beyond the days.
  public private(set) var hours: Int64 = 0
  /// Whole minutes beyond the hours.
  public private(set) var minutes: Int64 = 0
  /// Whole seconds beyond the minutes.
  public private(set) var seconds: Int64 = 0
  /// Microseconds beyond the seconds.
  public private(set) var microseconds: Int64 = 0

  /// The time between two moments, in a zone whose offset from UTC in seconds `offset` returns.
  package init(from: Timestamp, to: Timestamp, offset: (Timestamp) -> Int) {
    isNegative = to < from
    let early = min(from, to)
    let late = max(from, to)
    let first = CalendarSpan.shown(early, offset)
    let last = CalendarSpan.shown(late, offset)
    let dates = (
      CalendarDate(daysSince1970: first.day), CalendarDate(daysSince1970: last.day)
    )
    var whole = (dates.1.year - dates.0.year) * 12 + dates.1.month - dates.0.month
    func anchor() -> Int64 { CalendarSpan.day(dates.0, plusMonths: whole) ?? first.day }
    var wholeDays = max(0, last.day - anchor())
    var rest: Int64 = 0
    while true {
      let reached =
        whole == 0 && wholeDays == 0
        ? early
        : CalendarSpan.moment(anchor() + wholeDays, first.inDay, offset) ?? late
      let (difference, overflow) = late.microseconds.subtractingReportingOverflow(
        reached.microseconds)
      rest = overflow ? 0 : difference
      guard rest < 0, whole > 0 || wholeDays > 0 else { break }
      // The same time of day lies beyond: by the clock, or where clocks were set.
      if wholeDays > 0 {
        wholeDays -= 1
      } else {
        whole -= 1
        wholeDays = max(0, last.day - anchor())
      }
    }
    (years, months) = whole.quotientAndRemainder(dividingBy: 12)
    days = wholeDays
    setTime(max(rest, 0))
  }

  /// No time.
  package static let none = CalendarSpan(from: .earliest, to: .earliest)

  /// The time from the beginning of a day to that of another, in years, months and days.
  package init(from: CalendarDay, to: CalendarDay) {
    self.init(from: from.startInUTC, to: to.startInUTC, offset: { _ in 0 })
  }

  /// The days from one to another, both counted; from the later to the earlier one, the time
  /// between them.
  package init(from: CalendarDay, through last: CalendarDay) {
    if last < from {
      self.init(from: from, to: last)
    } else {
      let end = Timestamp(microseconds: last.startInUTC.microseconds + 86_400_000_000)
      self.init(from: from.startInUTC, to: end, offset: { _ in 0 })
    }
  }

  private mutating func setTime(_ rest: Int64) {
    let all = rest.quotientAndRemainder(dividingBy: 1_000_000)
    microseconds = all.remainder
    seconds = all.quotient % 60
    minutes = all.quotient / 60 % 60
    hours = all.quotient / 3_600
  }

  /// The day shown by clocks, and the microseconds since its midnight.
  private static func shown(
    _ moment: Timestamp, _ offset: (Timestamp) -> Int
  ) -> (day: Int64, inDay: Int64) {
    let all = moment.microseconds.dividedRoundingDown(by: 1_000_000)
    let (day, second) = (all.quotient + Int64(offset(moment))).dividedRoundingDown(by: 86_400)
    return (day, second * 1_000_000 + all.remainder)
  }

  /// The first moment at which clocks show this; nil out of range.
  private static func moment(
    _ day: Int64, _ inDay: Int64, _ offset: (Timestamp) -> Int
  ) -> Timestamp? {
    let (midnight, overflow) = day.multipliedReportingOverflow(by: 86_400_000_000)
    let (local, overflowOfSum) = midnight.addingReportingOverflow(inDay)
    guard !overflow, !overflowOfSum else { return nil }
    return Timestamp(local: Timestamp(microseconds: local), offset: offset)
  }

  /// The day so many months later, or the last of its month.
  private static func day(_ date: CalendarDate, plusMonths months: Int64) -> Int64? {
    let (years, month) = (date.month - 1 + months).dividedRoundingDown(by: 12)
    var result = CalendarDate(year: date.year + years, month: month + 1, day: date.day)
    while result.daysSince1970 == nil, result.day > 28 { result.day -= 1 }
    return result.daysSince1970
  }
}

extension CalendarSpan: CustomStringConvertible {
  /// The two largest consecutive units: `2 years 3 months`, `5 days`, `0.25 seconds`. Omits the
  /// direction.
  public var description: String {
    let units = [
      (years, "year"), (months, "month"), (days, "day"), (hours, "hour"), (minutes, "minute"),
    ]
    guard let first = units.firstIndex(where: { $0.0 != 0 }) else {
      return CalendarSpan.counted(seconds, microseconds)
    }
    var text = CalendarSpan.counted(units[first].0, units[first].1)
    let next = first + 1 < units.count ? units[first + 1] : (seconds, "second")
    if next.0 != 0 { text += " " + CalendarSpan.counted(next.0, next.1) }
    return text
  }

  private static func counted(_ count: Int64, _ unit: String) -> String {
    "\(count) \(unit)\(count == 1 ? "" : "s")"
  }

  private static func counted(_ seconds: Int64, _ microseconds: Int64) -> String {
    guard microseconds != 0 else { return counted(seconds, "second") }
    return "\(seconds)\(microseconds.fractionText) seconds"
  }
}
