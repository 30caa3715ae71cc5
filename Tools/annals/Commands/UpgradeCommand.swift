import Annals
import AnnalsInspector
import AnnalsUpgrade
import ArgumentParser

struct UpgradeCommand: RewritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade",
    abstract: "Rewrites a file from before version 1 of the format.",
    discussion: """
      All is kept. The new file is compacted and verified before it takes the old one's place. A \
      file of version 1 stays as it is.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String

  func run(_ console: Console) throws -> ExitStatus {
    let report = try Store.upgrade(file, environment: console.store)
    guard let draft = report.draft else {
      try console.output.line("\(file) is of version 1: there is nothing to upgrade")
      return .done
    }
    if report.tornBytes > 0 {
      let bytes = Numerals.counted(report.tornBytes, "byte")
      try console.output.line(
        "\(bytes) after the last commit, which was never whole, were left out")
    }
    let count = Numerals.counted(report.transactions, "transaction")
    let before = Numerals.counted(report.bytesBefore, "byte")
    let sizes = "\(before) became \(Numerals.grouped(report.bytesAfter))"
    try console.output.line("\(file): draft \(draft) became version 1, \(count); \(sizes)")
    return .done
  }
}
