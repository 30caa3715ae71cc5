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
      annals replicate forget REPLICA --to nats://HOST:4222/STREAM
      """,
    discussion: """
      Makes FILE from the log if there is none, applies what others write as it comes, and runs \
      until it is interrupted. Prints a line whenever something changes. Programs may read FILE \
      meanwhile, and write to it as replicas of the same log.

      status says how far the file is, and the log, which replicas are registered in it, and who \
      holds its trimming back. It writes to neither. forget removes the registration of a replica \
      that is gone for good, so that the log is not kept for it any longer; REPLICA is its id, or \
      the beginning of it, as status prints it.

      A user and a password may stand in the address; in $ANNALS_LOG other users of the machine \
      do not see them. More servers follow after commas: nats://HOST1:4222,HOST2:4222/STREAM.

      Exits with 0, 1 if the file and the log do not go together, 2 if it could not run.
      """)

  @Argument(
    help: ArgumentHelp("The replica's file; status or forget before it.", valueName: "file"),
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
    parsing: .unconditional,
    help: "How many seconds to try to reach the log. Default: 30; for status and forget, 5.")
  var deadline: Int?
  @Option(
    parsing: .unconditional,
    help: """
      For how long the log is kept for this replica while it is away: 12h, 30d; 0 for not at all. \
      Default: 7d.
      """)
  var lease: String?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text

  /// What else than replicating is to be done.
  private var task: String? { words.count == 2 ? words[0] : nil }
  var file: String { words.last ?? "" }

  func validate() throws {
    guard words.count == 1 || words.count == 2 && ["status", "forget"].contains(words[0]) else {
      throw ValidationError("one FILE, or status and a FILE, or forget and a REPLICA")
    }
    guard words.count == 2 || !["status", "forget"].contains(words[0]) else {
      throw ValidationError(
        "\(words[0]) what? For a file of that name write ./\(words[0])")
    }
    let isPlain =
      !once && !create && copies == nil && !startLog && !keepBranch && !snapshot
      && snapshots == nil && keep == nil && lease == nil
    if let task, !isPlain { throw ValidationError("\(task) takes no such option") }
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
    if let lease, lease != "0", RelativeDate.length(lease) == nil {
      throw ValidationError("--lease is a length of time, 12h, 30d, or 0")
    }
    guard (1...86_400).contains(deadline ?? 1) else {
      throw ValidationError("--deadline is a number of seconds from 1 to 86400")
    }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let address = try log.found(console)
    switch task {
    case "status": return try status(console, address)
    case "forget": return try forget(console, address)
    default: return try replicate(console, address)
    }
  }

  /// Connects to the log; tries again while no server can be reached, until the deadline. With
  /// `startsOffline` the log itself does.
  private func connect(
    to address: JetStreamAddress, makes: Int? = nil, startsOffline: Bool = false,
    within seconds: Int
  ) async throws -> any SharedLog {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      do {
        return try await log.connect(
          to: address, makes: makes, startsOffline: startsOffline,
          within: max(.milliseconds(100), end - .now))
      } catch let error as SharedLogError {
        guard case .unavailable = error, ContinuousClock.now < end else { throw error }
        try await Task.sleep(for: .milliseconds(250))
      }
    }
  }

  private func replicate(_ console: Console, _ address: JetStreamAddress?) throws -> ExitStatus {
    guard let address else { throw ReplicateCommand.noLog }
    var options = ReplicaOptions()
    if let deadline { options.deadline = .seconds(deadline) }
    options.follows = !once
    options.startsLog = startLog
    if let snapshots {
      options.snapshots = SnapshotPolicy(
        transactions: snapshots, trimming: keep.flatMap { ReplicateCommand.logKeep($0) })
    }
    if keepBranch { options.onBranch = .keepBeside }
    if let lease {
      options.lease = RelativeDate.length(lease).map { .microseconds($0) }
    }
    let makes = create ? copies ?? 1 : nil
    let following = Following(
      path: file, log: address.description, options: options, putsSnapshot: snapshot,
      format: format)
    return try following.run(console) {
      try await connect(to: address, makes: makes, startsOffline: !once, within: deadline ?? 30)
    }
  }

  private static let noLog = CommandFailure(
    "where is the log? --to nats://HOST:4222/STREAM, or $ANNALS_LOG, says it", status: .usage)

  /// What a log keeps; nil for what is neither a number nor a length of time.
  private static func logKeep(_ text: String) -> LogKeep? {
    if let count = Int(text) { return count >= 0 ? LogKeep(transactions: count) : nil }
    return RelativeDate.length(text).map { LogKeep(transactions: 0, age: .microseconds($0)) }
  }

  private func status(_ console: Console, _ address: JetStreamAddress?) throws -> ExitStatus {
    let store = try console.openForReading(file, holdingValues: false)
    defer { try? store.close() }
    let (survey, outage) = try Following.waiting { [now = Date(console.now())] in
      guard let address else {
        return (try await ReplicaSurvey(of: store, now: now), nil as String?)
      }
      do {
        let shared = try await connect(to: address, within: deadline ?? 5)
        return (try await ReplicaSurvey(of: store, log: shared, now: now), nil)
      } catch let error as SharedLogError {
        return (try await ReplicaSurvey(of: store, now: now), error.text)
      }
    }
    let text = SurveyText(survey: survey, file: file, log: address?.description, outage: outage)
    switch format {
    case .text: try text.write(console)
    case .jsonl: try text.writeLine(console)
    }
    if outage != nil { return .couldNotRun }
    return text.fault == nil ? .done : .foundProblems
  }

  private func forget(_ console: Console, _ address: JetStreamAddress?) throws -> ExitStatus {
    guard let address else { throw ReplicateCommand.noLog }
    let wanted = file.uppercased()
    let removed = try Following.waiting {
      let shared = try await connect(to: address, within: deadline ?? 5)
      let all = try await shared.registeredReplicas()
      let found = all.filter { !wanted.isEmpty && $0.id.uuidString.hasPrefix(wanted) }
      guard let one = found.first, found.count == 1 else {
        let list = (found.isEmpty ? all : found).map { "\($0.shortID) (\($0.name))" }
        let which = found.isEmpty ? "no replica" : "more than one replica"
        throw CommandFailure(
          "\(which) is registered as \(file); there are "
            + (list.isEmpty ? "none" : list.joined(separator: ", ")))
      }
      try await shared.unregister(replica: one.id)
      return one
    }
    try console.output.line("forgot \(removed.shortID) \(removed.name)")
    return .done
  }
}
