import Annals
import ArgumentParser

struct RedoCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "redo",
    abstract: "Redoes what an author undid last, with a new transaction.",
    discussion: """
      There is nothing to redo once the author has written something else. It is refused if others \
      have changed the same values since, unless --merge says what becomes of them.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @OptionGroup var options: UndoOptions
  @OptionGroup var author: AuthorArguments

  func run(_ console: Console) throws -> ExitStatus {
    try options.run(console, file, author, plan: { try $0.redoPlan(author: $1, merging: $2) }) {
      try $0.redo(author: $1, metadata: author.metadata, merging: $2)
    }
  }
}
