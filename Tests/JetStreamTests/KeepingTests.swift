#if JetStream

import Annals
import AnnalsJetStream
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// Registrations, snapshots by a policy and trimming over a server.
@Suite(.serialized, .timeLimit(.minutes(2)), needsServer) struct KeepingTests {
  private struct Post: Record {
    var title: String
    static let entity = RecordEntity("Post", Post.init, Property("title", \.title))
  }

  @Test func aPolicyOverAServer() async throws {
    let server = try NATSServer()
    try await server.start()
    let folder = try TemporaryFolder()
    let log = try await JetStreamLog.connect(server.options())
    var options = ReplicaOptions()
    options.name = "keeper"
    options.upkeep = .milliseconds(50)
    options.snapshots = SnapshotPolicy(transactions: 10, trimming: LogKeep(transactions: 2))
    options.snapshots?.spread = .milliseconds(10)
    let keeper = try await Replica.open(
      path: folder.path("keeper.annals"), records: Post.self, log: log, options: options)
    var away = ReplicaOptions()
    away.name = "away"
    away.follows = false
    let other = try await Replica.open(
      path: folder.path("away.annals"), records: Post.self, log: log, options: away)
    for number in 0..<30 {
      try await keeper.write { tx in _ = try tx.insert(Post(title: "\(number)")) }
    }
    while keeper.status.upkeep.snapshot == nil || keeper.status.upkeep.trim?.snapshot == nil {
      try await Task.sleep(for: .milliseconds(20))
    }
    // The other one has no record yet, or the first.
    let sequence = try #require(other.status.upkeep.registration?.sequence)
    let trim = try await keeper.trim(keeping: LogKeep(transactions: 0))
    #expect(trim.first == sequence + 1, "\(trim)")
    #expect(trim.holds.first.map { "\($0)" } == "replica away, which has record \(sequence)")
    let survey = try await ReplicaSurvey(of: keeper.store, log: log)
    #expect(survey.log?.replicas.map(\.name) == ["away", "keeper"])
    // It says that it has come further.
    try await other.catchUp()
    try await other.close()
    let again = try await Replica.open(
      path: folder.path("away.annals"), records: Post.self, log: log, options: away)
    try await keeper.putSnapshot()
    let last = again.status.sequence
    #expect(try await keeper.trim(keeping: LogKeep(transactions: 0)).first == last)
    #expect(try await log.records(from: 1, limit: 100).first == last)
    let new = try await Replica.open(
      path: folder.path("new.annals"), records: Post.self, log: log, options: away)
    #expect(new.store.token == keeper.store.token)
    #expect(try new.store.snapshot().count(of: Post.self) == 30)
    for replica in [keeper, again, new] { try await replica.close() }
    log.close()
  }
}

#endif
