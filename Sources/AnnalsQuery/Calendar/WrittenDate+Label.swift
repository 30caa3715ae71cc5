import AnnalsModel

extension WrittenDate {
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
