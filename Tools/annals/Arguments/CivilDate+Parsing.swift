import Annals

extension CivilDate {
  /// Reads a day and time, with a zone or without (offset nil); nil for anything else.
  static func parse(_ text: String) -> (date: CivilDate, offset: Int?)? {
    var reader = DigitReader(text)
    guard var date = reader.day(),
      reader.consume("T") || reader.consume("t") || reader.consume(" "),
      let hour = reader.number(digits: 2...2), reader.consume(":"),
      let minute = reader.number(digits: 2...2)
    else { return nil }
    (date.hour, date.minute) = (hour, minute)
    if reader.consume(":") {
      guard let second = reader.number(digits: 2...2) else { return nil }
      date.second = second
      if reader.consume(".") {
        guard let fraction = reader.fraction() else { return nil }
        date.microsecond = fraction
      }
    }
    guard date.isValid else { return nil }
    if reader.isAtEnd { return (date, nil) }
    guard let offset = reader.offset(isTyped: true), reader.isAtEnd else { return nil }
    return (date, Int(offset))
  }
}

extension DigitReader {
  /// `2019-10-22`, or with a sign and up to six digits of a year.
  mutating func day() -> CivilDate? {
    guard let (year, month) = yearAndMonth(), consume("-"), let day = number(digits: 2...2) else {
      return nil
    }
    return CivilDate(year: year, month: month, day: day)
  }

  /// `2019-10`, or with a sign and up to six digits of a year.
  mutating func yearAndMonth() -> (Int64, Int64)? {
    guard let year = year(), consume("-"), let month = number(digits: 2...2) else { return nil }
    return (year, month)
  }
}
