import Annals
import AnnalsInspector
import ArgumentParser

struct RetainCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "retain",
    abstract: "Shows or sets how much history the store keeps at least.",
    discussion: """
      annals retain FILE
      annals retain FILE [--days N] [--transactions N]
      annals retain FILE --off

      A transaction is kept if either option keeps it, and so are all later ones. Nothing is \
      dropped before annals maintain FILE.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Option(
    parsing: .unconditional, help: "Keep transactions younger than this many days.")
  var days: Double?
  @Option(parsing: .unconditional, help: "Keep this many of the newest transactions.")
  var transactions: Int?
  @Flag(help: "Keep everything, as a new store does.") var off = false

  func validate() throws {
    guard !off || (days == nil && transactions == nil) else {
      throw ValidationError("--off goes with no other option")
    }
    if let days, !(days > 0) { throw ValidationError("--days is a number above 0") }
    if let days, days > 10_000_000 {
      throw ValidationError("--days is at most 10000000; --off keeps everything")
    }
    if let transactions, transactions < 1 {
      throw ValidationError("--transactions is a number from 1")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let isSetting = off || days != nil || transactions != nil
    let store = try console.open(file, forWriting: isSetting)
    defer { try? store.close() }
    if isSetting {
      try store.setRetention(Retention(days: days, transactions: transactions))
    }
    let plan = try store.maintenancePlan()
    try store.close()
    try console.output.line("keeps \(plan.retention)")
    for line in MaintenanceText.lines(MaintenanceSummary(plan)) { try console.output.line(line) }
    return .done
  }
}
