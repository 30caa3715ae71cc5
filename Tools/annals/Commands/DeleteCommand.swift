import Annals
import AnnalsInspector
import ArgumentParser

struct DeleteCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Deletes an object; its past stays.")

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The OBJECT: Post/7 or Post#7.") var object: String
  @OptionGroup var author: AuthorArguments
  @OptionGroup var undo: GroupArguments

  func run(_ console: Console) throws -> ExitStatus {
    let argument = try ObjectArgument(object)
    let store = try console.openForChanging(file)
    defer { try? store.close() }
    let token = try store.commit(
      author: console.author(author.author), group: undo.group, metadata: author.metadata
    ) { transaction in
      try transaction.draft.delete(argument.find(in: transaction))
    }.token
    try store.close()
    try console.lineOfTransaction(token.number)
    return .done
  }
}
