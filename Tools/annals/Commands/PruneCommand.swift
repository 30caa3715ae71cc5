import Annals
import AnnalsInspector
import ArgumentParser

struct PruneCommand: RewritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Drops the history before a transaction; states from there on stay readable.",
    discussion: """
      It first prints what would be dropped and what would be left, then asks. Without a terminal \
      it drops nothing unless --yes is given. It refuses while blocking consumers have not seen \
      what would be dropped (annals consumers FILE), unless --force is given.

      \(Vocabulary.token)
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The oldest transaction to keep, a TOKEN.") var before:
    String
  @Flag(name: .customLong("dry-run"), help: "Only print what would be dropped.")
  var dryRun = false
  @Flag(help: "Do not ask.") var yes = false
  @Flag(help: "Also drop what blocking consumers have not read.") var force = false
  @Option(
    parsing: .unconditional, help: "Who prunes. Default: $ANNALS_AUTHOR, else the login name.")
  var author: String?

  func run(_ console: Console) throws -> ExitStatus {
    // Without --yes and without a terminal, nothing is written.
    let isPlan = dryRun || !(yes || console.canAsk)
    let store = try console.open(file, forWriting: !isPlan)
    defer { try? store.close() }
    let place = try console.placeBefore(before, in: store)
    let plan = try store.prunePlan(before: place)
    guard plan.transactions > 0 else {
      try console.output.line("there is no history before transaction \(plan.floor)")
      return .done
    }
    try console.output.write(text(of: plan, console) + "\n")
    if dryRun { return .done }
    // A blocked prune is refused without a question.
    if !force, let refusal = plan.refusal { throw refusal }
    guard try yes || console.confirms("Drop it for good?") else { return .done }
    let summary = try store.prune(plan, author: console.author(author), force: force)
    try store.close()
    try console.output.line(
      "the oldest transaction is \(plan.floor) now; "
        + MaintenanceText.sizes(summary.bytesBefore, of: file))
    return .done
  }

  private func text(of plan: PrunePlan, _ console: Console) -> String {
    var text =
      "drops \(Numerals.counted(plan.transactions, "transaction")) "
      + "(\(plan.oldFloor) to \(plan.floor - 1)) with "
      + Numerals.counted(plan.changes, "change")
    if let oldest = plan.oldest, let newest = plan.newest {
      text +=
        "\nfrom \(console.zone.text(Timestamp(oldest))) to \(console.zone.text(Timestamp(newest)))"
    }
    text +=
      "\nafterwards: base \(plan.base), floor \(plan.floor), head \(plan.head); "
      + "\(Numerals.counted(plan.transactionsKept, "transaction")) kept"
      + "\nstates stay readable as of transactions \(plan.base) to \(plan.head)"
    if let first = plan.firstDate {
      text += ", and as of dates from \(console.zone.text(Timestamp(first))) on"
    }
    for blocker in plan.blockers {
      text += "\n\(force ? "loses what it has not seen" : "blocked"): \(blocker.text)"
    }
    return text
  }
}
