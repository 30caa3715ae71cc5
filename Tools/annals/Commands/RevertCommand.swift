import Annals
import ArgumentParser

struct RevertCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Undoes a transaction with a new one; refuses if later ones touched what it did.",
    discussion: """
      It first prints what it would do, then asks. Without a terminal it undoes nothing unless \
      --yes is given.

      \(Vocabulary.token)
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The transaction, a TOKEN.") var transaction: String
  @Flag(help: "Do not ask.") var yes = false
  @OptionGroup var author: AuthorArguments

  func run(_ console: Console) throws -> ExitStatus {
    // Without --yes and without a terminal, nothing is written.
    let canGo = yes || console.canAsk
    let store = canGo ? try console.openForChanging(file) : try console.openForReading(file)
    defer { try? store.close() }
    let number = try console.transactionNumber(transaction, in: store)
    let plan = try store.revertPlan(number)
    if let refusal = plan.refusal() { throw refusal }
    let counts = [
      (plan.deletions, "deletes"), (plan.updates, "sets back"), (plan.revivals, "revives"),
    ].filter { $0.0 > 0 }.map { "\($0.1) \(Numerals.counted($0.0, "object"))" }
    guard !counts.isEmpty else {
      try console.output.line(
        "transaction \(number) changed no object; nothing was recorded")
      return .done
    }
    try console.output.line(
      "reverting transaction \(number) \(counts.joined(separator: ", "))")
    guard try yes || console.confirms("Revert it?") else { return .done }
    let before = store.token.number
    let token = try store.revert(
      number, author: console.author(author.author), metadata: author.metadata)
    // The newest transaction may be that of another process.
    let isRecorded =
      try token.number > before
      && store.transaction(token.number).metadata["reverts"] == .int(number)
    try store.close()
    guard isRecorded else {
      try console.output.line("nothing to change")
      return .done
    }
    try console.lineOfTransaction(token.number)
    return .done
  }
}
