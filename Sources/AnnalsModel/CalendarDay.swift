/// A day of the calendar, without a time and without a zone: a birthday, a due date, a holiday.
///
/// It is the same day wherever it is read. A moment is a `Date`; `CalendarDay(_:in:)` gives the day
/// that a zone's calendar shows then. Days are those of the proleptic Gregorian calendar, of the
/// years -9999 to 9999.
@frozen
public struct CalendarDay: Hashable, Comparable, Sendable {
  /// How many days it is after 1970-01-01.
  @usableFromInline package let daysSince1970: Int64

  /// The first and the last day that there is, in days after 1970-01-01.
  package static let range: ClosedRange<Int64> = -4_371_587...2_932_896

  /// The day so many days after 1970-01-01; nil out of range.
  @inlinable
  package init?(daysSince1970: Int64) {
    guard daysSince1970 >= -4_371_587, daysSince1970 <= 2_932_896 else { return nil }
    self.daysSince1970 = daysSince1970
  }

  /// The day nearest to the one so many days after 1970-01-01: itself, unless it is out of range.
  @usableFromInline
  package init(nearestTo days: Int64) {
    daysSince1970 = min(max(days, CalendarDay.range.lowerBound), CalendarDay.range.upperBound)
  }

  /// A day by its numbers; nil if the calendar does not have it, as 30 February, or out of range.
  public init?(year: Int, month: Int, day: Int) {
    guard (-9_999...9_999).contains(year) else { return nil }
    let date = CalendarDate(year: Int64(year), month: Int64(month), day: Int64(day))
    guard let days = date.daysSince1970 else { return nil }
    self.init(daysSince1970: days)
  }

  /// The first day that there is: 1 January of the year -9999.
  public static var earliest: CalendarDay { CalendarDay(nearestTo: .min) }
  /// The last day that there is: 31 December of the year 9999.
  public static var latest: CalendarDay { CalendarDay(nearestTo: .max) }

  /// The year.
  public var year: Int { Int(date.year) }
  /// The month, from 1 to 12.
  public var month: Int { Int(date.month) }
  /// The day of the month, from 1 to 31.
  public var day: Int { Int(date.day) }

  /// The day so many days later, or earlier if negative; nil out of range.
  public func adding(days: Int) -> CalendarDay? {
    let (sum, overflow) = daysSince1970.addingReportingOverflow(Int64(days))
    return overflow ? nil : CalendarDay(daysSince1970: sum)
  }

  /// How many days it is to another day; negative if that is earlier.
  public func distance(to other: CalendarDay) -> Int {
    Int(other.daysSince1970 - daysSince1970)
  }

  /// Whether `a` comes before `b`.
  @inlinable
  public static func < (a: CalendarDay, b: CalendarDay) -> Bool {
    a.daysSince1970 < b.daysSince1970
  }

  /// The day's numbers.
  package var date: CalendarDate { CalendarDate(daysSince1970: daysSince1970) }

  /// The first moment of the day where clocks show UTC.
  package var startInUTC: Timestamp { Timestamp(microseconds: daysSince1970 * 86_400_000_000) }

  /// The day that begins at a moment or before it where clocks show UTC; the nearest one out of
  /// range.
  package init(inUTC microseconds: Int64) {
    self.init(nearestTo: microseconds.dividedRoundingDown(by: 86_400_000_000).quotient)
  }

  /// The day that clocks show at a moment, which are `offset` seconds ahead of UTC; the nearest one
  /// out of range.
  package init(of moment: Timestamp, offset: (Timestamp) -> Int) {
    let second = moment.microseconds.dividedRoundingDown(by: 1_000_000).quotient
    self.init(
      nearestTo: (second + Int64(offset(moment))).dividedRoundingDown(by: 86_400).quotient)
  }

  /// Which days there are, for a message about one that there is not.
  package static var rangeText: String { "a day lies between \(earliest) and \(latest)" }
}

extension CalendarDay: LosslessStringConvertible {
  /// The day of a text such as `2019-10-06`; nil for any other text. Years before 0 have a sign.
  public init?(_ text: String) {
    guard let date = WrittenDate(text), date.hour == nil, let month = date.month, let day = date.day
    else { return nil }
    self.init(year: Int(date.year), month: Int(month), day: Int(day))
  }

  /// `2019-10-06`; years before 0 with a sign.
  public var description: String { date.text }
}

extension CalendarDay: Codable {
  /// Reads the day's text. Throws `DecodingError` for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let day = CalendarDay(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is no day; write 2019-10-06")
    }
    self = day
  }

  /// Writes the day's text: `2019-10-06`.
  public func encode(to encoder: any Encoder) throws { try encoder.encodeText(self) }
}
