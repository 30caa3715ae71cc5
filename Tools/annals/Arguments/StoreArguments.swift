import Annals
import AnnalsInspector
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

/// The group of a transaction.
struct GroupArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "A name: consecutive changes of the author with it are undone together.")
  var group: String?
}

/// Texts that the help of several commands shares.
enum Vocabulary {
  static let token = """
    A TOKEN is a transaction's number (42); head, floor or base (head~2); a date (2019-10-22, \
    2019-10, "2019-10-22 20:15", now, today, yesterday; a day or month is all of it); an age (90m, \
    12h, 30d, 2w, 1y); or a token's text (42@STORE-UUID). A date later than now is read as now.
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

  /// The two halves; nil for a text without `..`, or with more dots.
  init?(_ text: String) {
    guard let dots = text.firstRange(of: ".."), !text.contains("...") else { return nil }
    from = String(text[..<dots.lowerBound])
    to = String(text[dots.upperBound...])
    if from.isEmpty { from = "base" }
    if to.isEmpty { to = "head" }
  }

  /// Why the text is no range, and what was probably meant.
  static func fault(in text: String, of file: String) -> String {
    if text.contains("...") {
      let meant = text.replacing(/\.{3,}/, with: "..")
      return "`\(text)` is not a range; did you mean \(meant)?"
    }
    let isRange = "`\(text)` is not a range; write A..B, as in 10..20 or floor..head~5."
    if let object = try? ObjectArgument(text) {
      return "\(isRange) One object: annals log \(file) --object \(object.text)"
    }
    // Which zone and which age it is makes no difference to the form.
    let now = Timestamp(microseconds: 0)
    do {
      _ = try TokenArgument(text, zone: .fixed(0), now: now)
      return "\(isRange) One transaction: annals show \(file) \(text)"
    } catch {
      guard let meant = TokenArgument.meant(by: text) else { return isRange }
      return "\(isRange) One transaction: annals show \(file) \(meant)"
    }
  }
}
