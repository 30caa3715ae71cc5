import Annals

/// Why a request cannot be answered: a message that says what to do, and where in the request the
/// mistake is.
package struct RequestFault: Error {
  /// What kind of fault it is.
  package enum Kind: Sendable {
    /// The request is wrong: a text that cannot be read, a number out of range.
    case usage
    /// The request is right, and cannot be answered.
    case failed
    /// What it names does not exist.
    case notFound
    /// Whoever asked is gone.
    case cancelled
  }

  package var message: String
  package var kind: Kind
  /// The name of the wrong parameter or option; nil if it is none in particular.
  package var parameter: String?
  /// The position of the first wrong character in it, from 1.
  package var column: Int?

  package init(
    _ message: String, _ kind: Kind = .failed, parameter: String? = nil, column: Int? = nil
  ) {
    self.message = message
    self.kind = kind
    self.parameter = parameter
    self.column = column
  }

  static func badToken(_ text: String) -> RequestFault {
    if let year = WrittenDate.year(of: text) {
      let range = "dates go from \(Timestamp.min) to \(Timestamp.max)"
      return RequestFault(
        abs(year) > WrittenDate.greatestYear
          ? "`\(text)` is out of the range of dates: \(range)"
          : "`\(text)` is no date. Write \(TokenArgument.dateForms); \(range), beyond the years "
            + "0000 to 9999 with a sign",
        .usage)
    }
    if let meant = TokenArgument.meant(by: text) {
      return RequestFault(
        "`\(text)` is no position in history; did you mean \(meant)?", .usage)
    }
    return RequestFault(
      "`\(text)` is no position in history. Write a transaction number (42), head, floor or base "
        + "(head~2), a date (\(TokenArgument.dateForms)), an age (90m, 12h, 30d, 2w, 1y) or a "
        + "token (42@STORE-UUID)", .usage)
  }

  static func badObject(_ text: String) -> RequestFault {
    RequestFault(
      "`\(text)` names no object. Write Entity/KEY, as in Post/42, or Entity#ROW, as in Post#7",
      .usage)
  }
}
