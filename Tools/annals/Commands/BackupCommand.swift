import Annals
import ArgumentParser

struct BackupCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Writes a whole, verified copy of the store, while others use it.",
    discussion: """
      The copy has the same UUID, history and numbers. It is put in place when it is complete and
      synced. Copying the file by other means while it is written to may tear it.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The new file; it must not exist.", completion: .file()) var out: String

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let token = try store.backup(to: out)
    let count = Numerals.counted(token.number - store.base.number, "transaction")
    try console.output.line("\(out): \(count), up to \(token.number), verified")
    return .done
  }
}
