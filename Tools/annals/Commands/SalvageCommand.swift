import Annals
import AnnalsInspector
import AnnalsSalvage
import ArgumentParser

struct SalvageCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Writes everything readable of a damaged store into a new one.",
    discussion: """
      Numbers, names and tokens stay the same; the new store's history names what is missing. The \
      damaged file is only read. Exits with 0 if nothing is lost as far as the file shows, 1 if \
      something is or may be, 2 if it could not run.
      """)
  static let damageWork = DamageWork.saves

  @Argument(help: "The damaged store.", completion: .file()) var file: String
  @Argument(help: "The new file; it must not exist.", completion: .file()) var out: String

  func run(_ console: Console) throws -> ExitStatus {
    let report = try Store.salvage(file, to: out, environment: console.store)
    for line in report.lines({ console.zone.text($0) }) { try console.output.line(line) }
    let count = Numerals.counted(report.transactions, "transaction")
    let verdict =
      !report.isComplete
      ? "the newest is \(report.head)"
      : report.hasProvenEnd
        ? "nothing lost"
        : "nothing lost as far as the file shows; it was not closed, or its root slots are "
          + "damaged, so what was written last may be gone without a trace"
    try console.output.line("\(out): \(count), \(verdict)")
    return report.isComplete ? .done : .foundProblems
  }
}
