import Annals
import ArgumentParser

struct SalvageCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Writes everything readable of a damaged store into a new one.",
    discussion: """
      Numbers, names and tokens stay as they are; what is missing is named in the new store's \
      history. The damaged file is only read. Exits with 0 if nothing is lost, 1 if something is, \
      2 if it could not run.
      """)

  @Argument(help: "The damaged store.") var file: String
  @Argument(help: "The new file; it must not exist.") var out: String

  func run(_ console: Console) throws -> ExitStatus {
    let report = try Store.salvage(file, to: out, environment: console.store)
    for line in report.lines({ console.zone.text($0) }) { try console.output.line(line) }
    let count = Numerals.counted(report.transactions, "transaction")
    try console.output.line(
      report.isComplete
        ? "\(out): \(count), nothing lost" : "\(out): \(count), the newest is \(report.head)")
    return report.isComplete ? .done : .foundProblems
  }
}
