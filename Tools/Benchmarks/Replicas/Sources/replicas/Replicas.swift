import Annals
import AnnalsJetStream
import AnnalsReplication
import Foundation

/// Measures a store alone, and replicas over a log in memory and over NATS JetStream: see
/// `measure`, which starts the servers.
@main
struct Replicas {
  static let seconds = Duration.seconds(number("DURATION", 3))
  static let tasks = [1, 8, 64]

  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "replicas-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await alone(folder)
    let memory = InMemorySharedLog()
    try await writing("a log in memory", memory, folder.appending(path: "memory"))
    try await report(memory)
    try await Growing(log: InMemorySharedLog(), folder: folder, count: number("COUNT", 100_000))
      .run("a log in memory")
    for (servers, copies) in [("ONE", 1), ("THREE", 3)] {
      guard let urls = ProcessInfo.processInfo.environment[servers] else { continue }
      let name = copies == 1 ? "one server" : "three servers"
      let log = try await connect(urls, "writing", copies)
      try await writing(name, log, folder.appending(path: name))
      log.close()
      try await contending(urls, copies, folder.appending(path: "\(name) contended"), name)
      let own = folder.appending(path: servers)
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      let second = try await connect(urls, "growing", copies)
      try await Growing(log: second, folder: own, count: number("NATS_COUNT", 20_000)).run(name)
      second.close()
      let third = try await connect(urls, "starting", copies)
      try await Starting(log: third, folder: own, bytes: number("BYTES", 100_000_000)).run(name)
      third.close()
    }
  }

  static func number(_ name: String, _ usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
  }

  private static func connect(
    _ urls: String, _ stream: String, _ copies: Int
  ) async throws -> JetStreamLog {
    var options = JetStreamOptions(
      servers: urls.split(separator: ",").map(String.init), stream: stream)
    options.opening = .creating
    options.replicas = copies
    return try await JetStreamLog.connect(options)
  }

  /// A store without a log; each commit is synced.
  private static func alone(_ folder: URL) async throws {
    let store = try Store(path: folder.appending(path: "alone").path, records: Post.self)
    for tasks in tasks {
      try await Writing(tasks: tasks, for: seconds) { number in
        _ = try await store.write(author: "a") { tx in _ = try tx.insert(Post(number)) }
      }.report("a store alone", tasks: tasks)
    }
    try store.close()
  }

  private static func writing(_ name: String, _ log: any SharedLog, _ file: URL) async throws {
    let replica = try await Replica.open(path: file.path, records: Post.self, log: log)
    for tasks in tasks {
      try await Writing(tasks: tasks, for: seconds) { number in
        try await replica.write(author: "a") { tx in _ = try tx.insert(Post(number)) }
      }.report(name, tasks: tasks)
    }
    try await replica.close()
  }

  /// Two and three replicas that write as fast as they can, one busy and one with a single task.
  private static func contending(
    _ urls: String, _ copies: Int, _ folder: URL, _ name: String
  ) async throws {
    for (index, tasks) in [[1, 1], [1, 1, 1], [64, 1]].enumerated() {
      let own = folder.appending(path: "\(index)")
      try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
      try await Contending(
        connect: { try await connect(urls, "contended\(index)", copies) }, folder: own
      ).run(name, tasks)
    }
  }

  private static func report(_ log: InMemorySharedLog) async throws {
    let records = try await log.records(from: 1, limit: 10_000).records.map(\.record)
    let bytes = records.reduce(0) { $0 + $1.bytes.count + $1.id.utf8.count }
    say("a record has", "\(bytes / max(records.count, 1))", "bytes with its identifier")
  }
}
