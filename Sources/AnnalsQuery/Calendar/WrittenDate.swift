import AnnalsModel

/// A date written as text: `2004`, `2004-05`, `2004-05-17`, or with a time as in RFC 3339, with or
/// without a zone. It is grouped as written, in no zone.
package struct WrittenDate: Hashable, Sendable {
  package let year: Int64
  package let month: Int64?
  package let day: Int64?
  /// The hour, as written.
  package let hour: Int64?
  /// The first moment that it can stand for; in UTC unless it has a zone.
  package let firstMoment: Timestamp

  /// Nil if the text has none of these forms, or is not an existing date.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= bytes.count else { return nil }
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    func hasDash(_ index: Int) -> Bool { bytes.count > index && bytes[index] == 0x2D }

    guard let year = number(0..<4) else { return nil }
    self.year = year
    guard bytes.count > 4 else {
      (month, day, hour) = (nil, nil, nil)
      guard let first = WrittenDate.moment(year, 1, 1) else { return nil }
      firstMoment = first
      return
    }
    guard hasDash(4), let month = number(5..<7) else { return nil }
    self.month = month
    guard bytes.count > 7 else {
      (day, hour) = (nil, nil)
      guard let first = WrittenDate.moment(year, month, 1) else { return nil }
      firstMoment = first
      return
    }
    guard hasDash(7), let day = number(8..<10),
      let first = WrittenDate.moment(year, month, day)
    else { return nil }
    self.day = day
    guard bytes.count > 10 else {
      hour = nil
      firstMoment = first
      return
    }
    guard let moment = Timestamp(text) ?? Timestamp(text + "Z"), let hour = number(11..<13) else {
      return nil
    }
    self.hour = hour
    firstMoment = moment
  }

  private static func moment(_ year: Int64, _ month: Int64, _ day: Int64) -> Timestamp? {
    CalendarDate(year: year, month: month, day: day).daysSince1970
      .map { Timestamp(microseconds: $0 * 86_400_000_000) }
  }

  /// The name of the unit's bucket, as written: for `2004-05-17` by month `2004-05`. A text less
  /// precise than the unit is its own bucket: `2004` by month is `2004`.
  package func label(_ unit: CalendarUnit) -> String {
    guard let month, unit != .year else {
      return CalendarUnit.year.label(CalendarDate(year: year, month: 1, day: 1))
    }
    guard let day, unit != .month else {
      return CalendarUnit.month.label(CalendarDate(year: year, month: month, day: 1))
    }
    let date = CalendarDate(year: year, month: month, day: day)
    guard unit == .hour, let hour else { return unit.label(date) }
    return "\(CalendarUnit.day.label(date))T\(hour < 10 ? "0" : "")\(hour)"
  }
}
