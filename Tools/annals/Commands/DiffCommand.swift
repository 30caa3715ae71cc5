import Annals
import AnnalsExchange
import AnnalsInspector
import ArgumentParser

struct DiffCommand: FileCommand {
  static let isPaged = true
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Prints the net difference between two states.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The first state, a TOKEN; or A..B.") var first: String
  @Argument(help: "The second state; head if left out.") var second: String?
  @Flag(name: .customLong("exit-code"), help: "Exit with 1 if the states differ.")
  var tellsByExitCode = false
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    var (from, to) = (first, second ?? "head")
    if second == nil, first.contains("...") {
      throw CommandFailure(RangeArgument.fault(in: first, of: file), status: .usage)
    }
    if second == nil, let range = RangeArgument(first) { (from, to) = (range.from, range.to) }
    let start = try console.number(from, in: store)
    let end = try console.number(to, in: store)
    let text = TransactionText(console, limit: 200)
    let showing = DiffCommand.showing(of: store)
    var json = JSONWriter()
    var isSame = true
    try store.version.forEachNamedDifference(from: start, to: end) { change, state in
      isSame = false
      switch format {
      case .text:
        let shown = try showing.shown(change) { () throws(AnnalsError) in state }
        try text.write(shown, indent: "")
        try text.writeProperties(of: shown, indent: "    ")
      case .jsonl:
        try json.change(change, explicitRow: false, includesBefore: true) {
          () throws(AnnalsError) in
          state
        } flush: {
          try console.output.write($0.bytes)
          $0.removeBytes()
        }
        json.endLine()
        try console.output.write(json.bytes)
        json.removeAll()
      }
    }
    return tellsByExitCode && !isSame ? .foundProblems : .done
  }

  /// What the text shows of changes.
  static func showing(of store: Store) -> ChangeShowing {
    ChangeShowing(values: ValueShowing(.whole(), store.version))
  }
}
