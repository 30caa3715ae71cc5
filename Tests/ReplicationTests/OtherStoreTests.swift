import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A replica meets the log of another store, by a wrong name: it says so, and leaves no trace.
@Suite struct OtherStoreTests {
  private func expectOther(_ log: InMemorySharedLog, _ body: () async throws -> Void) async {
    let before = log.contents
    #expect(await replicationError(body)?.code == .otherStore)
    #expect(log.contents.records == before.records)
    let registered = try? await log.registeredReplicas()
    #expect(registered?.contains { $0.name == "0" } == false)
  }

  private func worlds() async throws -> (own: KeepingWorld, other: KeepingWorld) {
    let (own, other) = (KeepingWorld(1), KeepingWorld(2))
    own.replicas = [try await own.open(0)]
    try await own.write(4)
    try await own.replicas[0].close()
    return (own, other)
  }

  /// Its origin is there, and no record yet: it looks empty.
  @Test(arguments: [false, true]) func withASnapshotAlone(startsLog: Bool) async throws {
    let (own, other) = try await worlds()
    try insertDirectly(["a", "b"], at: other.world.places[1])
    var options = KeepingWorld.options()
    options.startsLog = true
    other.replicas = [try await other.open(1, options)]
    options.startsLog = startsLog
    await expectOther(other.log) { _ = try await own.open(0, options, over: other.log) }
    try await other.write(1)
    #expect(other.log.contents.last == 1)
  }

  @Test(arguments: [1, 9]) func withRecords(_ count: Int) async throws {
    let (own, other) = try await worlds()
    other.replicas = [try await other.open(1)]
    try await other.write(count)
    await expectOther(other.log) { _ = try await own.open(0, over: other.log) }
    var options = KeepingWorld.options()
    options.onBranch = .keepBeside
    options.startsLog = true
    await expectOther(other.log) { _ = try await own.open(0, options, over: other.log) }
    // What is left is a snapshot.
    try await other.replicas[0].putSnapshot()
    try await other.log.trim(before: other.log.contents.last + 1)
    await expectOther(other.log) { _ = try await own.open(0, options, over: other.log) }
    let replica = try await own.open(0)
    #expect(replica.store.token.number == 5)
  }

  @Test func theSurveySaysSo() async throws {
    let (own, other) = try await worlds()
    other.replicas = [try await other.open(1)]
    try await other.write(1)
    let store = try Store(own.world.places[0], creates: false, options: .readOnly)
    let survey = try await ReplicaSurvey(of: store, log: other.log)
    #expect(survey.log?.store == other.replicas[0].store.id)
    #expect(try await ReplicaSurvey(of: store, log: own.log).log?.store == store.id)
    #expect(try await ReplicaSurvey(of: store, log: InMemorySharedLog()).log?.store == nil)
  }

  @Test func aReplicaThatIsGoneForGood() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1)]
    let all = try await keeping.log.registeredReplicas()
    #expect(all.map(\.name) == ["0", "1"])
    try await keeping.log.unregister(replica: all[1].id)
    #expect(try await keeping.log.registeredReplicas().map(\.name) == ["0"])
    try await keeping.log.unregister(replica: all[1].id)
    // Nothing waits for it any more.
    try await keeping.write(3)
    try await keeping.replicas[0].putSnapshot()
    let trim = try await keeping.replicas[0].trim(keeping: LogKeep(transactions: 0))
    #expect(trim.holds.isEmpty && trim.first == 4)
    // It was not gone.
    try await keeping.catchUp(1)
    #expect(keeping.replicas[1].store.token == keeping.replicas[0].store.token)
    try await keeping.catchUp(1)
    #expect(try await keeping.log.registeredReplicas().map(\.name) == ["0", "1"])
  }
}
