import Annals
import AnnalsJetStream
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals replicate` over a log in memory. Over NATS: JetStreamTests.
@Suite(.deadline) struct ReplicateTests {
  private struct Post: Record {
    var title: String
    static let entity = RecordEntity("Post", Post.init, Property("title", \.title))
  }

  private func options(follows: Bool) -> ReplicaOptions {
    var options = ReplicaOptions()
    options.follows = follows
    options.deadline = .seconds(1)
    options.pulse = .milliseconds(5)
    options.name = "writer"
    return options
  }

  private func replicate(
    _ folder: CommandFolder, _ file: String, _ log: InMemorySharedLog,
    _ change: (inout ReplicaOptions) -> Void = { _ in }, snapshot: Bool = false,
    format: LineFormat = .text
  ) throws -> CommandRun {
    var options = options(follows: false)
    change(&options)
    let following = Following(
      path: folder.file(file), log: "nats://host/books", options: options, putsSnapshot: snapshot,
      format: format)
    return try folder.run { try following.run($0) { log } }
  }

  private func status(
    _ folder: CommandFolder, _ file: String, _ log: InMemorySharedLog?,
    _ format: LineFormat = .text
  ) throws -> CommandRun {
    try folder.run { console in
      let store = try console.openForReading(folder.file(file), holdingValues: false)
      defer { try? store.close() }
      let now = Date(console.now())
      let survey = try Following.waiting { try await ReplicaSurvey(of: store, log: log, now: now) }
      let text = SurveyText(
        survey: survey, file: "@" + file, log: log.map { _ in "nats://host/books" })
      try format == .text ? text.write(console) : text.writeLine(console)
      return text.fault == nil ? .done : .foundProblems
    }
  }

  /// A log with `count` posts, written by a replica with a file.
  private func log(_ folder: CommandFolder, _ file: String, _ count: Int) async throws
    -> InMemorySharedLog
  {
    let log = InMemorySharedLog()
    let replica = try await Replica.open(
      path: folder.file(file), records: Post.self, log: log, options: options(follows: false),
      environment: folder.store)
    for number in 0..<count {
      try await replica.write(author: "me") { tx in _ = try tx.insert(Post(title: "\(number)")) }
    }
    try await replica.close()
    return log
  }

  @Test(arguments: [
    ("nats://localhost/books", ["nats://localhost"], "books"),
    ("nats://a:4222,b:4223/books", ["nats://a:4222", "nats://b:4223"], "books"),
    ("tls://me:secret@a,tls://b/x-1", ["tls://me:secret@a", "tls://b"], "x-1"),
  ])
  func `addresses`(_ text: String, _ servers: [String], _ stream: String) throws {
    let address = try JetStreamAddress(argument: text)
    #expect(address.servers == servers && address.stream == stream)
    #expect(!address.description.contains("secret"))
  }

  @Test(arguments: [
    "", "books", "nats://", "nats://localhost", "nats:///books", "nats://a,/books", "nats://a/",
    "http://a/books", "nats://me:secret@a",
  ])
  func `what is no address`(_ text: String) {
    do throws(CommandFailure) {
      _ = try JetStreamAddress(argument: text)
      Issue.record("\(text) is read as an address")
    } catch {
      #expect(error.status == .usage && !error.message.contains("secret"))
    }
  }

  @Test func `command lines`() throws {
    let folder = try CommandFolder()
    #expect(folder.run("replicate", "@f").errors.contains("where is the log?"))
    for words in [
      ["replicate"], ["replicate", "state", "f"], ["replicate", "status", "f", "--once"],
      ["replicate", "f", "--copies", "3"], ["replicate", "f", "--create", "--copies", "2"],
      ["replicate", "f", "--deadline", "0"], ["replicate", "f", "--keep", "5"],
      ["replicate", "f", "--snapshots", "0"], ["replicate", "status", "f", "--snapshots", "5"],
      ["replicate", "f", "--snapshots", "9", "--keep", "long"],
      ["replicate", "f", "--nkey", "U"], ["replicate", "forget", "f", "--lease", "1d"],
      ["replicate", "f", "--lease", "long"], ["replicate", "forget", "f"],
      ["replicate", "status"], ["replicate", "forget", "--to", "nats://h/s"],
    ] {
      #expect(folder.run(words).status == .usage, "\(words)")
    }
  }

  @Test func `a file is made, brought up to date, and looked at`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 2)
    let run = try replicate(folder, "b", log, snapshot: true)
    #expect(run.status == .done, "\(run)")
    #expect(run.output.hasPrefix("replica of "))
    #expect(
      run.output.hasSuffix(
        "put a snapshot into the log, as of transaction 3; at transaction 3\n"), "\(run)")
    let lines = try status(folder, "b", log).output.split(separator: "\n")
    #expect(lines[1] == "file      transaction 3, record 3 of the log  @b")
    #expect(lines[2] == "log       records 1 to 3  nats://host/books")
    #expect(lines[3].hasPrefix("snapshot  transaction 3, record 3, "))
    #expect(lines[4] == "lag       0 transactions")
    let again = try await Replica.open(
      path: folder.file("a"), schema: Schema(), log: log, options: options(follows: false))
    try await again.write { tx in _ = try tx.insert(Post(title: "more")) }
    try await again.close()
    #expect(try status(folder, "b", log).output.contains("\nlag       1 transaction\n"))
    let json = try status(folder, "b", log, .jsonl).output
    #expect(json.contains(#""transaction":3,"record":3,"first":1,"last":4,"snapshot":3"#))
    #expect(json.contains(#""lag":1}"#))
    let alone = try status(folder, "b", nil)
    #expect(alone.status == .done && !alone.output.contains("lag"))
    #expect(try replicate(folder, "b", log, format: .jsonl).output.contains(#""record":4,"lag":0"#))
  }

  @Test func `snapshots by a policy, and who holds the log`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 8)
    func keep() throws -> CommandRun {
      try replicate(
        folder, "b", log,
        {
          $0.snapshots = SnapshotPolicy(transactions: 5, trimming: LogKeep(transactions: 2))
          $0.snapshots?.spread = .zero
          $0.name = "keeper"
        })
    }
    let held = try keep()
    #expect(
      held.output.contains("\nput a snapshot into the log, as of transaction 9; at transaction 9\n")
    )
    #expect(
      held.output.contains("the log is not trimmed further: replica writer, which has record 0;"))
    let text = try status(folder, "b", log).output
    #expect(text.contains(/\nreplicas {2}[0-9A-F]{8} keeper: record 9, seen\s/), "\(text)")
    #expect(text.contains(/\n {10}[0-9A-F]{8} writer: record 0, 9 behind, seen\s/), "\(text)")
    #expect(text.contains("\nheld by   replica writer, which has record 0\n"), "\(text)")
    let again = try await Replica.open(
      path: folder.file("a"), schema: Schema(), log: log, options: options(follows: false),
      environment: folder.store)
    _ = try again.store.consumer("feed", blocking: true)
    try await again.close()
    let lines = try status(folder, "b", log, .jsonl).output.split(separator: "\n")
    #expect(lines.count == 3 && !lines[0].contains("heldBy"), "\(lines)")
    #expect(lines[2].contains(#""name":"writer","transaction":9,"record":9,"lag":0,"seen":"#))
    let trimmed = try keep()
    #expect(
      trimmed.output.contains("\ntrimmed the log, which begins with record 8; at transaction 9\n"),
      "\(trimmed)")
    #expect(try status(folder, "b", log).output.contains("log       records 8 to 9"))
  }

  @Test func `a store of its own begins a log only if told to`() throws {
    let folder = try CommandFolder()
    folder.run("put", "@own", "Post/1", "title=Fog")
    let log = InMemorySharedLog()
    let refused = try replicate(folder, "own", log)
    #expect(refused.status == .foundProblems && refused.errors.contains("say --start-log"))
    #expect(try status(folder, "own", log).status == .foundProblems)
    #expect(try replicate(folder, "own", log, { $0.startsLog = true }).status == .done)
    let state = try status(folder, "own", log)
    #expect(state.status == .done && state.output.contains("log       empty"), "\(state)")
    #expect(try replicate(folder, "copy", log).status == .done)
    #expect(folder.run("state", "@copy").output == folder.run("state", "@own").output)
  }

  @Test func `a log that does not go with the file`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 4)
    _ = try replicate(folder, "b", log)
    let other = try await self.log(folder, "c", 4)
    let run = try replicate(folder, "b", other)
    #expect(run.status == .foundProblems && run.errors.hasPrefix("annals: @b: "), "\(run)")
    let state = try status(folder, "b", other)
    #expect(state.status == .foundProblems)
    #expect(state.output.contains("problem   the log is of another store, "), "\(state)")
  }

  /// The log was restored from before what a file has, and others have written since.
  @Test func `a branch that lost`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 2)
    _ = try replicate(folder, "b", log)
    let older = log.contents
    for (file, title) in [("a", "lost"), ("b", "won")] {
      log.restore(older)
      var own = options(follows: false)
      own.restoresTail = false
      let writer = try await Replica.open(
        path: folder.file(file), schema: Schema(), log: log, options: own)
      try await writer.write { tx in _ = try tx.insert(Post(title: title)) }
      try await writer.close()
    }
    let refused = try replicate(folder, "a", log)
    #expect(refused.status == .foundProblems && refused.errors.contains("With --keep-branch"))
    let run = try replicate(folder, "a", log, { $0.onBranch = .keepBeside })
    #expect(run.status == .done, "\(run)")
    let line = try #require(run.output.split(separator: "\n").first { $0.contains(".branch-") })
    #expect(line.contains(" has transactions 4 to 4, which the log does not have"))
    let left = try #require(line.split(separator: " ").first)
    #expect(folder.run("state", String(left)).output.contains("lost"))
    #expect(folder.run("state", "@a").output == folder.run("state", "@b").output)
  }

  /// Verbs that write a transaction would part the file from its log; those that keep it do not.
  @Test func `other verbs on a replica`() async throws {
    let folder = try CommandFolder()
    _ = try await log(folder, "a", 2)
    let state = folder.run("state", "@a").output
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"Post","id":"x","set":{"title":"x"}}]}"#, to: "lines")
    for words in [
      ["put", "@a", "Post/1", "title=Fog"], ["delete", "@a", "Post#1"], ["undo", "@a"],
      ["revert", "@a", "2", "--yes"], ["erase", "@a", "Post#1", "--reason", "r", "--yes"],
      ["index", "@a", "add", "Post", "by", "title"], ["import", "@a", "@lines"],
    ] {
      let run = folder.run(words)
      #expect(run.status == .couldNotRun && run.errors.contains("a replica of a shared"), "\(run)")
    }
    #expect(folder.run("state", "@a").output == state)
    #expect(folder.run("compact", "@a").status == .done)
    #expect(folder.run("put", "@a", "Post#1", "title=Fog", "--leave-log").status == .done)
    #expect(folder.run("put", "@a", "Post#2", "title=Mist").status == .done)
  }

  @Test func `the log of another store`() async throws {
    let folder = try CommandFolder()
    _ = try await log(folder, "a", 2)
    let other = try await log(folder, "b", 1)
    let status = try status(folder, "a", other)
    #expect(status.status == .foundProblems)
    #expect(status.output.contains("\nproblem   the log is of another store, "), "\(status)")
    let run = try replicate(folder, "a", other) { $0.startsLog = true }
    #expect(run.status == .foundProblems && run.errors.contains("transactions of store"), "\(run)")
    #expect(try self.status(folder, "b", other).status == .done)
  }

  /// Nobody has written yet: two stores, until the first of them is in the log.
  @Test func `other verbs on a replica that is empty`() async throws {
    let folder = try CommandFolder()
    let log = InMemorySharedLog()
    for file in ["a", "b"] { #expect(try replicate(folder, file, log).status == .done) }
    let run = folder.run("put", "@a", "Post/1", "title=Fog", "--new")
    #expect(run.status == .couldNotRun && run.errors.contains("a replica of a shared"), "\(run)")
    #expect(FileManager.default.fileExists(atPath: folder.file("a")))
    let writer = try await Replica.open(
      path: folder.file("a"), records: Post.self, log: log, options: options(follows: false))
    try await writer.write { tx in _ = try tx.insert(Post(title: "Fog")) }
    try await writer.close()
    #expect(try replicate(folder, "b", log).status == .done)
    #expect(folder.run("verify", "@a", "--against", "@b").status == .done)
  }

  @Test func `a copy by replay is a store of its own`() async throws {
    let folder = try CommandFolder()
    _ = try await log(folder, "a", 2)
    #expect(folder.run("replay", "@a", "@b", "--to", "head").status == .done)
    #expect(folder.run("put", "@b", "Post#1", "title=Fog").status == .done)
    #expect(folder.run("verify", "@b").status == .done)
    let run = folder.run("verify", "@a", "--against", "@b")
    #expect(run.status == .foundProblems && run.output.contains("is of store"), "\(run)")
  }

  @Test func `what cannot be compared is named`() async throws {
    let folder = try CommandFolder()
    _ = try await log(folder, "a", 2)
    try folder.write("a text", to: "text")
    let run = folder.run("verify", "@a", "--against", "@text")
    #expect(run.status == .couldNotRun && !run.errors.contains("salvage"), "\(run)")
    #expect(run.errors.hasPrefix("annals: @text cannot be compared with: "), "\(run)")
  }

  @Test func `two replicas are compared`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 2)
    #expect(try replicate(folder, "b", log).status == .done)
    let same = folder.run("verify", "@a", "--against", "@b")
    #expect(same.status == .done, "\(same)")
    #expect(
      same.output.contains(/no problems: 3 transactions, .*; the same as .* up to transaction 3\n/),
      "\(same)")
    #expect(folder.run("put", "@b", "Post#1", "title=Fog", "--leave-log").status == .done)
    #expect(folder.run("put", "@a", "Post#1", "title=Mist", "--leave-log").status == .done)
    let parted = folder.run("verify", "@a", "--against", "@b")
    #expect(parted.status == .foundProblems)
    #expect(parted.output.contains("error: transaction 4 differs: "), "\(parted)")
    #expect(parted.output.hasSuffix("1 error, 0 warnings; 4 transactions\n"), "\(parted)")
    #expect(folder.run("verify", "@a", "--against", "@none").status == .couldNotRun)
  }

  /// A log without records: its origin, and who starts from the snapshot, have no transaction that
  /// came from it.
  @Test func `other verbs before the first record`() async throws {
    let folder = try CommandFolder()
    #expect(folder.run("put", "@a", "Post/1", "title=Fog", "--new").status == .done)
    let log = InMemorySharedLog()
    let origin = try replicate(folder, "a", log) { $0.startsLog = true }
    #expect(origin.status == .done, "\(origin)")
    #expect(try replicate(folder, "b", log).status == .done)
    for name in ["@a", "@b"] {
      let run = folder.run("put", name, "Post/1", "title=Mist")
      #expect(run.status == .couldNotRun && run.errors.contains("a replica of a shared"), "\(run)")
    }
    #expect(folder.run("put", "@b", "Post/1", "title=Mist", "--leave-log").status == .done)
    #expect(folder.run("put", "@b", "Post/1", "title=Haze").status == .done)
  }

  @Test func `drafts that wait`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 1)
    let writer = try await Replica.open(
      path: folder.file("a"), schema: Schema(), log: log, options: options(follows: false))
    log.isReachable = false
    _ = try await writer.write(offline: .outboxFirst) { tx in
      _ = try tx.insert(Post(title: "later"))
    }
    try await writer.close()
    log.isReachable = true
    let text = try status(folder, "a", log).output
    #expect(text.contains("\noutbox    1 draft, "), "\(text)")
    #expect(try status(folder, "a", log, .jsonl).output.contains(#""waiting":1,"conflicts":0"#))
    #expect(try replicate(folder, "a", log).status == .done)
    #expect(try status(folder, "a", log).output.contains("\noutbox    empty"))
    #expect(folder.run("state", "@a").output.contains("later"))
  }

  @Test func `a log that cannot be reached`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 1)
    log.isReachable = false
    #expect(throws: CommandFailure.self) { try replicate(folder, "b", log) }
    #expect(!FileManager.default.fileExists(atPath: folder.file("b")))
    #expect(throws: CommandFailure.self) { try status(folder, "a", log) }
  }

  /// It prints what others write, and that the log is away and back, until it is told to end.
  @Test func `following`() async throws {
    let folder = try CommandFolder()
    let log = try await log(folder, "a", 1)
    let writer = try await Replica.open(
      path: folder.file("a"), schema: Schema(), log: log, options: options(follows: false))
    var following = Following(
      path: folder.file("b"), log: "nats://host/books", options: options(follows: true),
      putsSnapshot: false, format: .text)
    following.interval = .milliseconds(5)
    let ended = following.ended
    let (steps, step) = AsyncStream.makeStream(of: String.self)
    // Used by that thread alone until it has ended.
    nonisolated(unsafe) let place = folder
    let thread = Thread { [following] in
      do {
        let run = try place.run(onLine: { step.yield($0) }) { try following.run($0) { log } }
        step.yield("ended: \(run.status)")
      } catch {
        step.yield("failed: \(error)")
      }
      step.finish()
    }
    thread.start()
    var seen: [String] = []
    for await text in steps {
      seen.append(text)
      if text.hasPrefix("replica of") {
        try await writer.write { tx in _ = try tx.insert(Post(title: "more")) }
      } else if text.contains("applied 1 transaction; at transaction 3") {
        log.isReachable = false
      } else if text.contains("cannot be reached") {
        log.isReachable = true
      } else if text.contains("is reached again") {
        try await writer.write { tx in _ = try tx.insert(Post(title: "most")) }
      } else if text.contains("at transaction 4") {
        ended.signal()
      }
    }
    #expect(seen.last == "ended: done", "\(seen)")
    try await writer.close()
  }
}
