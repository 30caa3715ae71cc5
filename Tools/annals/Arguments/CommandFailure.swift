import Annals

/// The error that ends a command: a message with what to do, and the exit status.
struct CommandFailure: Error {
  var message: String
  var status: ExitStatus

  init(_ message: String, status: ExitStatus = .couldNotRun) {
    self.message = message
    self.status = status
  }

  static func badToken(_ text: String) -> CommandFailure {
    if let year = WrittenDate.year(of: text) {
      let range = "dates go from \(Timestamp.min) to \(Timestamp.max)"
      return CommandFailure(
        abs(year) > WrittenDate.greatestYear
          ? "`\(text)` is out of the range of dates: \(range)"
          : "`\(text)` is no date. Write \(TokenArgument.dateForms); \(range), beyond the years "
            + "0000 to 9999 with a sign",
        status: .usage)
    }
    if let meant = TokenArgument.meant(by: text) {
      return CommandFailure(
        "`\(text)` is no position in history; did you mean \(meant)?", status: .usage)
    }
    return CommandFailure(
      "`\(text)` is no position in history. Write a transaction number (42), head, floor or base "
        + "(head~2), a date (\(TokenArgument.dateForms)), an age (90m, 12h, 30d, 2w, 1y) or a "
        + "token (42@STORE-UUID)", status: .usage)
  }

  static func badObject(_ text: String) -> CommandFailure {
    CommandFailure(
      "`\(text)` names no object. Write Entity/KEY, as in Post/42, or Entity#ROW, as in Post#7",
      status: .usage)
  }
}

/// The exit status of the process.
enum ExitStatus: Int32 {
  case done = 0
  /// The command ran and found problems, or a difference with `--exit-code`.
  case foundProblems = 1
  case couldNotRun = 2
  case usage = 64
}
