import Annals

/// A parsed TOKEN of the command line: a position in history that is not yet resolved by the store.
enum TokenArgument: Hashable {
  case number(Int64)
  /// A number of transactions before one of the store's marks.
  case mark(Mark, back: Int64)
  /// A point in time.
  case moment(Timestamp)
  /// A whole day or month: from its start to the start of the next.
  case period(from: Timestamp, until: Timestamp)
  case token(Token)

  /// A position that every store has.
  enum Mark: String, CaseIterable {
    case head, floor, base
  }

  /// Parses a TOKEN.
  ///
  /// - Throws: `CommandFailure` with the accepted forms.
  init(_ text: String, zone: LocalZone, now: Timestamp) throws {
    let parsed =
      TokenArgument.number(text) ?? TokenArgument.mark(text) ?? TokenArgument.ago(text, now)
      ?? TokenArgument.date(text, zone) ?? Token(text).map { .token($0) }
    guard let parsed else { throw CommandFailure.badToken(text) }
    self = parsed
  }

  private static func number(_ text: String) -> TokenArgument? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    return Int64(text).map { .number($0) }
  }

  private static func mark(_ text: String) -> TokenArgument? {
    for mark in Mark.allCases where text.hasPrefix(mark.rawValue) {
      let rest = text.dropFirst(mark.rawValue.count)
      if rest.isEmpty { return .mark(mark, back: 0) }
      guard rest.first == "~", case .number(let back)? = number(String(rest.dropFirst())) else {
        return nil
      }
      return .mark(mark, back: back)
    }
    return nil
  }

  /// The position that was probably meant by a text that names none: one with the mark of nearly
  /// this name; nil if there is none.
  static func meant(by text: String) -> String? {
    let typed = String(text.prefix { $0 != "~" })
    let marks = Mark.allCases.map(\.rawValue)
    guard let near = NearName.nearest(to: typed, among: marks) else { return nil }
    let meant = near + text.dropFirst(typed.count)
    return mark(meant) == nil ? nil : meant
  }

  /// `30d`, `12h`, `2w`: that long before now.
  private static func ago(_ text: String, _ now: Timestamp) -> TokenArgument? {
    guard let length = LengthArgument.microseconds(text) else { return nil }
    let (moment, isTooEarly) = now.microseconds.subtractingReportingOverflow(length)
    return isTooEarly ? nil : .moment(Timestamp(microseconds: moment))
  }

  /// Reads a date; nil for anything else.
  static func date(_ text: String, _ zone: LocalZone) -> TokenArgument? {
    if let (date, offset) = CivilDate.parse(text) {
      return .moment(offset.map { date.timestamp(offset: $0) } ?? zone.moment(date))
    }
    var reader = DigitReader(text)
    if let day = reader.day(), reader.isAtEnd, day.isValid {
      var next = day
      next.day += 1
      return .period(from: zone.moment(day), until: zone.moment(next))
    }
    reader = DigitReader(text)
    if let (year, month) = reader.yearAndMonth(), reader.isAtEnd {
      let first = CivilDate(year: year, month: month)
      guard first.isValid else { return nil }
      let next = CivilDate(year: year, month: month + 1)
      return .period(from: zone.moment(first), until: zone.moment(next))
    }
    return nil
  }

  /// The time of a date in `--at`, `--after`, `--to`, `--until`: the last microsecond of a period.
  /// Nil if it is not a date.
  var end: Timestamp? {
    switch self {
    case .moment(let moment): moment
    case .period(_, let until): Timestamp(microseconds: until.microseconds - 1)
    default: nil
    }
  }

  /// The time of a date in `--before` and `--since`: the start of a period. Nil if it is not a
  /// date.
  var start: Timestamp? {
    switch self {
    case .moment(let moment): moment
    case .period(let from, _): from
    default: nil
    }
  }
}
