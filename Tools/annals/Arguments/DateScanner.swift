import Annals

extension CivilDate {
  /// Reads a day and time, with a zone or without (offset nil); nil for anything else.
  static func parse(_ text: String) -> (date: CivilDate, offset: Int?)? {
    var scanner = DateScanner(text)
    guard var date = scanner.day() else { return nil }
    guard scanner.skip(anyOf: "Tt ") else { return nil }
    guard let hour = scanner.number(digits: 2), scanner.skip(anyOf: ":"),
      let minute = scanner.number(digits: 2)
    else { return nil }
    (date.hour, date.minute) = (hour, minute)
    if scanner.skip(anyOf: ":") {
      guard let second = scanner.number(digits: 2) else { return nil }
      date.second = second
      if scanner.skip(anyOf: ".") {
        guard let fraction = scanner.fraction() else { return nil }
        date.microsecond = fraction
      }
    }
    let offset = scanner.offset()
    guard scanner.isAtEnd, date.isValid else { return nil }
    return (date, offset)
  }
}

/// Reads the digits of a date from the front of a text.
struct DateScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(anyOf characters: StaticString) -> Bool {
    guard let byte = rest.first,
      characters.withUTF8Buffer({ $0.contains(byte) })
    else { return false }
    rest.removeFirst()
    return true
  }

  /// A number of exactly so many digits.
  mutating func number(digits: Int) -> Int64? {
    var result: Int64 = 0
    for _ in 0..<digits {
      guard let byte = rest.first, byte >= 0x30, byte <= 0x39 else { return nil }
      result = result * 10 + Int64(byte - 0x30)
      rest.removeFirst()
    }
    return result
  }

  /// `2019-10-22`, or with a sign and six digits of a year.
  mutating func day() -> CivilDate? {
    guard let (year, month) = yearAndMonth(), skip(anyOf: "-"), let day = number(digits: 2) else {
      return nil
    }
    return CivilDate(year: year, month: month, day: day)
  }

  /// `2019-10`, or with a sign and six digits of a year.
  mutating func yearAndMonth() -> (Int64, Int64)? {
    let isNegative = rest.first == UInt8(ascii: "-")
    let isLong = skip(anyOf: "+-")
    guard let year = number(digits: isLong ? 6 : 4), skip(anyOf: "-"),
      let month = number(digits: 2)
    else { return nil }
    return (isNegative ? -year : year, month)
  }

  /// The digits behind a point as microseconds; as in a `Timestamp`'s text, six of them count.
  fileprivate mutating func fraction() -> Int64? {
    var result: Int64 = 0
    var digits = 0
    while let byte = rest.first, byte >= 0x30, byte <= 0x39 {
      if digits < 6 { result = result * 10 + Int64(byte - 0x30) }
      digits += 1
      rest.removeFirst()
    }
    if digits == 0 { return nil }
    for _ in min(digits, 6)..<6 { result *= 10 }
    return result
  }

  /// A zone as seconds ahead of UTC: `Z`, `+02:00`, ` +0200`.
  fileprivate mutating func offset() -> Int? {
    if skip(anyOf: "Zz") { return 0 }
    var copy = self
    _ = copy.skip(anyOf: " ")
    let isNegative = copy.rest.first == UInt8(ascii: "-")
    guard copy.skip(anyOf: "+-"), let hours = copy.number(digits: 2) else { return nil }
    _ = copy.skip(anyOf: ":")
    guard let minutes = copy.number(digits: 2), hours < 24, minutes < 60 else { return nil }
    self = copy
    let seconds = Int(hours * 3600 + minutes * 60)
    return isNegative ? -seconds : seconds
  }
}
