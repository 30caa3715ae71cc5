#if JetStream

import Annals
import AnnalsJetStream
import AnnalsReplication
import Foundation
import Testing

/// Replicas of one store over servers that are killed while they write.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReplicasTests {
  struct Tally: Record {
    var name: String
    var count: Int
    static let entity = RecordEntity(
      "Tally", Tally.init, Property("name", \.name).unique(), Property("count", \.count))
  }

  /// Three replicas, each with its own connection; files in `folder`.
  private func replicas(
    _ options: JetStreamOptions, in folder: URL
  ) async throws -> [(replica: Replica, log: JetStreamLog)] {
    var result: [(Replica, JetStreamLog)] = []
    for number in 1...3 {
      let log = try await JetStreamLog.connect(options)
      let path = folder.appendingPathComponent("\(number).annals").path
      result.append((try await Replica.open(path: path, records: Tally.self, log: log), log))
    }
    return result
  }

  /// Adds one to the replica's own tally and to the common one; tries again while the log cannot be
  /// reached.
  private static func count(_ replica: Replica, as name: String) async throws {
    while true {
      do {
        try await replica.write(author: name) { tx in
          for name in [name, "all"] {
            if let tally = try tx.objects(of: Tally.self, where: \.name == name).first {
              try tx.update(Tally.self, tally.objectID) { $0.count += 1 }
            } else {
              _ = try tx.insert(Tally(name: name, count: 1))
            }
          }
        }
        return
      } catch let error as ReplicationError
        where error.code == .unavailable || error.code == .contended
      {
        // Nothing was recorded.
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// What each replica has, once it has caught up.
  private func expectEqual(
    _ replicas: [(replica: Replica, log: JetStreamLog)], each: Int
  ) async throws {
    var texts: Set<String> = []
    for (replica, _) in replicas {
      try await replica.catchUp()
      let tallies = try replica.store.snapshot().objects(of: Tally.self).map(\.value)
      texts.insert(tallies.map { "\($0.name)=\($0.count)" }.sorted().joined(separator: " "))
      #expect(try replica.store.verify().allSatisfy { $0.severity == .note })
      #expect(replica.store.token.number == replicas[0].replica.store.token.number)
    }
    let own = (1...3).map { "writer \($0)=\(each)" }.joined(separator: " ")
    #expect(texts == ["all=\(each * 3) \(own)"])
  }

  private func run(
    _ options: JetStreamOptions, each: Int, meanwhile: @Sendable () async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("annals-replicas-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let replicas = try await replicas(options, in: folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, (replica, _)) in replicas.enumerated() {
        group.addTask {
          for _ in 0..<each { try await ReplicasTests.count(replica, as: "writer \(index + 1)") }
        }
      }
      try await meanwhile()
      try await group.waitForAll()
    }
    try await expectEqual(replicas, each: each)
    for (replica, log) in replicas {
      try await replica.close()
      log.close()
    }
  }

  @Test("One server, killed and started again", needsServer)
  func oneServerIsKilled() async throws {
    let server = try NATSServer()
    try await server.start()
    try await run(server.options(), each: 40) {
      try await Task.sleep(for: .milliseconds(400))
      server.kill()
      try await Task.sleep(for: .milliseconds(200))
      try await server.start()
    }
  }

  @Test("Three servers, one after the other killed and started again", needsServer)
  func serversAreKilledInTurn() async throws {
    let cluster = try await NATSCluster()
    try await run(cluster.options("shared"), each: 30) {
      for server in cluster.servers {
        try await Task.sleep(for: .milliseconds(500))
        server.kill()
        try await Task.sleep(for: .milliseconds(500))
        try await server.start()
      }
    }
  }
}

#endif
