#if JetStream

import Annals
import AnnalsJetStream
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// `annals replicate` as a program, beside a program that writes, over a server that goes away.
@Suite(.serialized, .timeLimit(.minutes(2)), needsServer) struct CommandTests {
  /// A running `annals`.
  private final class Run {
    let process = Process()
    let output = ProgramLines()
    private let errors = Pipe()

    init(_ arguments: [String], log: String) throws {
      process.executableURL = try built("annals")
      process.arguments = arguments
      process.environment = ["TZ": "UTC", "ANNALS_LOG": log]
      process.standardOutput = output.pipe
      process.standardError = errors
      try process.run()
    }

    deinit { process.terminate() }

    /// The first line from now on with this in it.
    func line(with text: String) -> String? {
      while let line = output.next() {
        if line.contains(text) { return line }
      }
      return nil
    }

    /// Waits for the end: how it ended, and the errors.
    func end() -> (status: Int32, errors: String) {
      process.waitUntilExit()
      let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return (process.terminationStatus, text)
    }
  }

  @Test func follows() async throws {
    let server = try NATSServer()
    try await server.start()
    let folder = server.folder
    let (own, copy) = (folder.appending(path: "own").path, folder.appending(path: "copy").path)
    try Store.with(path: own, schema: Schema { Entity("Post") { Attribute("title", .string) } }) {
      try $0.write { tx in _ = try tx.insert("Post", ["title": "Fog"]) }
    }
    let log = "\(server.url)/books"
    let first = try Run(["replicate", own, "--create", "--start-log", "--once"], log: log)
    #expect(first.end() == (0, ""))

    let follower = try Run(["replicate", copy, "--format", "jsonl"], log: log)
    #expect(follower.line(with: #""event":"open","transaction":2"#) != nil)
    let shared = try await JetStreamLog.connect(server.options())
    let writer = try await Replica.open(path: own, schema: Schema(), log: shared)
    try await writer.write { tx in _ = try tx.insert("Post", ["title": "Mist"]) }
    #expect(follower.line(with: #""event":"applied","transaction":3,"record":1,"lag":0"#) != nil)
    let status = try Run(["replicate", "status", copy], log: log)
    #expect(status.line(with: "lag") == "lag       0 transactions")
    #expect(status.end() == (0, ""))

    server.kill()
    #expect(follower.line(with: #""event":"away""#) != nil)
    try await server.start()
    #expect(follower.line(with: #""event":"back""#) != nil)
    try await writer.write { tx in _ = try tx.insert("Post", ["title": "Dew"]) }
    #expect(follower.line(with: #""event":"applied","transaction":4"#) != nil)
    follower.process.terminate()
    #expect(follower.end() == (0, ""))
    try await writer.close()
    let titles = try Store.with(path: copy, options: .readOnly) { store in
      try store.snapshot().objects(of: "Post").map { "\($0["title"])" }
    }
    #expect(titles.count == 3)
  }

  @Test func refuses() async throws {
    let server = try NATSServer()
    try await server.start()
    let file = server.folder.appending(path: "f").path
    let none = try Run(["replicate", file], log: "\(server.url)/books").end()
    #expect(none.status == 2 && none.errors.contains("have no stream books"), "\(none)")
    server.kill()
    let away = try Run(
      ["replicate", file, "--once", "--deadline", "1"], log: "\(server.url)/books"
    ).end()
    #expect(away.status == 2 && away.errors.hasPrefix("annals: the log: "), "\(away)")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func forgetsAReplica() async throws {
    let server = try NATSServer()
    try await server.start()
    let file = server.folder.appending(path: "f").path
    let log = "\(server.url)/books"
    #expect(try Run(["replicate", file, "--create", "--once"], log: log).end() == (0, ""))
    let shared = try await JetStreamLog.connect(server.options())
    let id = try #require(try await shared.registeredReplicas().first?.id.uuidString)
    let wrong = try Run(["replicate", "forget", "F00"], log: log).end()
    #expect(wrong.status == 2 && wrong.errors.contains("no replica is registered as F00;"))
    #expect(wrong.errors.contains(id.prefix(8)))
    let status = try Run(["replicate", "status", file], log: log)
    #expect(status.line(with: "replicas  \(id.prefix(8)) ") != nil)
    #expect(status.end() == (0, ""))
    let few = String(id.prefix(6)).lowercased()
    #expect(try Run(["replicate", "forget", few], log: log).end() == (0, ""))
    #expect(try await shared.registeredReplicas().isEmpty)
    // It registers for as long as it says.
    let once = ["replicate", file, "--once", "--lease"]
    #expect(try Run(once + ["0"], log: log).end() == (0, ""))
    #expect(try await shared.registeredReplicas().isEmpty)
    #expect(try Run(once + ["12h"], log: log).end() == (0, ""))
    #expect(try await shared.registeredReplicas().map(\.lease) == [12 * 3_600])
    // Without the log, what is known of the file.
    server.kill()
    let away = try Run(["replicate", "status", file, "--deadline", "1"], log: log)
    #expect(away.line(with: "problem")?.hasPrefix("problem   the log cannot be asked: ") == true)
    #expect(away.end() == (2, ""))
  }
}

#endif
