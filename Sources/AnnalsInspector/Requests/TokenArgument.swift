import Annals

/// A parsed TOKEN of the command line: a position in history that is not yet resolved by the store.
package enum TokenArgument: Hashable {
  case number(Int64)
  /// A number of transactions before one of the store's marks.
  case mark(Mark, back: Int64)
  /// A point in time.
  case moment(Timestamp)
  /// A whole day, month or year.
  case period(ClosedRange<Timestamp>)
  case token(Token)

  /// A position that every store has.
  package enum Mark: String, CaseIterable {
    case head, floor, base
  }

  /// Parses a TOKEN.
  ///
  /// - Throws: `RequestFault` with the accepted forms.
  package init(_ text: String, zone: LocalZone, now: Timestamp) throws {
    let parsed =
      TokenArgument.number(text) ?? TokenArgument.mark(text)
      ?? TokenArgument.moment(text, zone, now: now) ?? Token(text).map { .token($0) }
    guard let parsed else { throw RequestFault.badToken(text) }
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
  package static func meant(by text: String) -> String? {
    let typed = String(text.prefix { $0 != "~" })
    let marks = Mark.allCases.map(\.rawValue)
    guard let near = NearName.nearest(to: typed, among: marks) else { return nil }
    let meant = near + text.dropFirst(typed.count)
    return mark(meant) == nil ? nil : meant
  }

  /// The forms of dates, for messages.
  package static let dateForms =
    "2019-10-22, 2019-10, 2019-10-22 20:15, 2019-10-22T20:15:04+02:00, now, today or yesterday"

  /// Reads what a DATE option or a date's value may be: a date, `now`, `today`, `yesterday` or an
  /// age; nil for anything else. A year alone is a date only where it cannot be a number.
  package static func moment(
    _ text: String, _ zone: LocalZone, now: Timestamp, allowsYears: Bool = false
  ) -> TokenArgument? {
    if let period = RelativeDate.period(text, now: now, offset: zone.offset) {
      return period.lowerBound == period.upperBound ? .moment(period.lowerBound) : .period(period)
    }
    guard let date = WrittenDate(text), date.month != nil || allowsYears else { return nil }
    let period = date.period(offset: zone.offset)
    return date.hour == nil ? .period(period) : .moment(period.lowerBound)
  }

  /// The time of a date in `--at`, `--after`, `--to`, `--until`: the last microsecond of a period.
  /// Nil if it is not a date.
  package var end: Timestamp? {
    switch self {
    case .moment(let moment): moment
    case .period(let period): period.upperBound
    default: nil
    }
  }

  /// The time of a date in `--before` and `--since`: the start of a period. Nil if it is not a
  /// date.
  package var start: Timestamp? {
    switch self {
    case .moment(let moment): moment
    case .period(let period): period.lowerBound
    default: nil
    }
  }
}
