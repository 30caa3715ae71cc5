import Annals
import AnnalsExchange
import ArgumentParser

struct ExportCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Writes transactions out as JSON Lines, which import reads.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--after base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "Only those after this TOKEN.") var after: String?
  @Option(parsing: .unconditional, help: "Only those up to this TOKEN, included.") var to: String?

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let lower = try after.map { try console.number($0, in: store) } ?? store.base.number
    let upper = try to.map { try console.number($0, in: store) } ?? store.token.number
    guard lower <= upper else {
      throw CommandFailure("--after (\(lower)) lies after --to (\(upper)); exchange the two")
    }
    var export = HistoryExport(store, after: lower, through: upper)
    let bar = ProgressBar(console, noun: "transaction")
    defer { bar.remove() }
    try export.write(to: { try console.output.write($0) }) { number in
      // A bar would mix with what is printed.
      guard !console.terminal.isOutput else { return }
      let total = max(upper - lower, 1)
      bar.update(count: number - lower, fraction: Double(number - lower) / Double(total))
    }
    return .done
  }
}
