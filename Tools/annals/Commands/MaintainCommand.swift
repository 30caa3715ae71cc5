import Annals
import AnnalsInspector
import ArgumentParser

struct MaintainCommand: RewritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "maintain",
    abstract: "Drops the history that the store need not keep (annals retain).",
    discussion: """
      Drops nothing that a blocking consumer with a running lease has not seen (annals consumers), \
      and nothing if the file would hardly become smaller.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Flag(name: .customLong("dry-run"), help: "Only print what would be dropped.")
  var dryRun = false
  @Flag(help: "Drop it even if little is gained.") var all = false
  @Option(
    parsing: .unconditional, help: "Who prunes. Default: $ANNALS_AUTHOR, else the login name.")
  var author: String?

  func run(_ console: Console) throws -> ExitStatus {
    let gain = all ? 0 : 0.1
    let store = try console.open(file, forWriting: !dryRun)
    defer { try? store.close() }
    let report =
      try dryRun ? nil : store.maintain(author: console.author(author), minimumGain: gain)
    let plan = try report?.plan ?? store.maintenancePlan(minimumGain: gain)
    try store.close()
    if plan.outcome == .off { try console.output.line("keeps \(plan.retention)") }
    for line in MaintenanceText.lines(MaintenanceSummary(plan)) { try console.output.line(line) }
    if let rewrite = report?.rewrite, let floor = report?.floor {
      try console.output.line(
        "the oldest transaction is \(floor) now; "
          + MaintenanceText.sizes(rewrite.bytesBefore, of: file))
    }
    return .done
  }
}
