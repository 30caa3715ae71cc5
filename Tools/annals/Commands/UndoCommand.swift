import Annals
import ArgumentParser

struct UndoCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undoes an author's newest transaction, or group, with a new one.",
    discussion: """
      Takes the newest that is not undone: a second undo takes the one before. It is refused if \
      others have changed the same values since, unless --merge says what becomes of them. \
      annals redo FILE undoes the undo.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @OptionGroup var options: UndoOptions
  @OptionGroup var author: AuthorArguments

  func run(_ console: Console) throws -> ExitStatus {
    try options.run(console, file, author, plan: { try $0.undoPlan(author: $1, merging: $2) }) {
      try $0.undo(author: $1, metadata: author.metadata, merging: $2)
    }
  }
}
