import Annals
import AnnalsInspector
import AnnalsJetStream
import AnnalsReplication
import ArgumentParser
import Foundation

/// Keeps a file at the newest state of a shared log, or says how the two stand.
struct ReplicateCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicate", abstract: "Keeps a file up to date with a log that many share.",
    usage: """
      annals replicate FILE --to nats://HOST:4222/STREAM [options]
      annals replicate status FILE [--to nats://HOST:4222/STREAM]
      """,
    discussion: """
      Makes FILE from the log if there is none, applies what others write as it comes, and runs \
      until it is interrupted. Prints a line whenever something changes. Programs may read FILE \
      meanwhile, and write to it as replicas of the same log.

      status says how far the file is, and the log, which replicas are registered in it, and who \
      holds its trimming back. It writes to neither.

      A user and a password may stand in the address; in $ANNALS_LOG other users of the machine \
      do not see them. More servers follow after commas: nats://HOST1:4222,HOST2:4222/STREAM.

      Exits with 0, 1 if the file and the log do not go together, 2 if it could not run.
      """)

  @Argument(
    help: ArgumentHelp("The replica's file; status before it.", valueName: "file"),
    completion: .file())
  var words: [String]
  @OptionGroup var log: LogArguments
  @Flag(help: "Bring the file up to date, and end.") var once = false
  @Flag(help: "Make the stream if there is none.") var create = false
  @Option(
    parsing: .unconditional,
    help: "How many servers keep each record of a stream that is made: 1, 3 or 5. Default: 1.")
  var copies: Int?
  @Flag(help: "Let an empty log begin with FILE, a store of its own until now.")
  var startLog = false
  @Flag(
    help: """
      If the log has other transactions than FILE: keep FILE beside under another name, and go on \
      with the log's history.
      """)
  var keepBranch = false
  @Flag(help: "Also put a snapshot of FILE into the log: new replicas start from it.")
  var snapshot = false
  @Option(
    parsing: .unconditional,
    help: "Put a snapshot into the log each time that it has so many new transactions.")
  var snapshots: Int?
  @Option(
    parsing: .unconditional,
    help: """
      Trim the log behind the newest snapshot, as far as no replica needs it, but keep so many \
      transactions (5000), or those of so long (12h, 30d).
      """)
  var keep: String?
  @Option(
    parsing: .unconditional, help: "How many seconds to try to reach the log. Default: 30.")
  var deadline: Int?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  /// Whether only the state is asked for.
  private var isStatus: Bool { words.count == 2 }
  var file: String { words.last ?? "" }

  func validate() throws {
    guard words.count == 1 || words.count == 2 && words[0] == "status" else {
      throw ValidationError("one FILE, or status and a FILE")
    }
    let isPlain =
      !once && !create && copies == nil && !startLog && !keepBranch && !snapshot
      && deadline == nil && snapshots == nil && keep == nil
    guard isPlain || !isStatus else { throw ValidationError("status takes no such option") }
    guard [nil, 1, 3, 5].contains(copies) else { throw ValidationError("--copies is 1, 3 or 5") }
    guard copies == nil || create else { throw ValidationError("--copies is for --create") }
    guard (snapshots ?? 1) > 0 else { throw ValidationError("--snapshots is a number from 1") }
    guard keep == nil || snapshots != nil else {
      throw ValidationError("--keep is for --snapshots: only behind a snapshot is a log trimmed")
    }
    if let keep, ReplicateCommand.logKeep(keep) == nil {
      throw ValidationError(
        "--keep is a number of transactions, 5000, or a length of time, 12h, 30d")
    }
    guard (1...86_400).contains(deadline ?? 1) else {
      throw ValidationError("--deadline is a number of seconds from 1 to 86400")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let address = try log.found(console)
    return try isStatus ? status(console, address) : replicate(console, address)
  }

  private func replicate(_ console: Console, _ address: JetStreamAddress?) throws -> ExitStatus {
    guard let address else {
      throw CommandFailure(
        "where is the log? --to nats://HOST:4222/STREAM, or $ANNALS_LOG, says it", status: .usage)
    }
    var options = ReplicaOptions()
    if let deadline { options.deadline = .seconds(deadline) }
    options.follows = !once
    options.startsLog = startLog
    if let snapshots {
      options.snapshots = SnapshotPolicy(
        transactions: snapshots, trimming: keep.flatMap { ReplicateCommand.logKeep($0) })
    }
    if keepBranch { options.onBranch = .keepBeside }
    let makes = create ? copies ?? 1 : nil
    let following = Following(
      path: file, log: address.description, options: options, putsSnapshot: snapshot,
      format: format)
    return try following.run(console) { [log, once] in
      try await log.connect(to: address, makes: makes, startsOffline: !once)
    }
  }

  /// What a log keeps; nil for what is neither a number nor a length of time.
  private static func logKeep(_ text: String) -> LogKeep? {
    if let count = Int(text) { return count >= 0 ? LogKeep(transactions: count) : nil }
    return RelativeDate.length(text).map { LogKeep(transactions: 0, age: .microseconds($0)) }
  }

  private func status(_ console: Console, _ address: JetStreamAddress?) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let survey = try Following.waiting { [log, now = Date(console.now())] in
      let shared =
        if let address { try await log.connect(to: address) } else { nil as (any SharedLog)? }
      return try await ReplicaSurvey(of: store, log: shared, now: now)
    }
    let text = SurveyText(survey, file: file, log: address?.description)
    switch format {
    case .text: try text.write(console)
    case .jsonl: try text.writeLine(console)
    }
    return text.fault == nil ? .done : .foundProblems
  }
}
