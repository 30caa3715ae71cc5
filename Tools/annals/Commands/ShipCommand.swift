import Annals
import AnnalsInspector
import AnnalsShipping
import ArgumentParser

struct ShipCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "ship",
    abstract: "Ships a store to a folder, from which annals restore makes it as of any moment.",
    discussion: """
      Adds what was synced since the last time, as files that are never changed: a base, which is \
      a whole copy, and segments that continue it. So the folder can be copied at any moment by \
      rsync, to an object store or to another disk. The store may be in use.

      --follow ships on and on and ends when it is interrupted or terminated. If the machine is \
      lost, so is what was synced within --every and one pass.

      Nothing is removed without --keep, --keep-for or --forget-erased. A new base is made when \
      the file was rewritten, or when more was shipped since the last than it has.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "The folder; made if it is missing.", completion: .directory) var folder: String
  @Flag(help: "Ship on, until interrupted.") var follow = false
  @Option(parsing: .unconditional, help: "How often with --follow: 500ms, 1s, 5m.")
  var every: String?
  @Option(parsing: .unconditional, help: "Keep at least so many bases; remove older ones.")
  var keep: Int?
  @Option(
    parsing: .unconditional,
    help: "Keep what restores any moment of so long: 12h, 30d, 1y; remove older bases.")
  var keepFor: String?
  @Flag(
    name: .customLong("forget-erased"),
    help: "Remove older bases that still have values which annals erase has erased since.")
  var forgetErased = false

  func validate() throws {
    if every != nil, !follow { throw ValidationError("--every goes with --follow") }
    if let every, ShippingText.interval(every) == nil {
      throw ValidationError("--every is a length of time: 500ms, 1s, 5m")
    }
    if let keep, keep < 1 { throw ValidationError("--keep is a number from 1") }
    if let keepFor, RelativeDate.length(keepFor) == nil {
      throw ValidationError("--keep-for is a length of time: 90m, 12h, 30d, 2w, 1y")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    var options = ShippingOptions()
    options.keptBases = keep
    options.keptFor = keepFor.flatMap { RelativeDate.length($0) }.map { .microseconds($0) }
    options.forgetsErased = forgetErased
    let shipper = try Shipper(file, to: folder, options: options, environment: console.store)
    defer { shipper.close() }
    guard follow else {
      try tell(try shipper.pass(), console)
      return .done
    }
    let signals = StopSignals()
    defer { signals.close() }
    try followOn(shipper, until: signals, console)
    return .done
  }

  /// Ships on until a signal. Says when a base was made, and once when it cannot ship.
  private func followOn(
    _ shipper: Shipper, until signals: StopSignals, _ console: Console
  ) throws {
    let pause = every.flatMap { ShippingText.interval($0) } ?? .seconds(1)
    var failure: String?
    var head: Int64?
    repeat {
      switch Result(catching: { () throws(AnnalsError) in try shipper.pass() }) {
      case .success(let report):
        if failure != nil { console.report("\(folder): shipping goes on") }
        if head == nil || failure != nil || report.newBase != nil || !report.removed.isEmpty {
          try tell(report, console)
          try console.output.flush()
        }
        head = report.head
        failure = nil
      case .failure(let error):
        guard ShippingText.mayPass(error) else { throw error }
        if failure != error.message { console.report(error.message) }
        failure = error.message
      }
    } while !signals.wait(pause)
    // What was synced before the signal is shipped, too.
    if let last = try? shipper.pass() { head = last.head }
    if let head { try console.output.line("\(folder): up to transaction \(head)") }
  }

  private func tell(_ report: ShippingReport, _ console: Console) throws {
    for line in ShippingText.lines(report, of: file, in: folder) { try console.output.line(line) }
    if !report.holdErased.isEmpty {
      let bases = ShippingText.bases(report.holdErased)
      console.report(
        "\(folder): \(bases) still \(report.holdErased.count == 1 ? "has" : "have") values that "
          + "were erased from \(file) since. --forget-erased removes them here; copies of the "
          + "folder keep them")
    }
  }
}
