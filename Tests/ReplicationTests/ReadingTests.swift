import Annals
import AnnalsModel
import AnnalsReplication
import Testing

/// Reading from one replica what was written through another.
@Suite struct ReadingTests {
  @Test func whatWasWrittenElsewhereIsRead() async throws {
    let (world, note) = try await twoReplicas()
    let (here, there) = (world.replicas[0], world.replicas[1])
    let first = here.store.token
    let commit = try await here.commit { tx in try tx.update(note) { $0.title = "mist" } }
    #expect(try titles(there.store.snapshot()) == ["fog"])
    #expect(try await titles(there.snapshot(notBefore: commit.token)) == ["mist"])
    // What the file has needs no log.
    let later = try await here.commit { tx in try tx.update(note) { $0.title = "dew" } }
    world.log.isReachable = false
    #expect(try await titles(there.snapshot(notBefore: commit.token)) == ["mist"])
    let error = await replicationError { _ = try await there.snapshot(notBefore: later.token) }
    #expect(error?.code == .unavailable)
    world.log.isReachable = true
    #expect(try await there.snapshot(notBefore: later.token).token == later.token)
    // Nor does what is before all that it has.
    try there.store.prune(try there.store.prunePlan(before: there.store.token))
    #expect(there.store.base > first)
    #expect(try await titles(there.snapshot(notBefore: first)) == ["dew"])
  }

  @Test func whatIsInNoHistoryIsRefused() async throws {
    let (world, note) = try await twoReplicas()
    let (here, there) = (world.replicas[0], world.replicas[1])
    let stranger = try await ReplicaWorld(1, seed: 99).open(0).store
    try await here.write { tx in try tx.update(note) { $0.title = "lost" } }
    let lost = here.store.token
    // The log loses it, and goes on elsewhere.
    world.log.loseTail(1)
    let beyond = await #expect(throws: AnnalsError.self) {
      _ = try await there.snapshot(notBefore: lost)
    }
    #expect(beyond?.code == .beyondHead)
    try await there.write { tx in try tx.update(note) { $0.title = "theirs" } }
    for (token, code) in [(lost, AnnalsError.Code.lostBranch), (stranger.token, .otherStore)] {
      let error = await #expect(throws: AnnalsError.self) {
        _ = try await there.snapshot(notBefore: token)
      }
      #expect(error?.code == code)
    }
  }
}
