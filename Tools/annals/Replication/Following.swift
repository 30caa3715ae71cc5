import Annals
import AnnalsExchange
import AnnalsReplication
import Foundation

/// A replica that runs in the foreground until it is told to end, and says what happens.
struct Following {
  let path: String
  /// The log's address, for messages.
  let log: String
  let options: ReplicaOptions
  let putsSnapshot: Bool
  let format: LineFormat
  /// What ends it, besides SIGINT and SIGTERM.
  let ended = DispatchSemaphore(value: 0)
  /// How often the state is looked at.
  var interval = Duration.milliseconds(200)

  /// Opens the replica over the log that `connect` gives, and prints until SIGINT or SIGTERM;
  /// without following, brings it up to date and ends.
  ///
  /// Returns `.foundProblems` if the file and the log do not go together. Throws a `CommandFailure`
  /// if there is no replica; what was applied before stays in the file.
  func run(
    _ console: Console, _ connect: @escaping @Sendable () async throws -> any SharedLog
  ) throws -> ExitStatus {
    let signals = StopSignals(ended)
    defer { signals.close() }
    while true {
      if let status = try run(console, connect, until: signals) { return status }
    }
  }

  /// Opens the replica, and prints until the end. Returns nil if it is to be opened anew: others
  /// were first to begin the log, and nothing is in the file.
  private func run(
    _ console: Console, _ connect: @escaping @Sendable () async throws -> any SharedLog,
    until signals: StopSignals
  ) throws -> ExitStatus? {
    let replica: Replica
    do {
      let environment = console.store
      replica = try Following.waiting { [path, options] in
        try await Replica.open(
          path: path, schema: Schema(), log: try await connect(), options: options,
          environment: environment)
      }
    } catch let error as ReplicationError where error.needsSomebody {
      console.report(Following.message(error, path))
      return .foundProblems
    }
    let status = Result { try follow(replica, console, until: signals) }
    try Following.waiting { try await replica.close() }
    return try status.get()
  }

  private func follow(
    _ replica: Replica, _ console: Console, until signals: StopSignals
  ) throws -> ExitStatus? {
    let before = replica.status.upkeep
    if !options.follows {
      try Following.waiting {
        try await replica.catchUp()
        try await replica.sendOutbox()
        try await replica.keepLog()
      }
    }
    var shown = replica.status
    try write(Event("open", shown, "replica of \(shown.token.store)"), console)
    for branch in shown.leftBranches {
      let numbers = "\(branch.numbers.lowerBound) to \(branch.numbers.upperBound)"
      let text = "\(branch.path) has transactions \(numbers), which the log does not have"
      try write(Event("branch", shown, text), console)
    }
    if let outage = shown.outage { try write(Event("away", shown, away(outage)), console) }
    if putsSnapshot {
      let token = try Following.waiting { try await replica.putSnapshot() }
      try write(Event("snapshot", shown, put(token)), console)
    }
    // What was done for the log by `--once`.
    for event in keeping(from: before, to: shown) { try write(event, console) }
    while options.follows {
      let isOver = signals.wait(interval)
      let status = replica.status
      for event in changes(from: shown, to: status, console) { try write(event, console) }
      shown = status
      if let trouble = status.fileTrouble { try Following.endIfGone(trouble, path) }
      if let failure = status.failure {
        if failure.code == .otherStore, status.token.number == 0 { return nil }
        console.report(Following.message(failure, path))
        return failure.needsSomebody ? .foundProblems : .couldNotRun
      }
      if isOver { break }
    }
    return .done
  }

  /// Throws if the replica's file is not there any more, or another one is.
  private static func endIfGone(_ trouble: AnnalsError, _ path: String) throws {
    switch trouble.code {
    case .notFound:
      throw CommandFailure(
        "\(path) is not there any more, and was a replica until then. Started again, annals "
          + "replicate makes it anew from the log")
    case .lostBranch, .otherStore: throw CommandFailure("\(trouble.message).")
    default: break
    }
  }

  /// What happened between two looks.
  private func changes(
    from old: ReplicaStatus, to new: ReplicaStatus, _ console: Console
  ) -> [Event] {
    var events: [Event] = []
    if new.outage != old.outage {
      let text = new.outage.map(away) ?? "the log is reached again"
      events.append(Event(new.outage == nil ? "back" : "away", new, text))
    }
    if let trouble = new.fileTrouble, trouble.message != old.fileTrouble?.message,
      ![.notFound, .lostBranch, .otherStore].contains(trouble.code)
    {
      events.append(Event("failed", new, "the file cannot be written: \(trouble); trying again"))
    }
    if let restored = new.restored, restored.count != old.restored?.count {
      let count = restored.count - (old.restored?.count ?? 0)
      let text =
        "offered \(Numerals.counted(count, "transaction")) to the log again, which had lost them"
      events.append(Event("restored", new, text))
    }
    if new.token.number != old.token.number {
      let count = new.token.number - old.token.number
      events.append(Event("applied", new, "applied \(Numerals.counted(count, "transaction"))"))
    }
    events += keeping(from: old.upkeep, to: new)
    let (was, becomes) = (old.outbox, new.outbox)
    if was.count != becomes.count || was.conflictCount != becomes.conflictCount {
      events.append(Event("outbox", new, "outbox: \(SurveyText.text(becomes, console))"))
    }
    return events
  }

  /// What was done for the log between two looks.
  private func keeping(from old: UpkeepStatus, to status: ReplicaStatus) -> [Event] {
    let new = status.upkeep
    var events: [Event] = []
    if let token = new.snapshot, token != old.snapshot {
      events.append(Event("snapshot", status, put(token)))
    }
    if let trim = new.trim, trim.count > 0, trim != old.trim {
      let text = "trimmed the log, which begins with record \(Numerals.grouped(trim.first))"
      events.append(Event("trimmed", status, text))
    }
    if let hold = new.trim?.holds.first, hold.name != old.trim?.holds.first?.name {
      events.append(Event("held", status, "the log is not trimmed further: \(hold)"))
    }
    if let failure = new.failure, failure != old.failure {
      events.append(Event("failed", status, "\(failure); trying again"))
    }
    return events
  }

  private func put(_ token: Token) -> String {
    "put a snapshot into the log, as of transaction \(Numerals.grouped(token.number))"
  }

  private func away(_ reason: String) -> String {
    "the log cannot be reached (\(reason)); trying again"
  }

  // MARK: Output

  /// Something that happened to the replica.
  private struct Event {
    let name: String
    let status: ReplicaStatus
    let text: String

    init(_ name: String, _ status: ReplicaStatus, _ text: String) {
      self.name = name
      self.status = status
      self.text = text
    }
  }

  private func write(_ event: Event, _ console: Console) throws {
    let status = event.status
    switch format {
    case .text:
      let number = Numerals.grouped(status.token.number)
      let lag = status.lag == 0 ? "" : ", \(Numerals.counted(status.lag, "record")) behind"
      try console.output.line("\(event.text); at transaction \(number)\(lag)")
    case .jsonl:
      try console.output.object { json in
        json.member("event", event.name)
        json.member("transaction", status.token.number)
        json.member("record", Int64(clamping: status.sequence))
        json.member("lag", Int64(clamping: status.lag))
        json.member("text", event.text)
      }
    }
    try console.output.flush()
  }

  // MARK: Errors and tasks

  /// An error as the command says it.
  private static func message(_ error: ReplicationError, _ path: String) -> String {
    let text = error.message.replacing("set `startsLog`", with: "say --start-log")
      .replacing("Opened with `onBranch` set to keep it beside", with: "With --keep-branch")
    return "\(path): \(text)."
  }

  /// Runs a task, and waits for it on this thread. Throws what it throws, in the command's words.
  static func waiting<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    do {
      return try blockingThread(body)
    } catch let error as SharedLogError {
      throw CommandFailure("the log: \(error.text)")
    } catch let error as ReplicationError where !error.needsSomebody {
      throw CommandFailure("\(error.message).")
    }
  }
}

extension TrimHold {
  /// What it is, however far it has come.
  fileprivate var name: String {
    switch cause {
    case .noSnapshot, .kept: ""
    case .replica(let replica): "replica \(replica.id)"
    case .consumer(let consumer, let replica): "consumer \(consumer.name) of \(replica.id)"
    }
  }
}

extension ReplicationError {
  /// Whether the file and the log do not go together, and trying again does not help.
  fileprivate var needsSomebody: Bool { isLasting && code != .refused && code != .closed }
}
