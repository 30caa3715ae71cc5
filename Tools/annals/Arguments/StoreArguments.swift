import Annals
import ArgumentParser

/// The arguments for the author and the message of a transaction.
struct AuthorArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "Who makes the change. Default: $ANNALS_AUTHOR, else the login name.")
  var author: String?

  @Option(parsing: .unconditional, help: "Why; kept with the transaction.")
  var message: String?

  /// The metadata of the transaction.
  var metadata: [String: Value] { message.map { ["message": .string($0)] } ?? [:] }
}

/// Texts that the help of several commands shares.
enum Vocabulary {
  static let token = """
    A TOKEN is a transaction's number (42); head, floor or base (head~2); a date (2019-10-22, \
    2019-10, "2019-10-22 20:15"; a day or month is all of it); an age (30d, 12h, 2w); or a token's \
    text (42@STORE-UUID).
    """
}

/// The output format of lines.
enum LineFormat: String, ExpressibleByArgument, CaseIterable {
  case text, jsonl
}

/// A parsed range of history, `A..B`.
struct RangeArgument {
  var from: String
  var to: String

  /// The two halves; nil for a text without `..`.
  init?(_ text: String) {
    guard let dots = text.firstRange(of: "..") else { return nil }
    from = String(text[..<dots.lowerBound])
    to = String(text[dots.upperBound...])
    if from.isEmpty { from = "base" }
    if to.isEmpty { to = "head" }
  }
}
