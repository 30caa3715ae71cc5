import Annals
import ArgumentParser

struct RevertCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "revert",
    abstract: "Undoes a transaction with a new one; refuses if later ones touched what it did.",
    discussion: Vocabulary.token)

  @Argument(help: "The store.") var file: String
  @Argument(help: "The transaction, a TOKEN.") var transaction: String
  @Flag(help: "Do not ask.") var yes = false
  @OptionGroup var author: AuthorArguments

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForWriting(file)
    defer { try? store.close() }
    let number = try console.number(transaction, in: store)
    let plan = try store.revertPlan(number)
    guard plan.conflicts.isEmpty else {
      // The call says which properties are in the way.
      _ = try store.revert(number, author: console.author(author.author))
      return .couldNotRun
    }
    let counts = [
      (plan.deletions, "deletes"), (plan.updates, "sets back"), (plan.revivals, "revives"),
    ].filter { $0.0 > 0 }.map { "\($0.1) \(Numerals.counted($0.0, "object"))" }
    try console.output.line(
      "reverting transaction \(number) "
        + (counts.isEmpty ? "changes nothing" : counts.joined(separator: ", ")))
    if console.terminal.isInput, console.terminal.isErrors, !yes {
      guard try console.confirms("Revert it?") else {
        try console.output.line("nothing was changed")
        return .done
      }
    }
    let token = try store.revert(
      number, author: console.author(author.author), metadata: author.metadata)
    try store.close()
    try console.output.line("transaction \(token.number)")
    return .done
  }
}
