import Annals
import AnnalsInspector

/// Parses a TOKEN and an OBJECT of the command line.
enum FuzzArguments {
  private static let now = Timestamp(microseconds: 1_571_767_200_123_456)
  /// A zone whose clocks go forward by an hour at one time, and back half a year later.
  private static let zone = LocalZone { moment in
    let year: Int64 = 31_556_952_000_000
    let place = moment.microseconds % year
    return (place + year) % year > year / 2 ? 7200 : 3600
  }

  /// Parses the text as both, and checks the results.
  static func run(_ bytes: UnsafeRawBufferPointer) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let token = try? TokenArgument(text, zone: zone, now: now) { check(token) }
    do {
      let object = try ObjectArgument(text)
      precondition(!object.entity.isEmpty, "an object without an entity")
      guard let again = try? ObjectArgument(object.text) else {
        preconditionFailure("an object that cannot be read when written again: \(object.text)")
      }
      precondition(again == object, "an object that reads otherwise when written again")
    } catch let failure as RequestFault {
      precondition(failure.kind == .usage && !failure.message.isEmpty)
    } catch {
      preconditionFailure("an object is refused with \(error)")
    }
  }

  private static func check(_ token: TokenArgument) {
    switch token {
    case .number(let number): precondition(number >= 0)
    case .mark(_, let back): precondition(back >= 0)
    case .moment(let moment): precondition(token.start == moment && token.end == moment)
    case .period(let period):
      precondition(token.start == period.lowerBound && token.end == period.upperBound)
    case .token(let token):
      precondition(Token(token.description) == token, "a token that reads otherwise")
    }
    for moment in [token.start, token.end].compactMap({ $0 }) {
      _ = zone.text(moment)
      let date = CivilDate(moment, offset: zone.offset(moment))
      if abs(date.year) <= CivilDate.greatestYear { _ = date.timestamp() }
    }
  }

  static let seeds = [
    "42", "head", "floor~2", "base~0", "30d", "12h", "2w", "2019-10-22", "2019-10", "2019",
    "2019-10-22 20:15", "2019-10-22T20:15:04.123456+02:00", "-9999-01-01", "9999-12-31T23:59:60Z",
    "90m", "1y", "now",
    "today", "yesterday", "+294247-01", "-290308-12-21",
    "1234@6F9619FF-8B86-D011-B42D-00C04FC964FF", "9223372036854775807w", "Post/42", "Post#7",
    "Müller·Straße/a/b#3", "#1", "/x", "E#0", "E#9223372036854775808",
  ].map { ContiguousArray($0.utf8) }
}
