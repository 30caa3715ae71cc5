import Annals
import ArgumentParser

struct ReplayCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Writes a new store, with a UUID of its own, whose newest state is a past one.",
    discussion: Vocabulary.token)
  static let beginningAtBase: String? = "--to base"

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The new file; it must not exist.", completion: .file()) var out: String
  @Option(parsing: .unconditional, help: "The TOKEN of the new store's newest state.") var to:
    String
  @Flag(help: "Leave the history out and keep only the state.") var flatten = false

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let number = try console.number(to, in: store)
    try store.replay(to: out, at: number, flatten: flatten)
    let made = try console.openForReading(out)
    defer { try? made.close() }
    let history =
      flatten
      ? "without history" : "with \(Numerals.counted(number - store.base.number, "transaction"))"
    try console.output.line("\(out): the state as of transaction \(number), \(history)")
    return .done
  }
}
