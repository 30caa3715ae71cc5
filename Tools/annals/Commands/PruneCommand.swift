import Annals
import ArgumentParser

struct PruneCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Drops the history before a transaction; the states from there on stay readable.",
    discussion: Vocabulary.token)

  @Argument(help: "The store.") var file: String
  @Option(parsing: .unconditional, help: "The oldest transaction to keep, a TOKEN.") var before:
    String
  @Flag(name: .customLong("dry-run"), help: "Only say what would go.") var dryRun = false
  @Flag(help: "Do not ask.") var yes = false
  @Option(
    parsing: .unconditional, help: "Who prunes. Default: $ANNALS_AUTHOR, else the login name.")
  var author: String?

  func run(_ console: Console) throws -> ExitStatus {
    let store = dryRun ? try console.openForReading(file) : try console.openForWriting(file)
    defer { try? store.close() }
    let place = try console.placeBefore(before, in: store)
    let plan = try store.prunePlan(before: place)
    guard plan.transactions > 0 else {
      try console.output.line("there is no history before transaction \(plan.floor)")
      return .done
    }
    try console.output.line(text(of: plan, console))
    if dryRun { return .done }
    if console.terminal.isInput, console.terminal.isErrors, !yes {
      guard try console.confirms("Drop it for good?") else {
        try console.output.line("nothing was changed")
        return .done
      }
    }
    let summary = try store.prune(plan, author: console.author(author))
    try store.close()
    try console.output.line(
      "the oldest transaction is \(plan.floor) now; \(Numerals.size(summary.bytesBefore)) became "
        + Numerals.size(summary.bytesAfter))
    return .done
  }

  private func text(of plan: PrunePlan, _ console: Console) -> String {
    var text =
      "drops \(Numerals.counted(plan.transactions, "transaction")) "
      + "(\(plan.floor - Int64(plan.transactions)) to \(plan.floor - 1)) with "
      + "\(Numerals.counted(plan.changes, "change")), about \(Numerals.size(plan.bytes))"
    if let oldest = plan.oldest, let newest = plan.newest {
      text +=
        "\nfrom \(console.zone.text(Timestamp(oldest))) to \(console.zone.text(Timestamp(newest)))"
    }
    return text
  }
}
