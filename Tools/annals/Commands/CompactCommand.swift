import Annals
import ArgumentParser

struct CompactCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Makes the file smaller, losing nothing.")

  @Argument(help: "The store.") var file: String
  @Flag(help: "Leave the checkpoint out: the smallest file, which opens more slowly.")
  var smallest = false

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForWriting(file)
    defer { try? store.close() }
    let summary = try store.compact(smallest: smallest)
    try store.close()
    if summary.isRewritten {
      try console.output.line(
        "\(Numerals.size(summary.bytesBefore)) became \(Numerals.size(summary.bytesAfter)) "
          + "(\(Numerals.share(summary.bytesAfter, of: summary.bytesBefore)))")
    } else {
      try console.output.line("nothing can be gained: \(Numerals.size(summary.bytesBefore))")
    }
    return .done
  }
}
