import Annals
import ArgumentParser

struct CompactCommand: RewritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact", abstract: "Makes the file smaller, losing nothing.",
    discussion: """
      Afterwards transactions are in blocks of hundreds: damage that would have cost one \
      transaction costs its block.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Flag(help: "Leave the checkpoint out: the smallest file, which opens more slowly.")
  var smallest = false

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForWriting(file)
    defer { try? store.close() }
    let summary = try store.compact(smallest: smallest)
    try store.close()
    let size = MaintenanceText.size(of: file)
    try console.output.line(text(summary.bytesBefore, size))
    return .done
  }

  private func text(_ before: UInt64, _ after: UInt64) -> String {
    if after == before {
      return "nothing to gain: the file stays as it is, \(Numerals.counted(before, "byte"))"
    }
    let text = "\(Numerals.counted(before, "byte")) became \(Numerals.grouped(after))"
    if after > before {
      return "\(text): there was nothing to gain, and the file now has a checkpoint of the newest "
        + "state, from which it opens fast (--smallest leaves it out)"
    }
    // A gain under half a percent is not worth another compaction.
    let isLittle = (before - after) < before / 200
    return isLittle
      ? "\(text): there was hardly anything to gain"
      : "\(text), \(Numerals.share(after, of: before)) of it"
  }
}
