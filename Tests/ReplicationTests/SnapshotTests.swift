import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A replica that starts from a snapshot, and a store that becomes the origin of a log.
@Suite struct ReplicaSnapshotTests {
  @Test func aNewReplicaStartsFromASnapshotAndTheTail() async throws {
    let world = ReplicaWorld(3, log: InMemorySharedLog(longestPiece: 5_000))
    world.replicas = [try await world.open(0), try await world.open(1)]
    for index in 0..<20 {
      try await world.replicas[index % 2].write { tx in
        _ = try tx.insert(Note(title: "\(index)", image: Data(repeating: 7, count: index * 999)))
      }
    }
    let token = try await world.replicas[1].putSnapshot()
    #expect(token == world.replicas[1].store.token)
    try await world.log.trim(before: 20)
    try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "tail")) }
    world.replicas.append(try await world.open(2))
    try await world.expectEqual()
    #expect(try world.replicas[2].store.snapshot().count(of: Note.self) == 21)
  }

  @Test func aStoreBecomesTheOriginOfALog() async throws {
    let world = ReplicaWorld(2)
    let before = try insertDirectly((0..<5).map { "\($0)" }, at: world.places[0])
    #expect(await replicationError { _ = try await world.open(0) }?.code == .notAReplica)
    var options = ReplicaWorld.options
    options.startsLog = true
    world.replicas = [try await world.open(0, options)]
    #expect(world.replicas[0].store.token == before)
    try await world.replicas[0].close()
    // It is the origin now, with nothing in the log but its snapshot.
    world.replicas = [try await world.open(0), try await world.open(1)]
    #expect(world.log.contents.last == 0)
    try await world.replicas[1].write(author: "late") { tx in _ = try tx.insert(Note(title: "x")) }
    try await world.expectEqual()
    #expect(world.replicas[0].store.token.number == before.number + 1)
    #expect(world.replicas[0].status.sequence == 1)
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0)
    try await world.expectEqual()
    // A log that has begun takes no other origin.
    let stranger = ReplicaWorld(1)
    try insertDirectly(["stranger"], at: stranger.places[0])
    let error = await replicationError {
      _ = try await stranger.open(0, options, over: world.log)
    }
    #expect(error?.code == .otherStore)
  }

  /// A replica that knows no types, as the command makes it.
  private func openEmpty(_ index: Int, of world: ReplicaWorld, seed: UInt64) async throws -> Replica
  {
    try await Replica.open(
      world.places[index], schema: Schema(), log: world.log, options: ReplicaWorld.options,
      environment: .fixed(seed: seed + UInt64(index), processName: "empty", processID: 7))
  }

  @Test func replicasThatComeBeforeTheFirstTransactionAreOfOneStore() async throws {
    let world = ReplicaWorld(4, seed: 9_910)
    world.replicas = [
      try await openEmpty(0, of: world, seed: 9_740),
      try await openEmpty(1, of: world, seed: 9_740),
    ]
    #expect(world.replicas[0].store.token == world.replicas[1].store.token)
    world.replicas.append(try await world.open(2))
    try await world.replicas[2].write { tx in _ = try tx.insert(Note(title: "first")) }
    world.replicas.append(try await openEmpty(3, of: world, seed: 9_740))
    try await world.expectEqual()
    #expect(try await world.log.objects(beginning: "snapshot/").count == 1)
  }

  @Test func anEmptyStoreThatCameTooLateIsNoOrigin() async throws {
    let (world, other) = (ReplicaWorld(2, seed: 9_720), ReplicaWorld(2, seed: 9_730))
    let late = try await openEmpty(0, of: other, seed: 9_750)
    world.replicas = [try await world.open(0)]
    // Two looked at once, and saw an empty log: one put its empty store, the other a transaction.
    let object = try #require(try await other.log.objects(beginning: "snapshot/").first)
    for (index, piece) in try await other.log.pieces(0..<object.pieceCount, of: object).enumerated()
    {
      try await world.log.put(piece, at: index, of: object.name)
    }
    try await world.log.complete(object)
    world.replicas.append(try await world.open(1))
    try await world.expectEqual()
    #expect(world.replicas[1].store.token.store != late.store.token.store)
  }

  @Test func aSnapshotThatIsDamagedIsRefused() async throws {
    let world = ReplicaWorld(2, log: InMemorySharedLog(longestPiece: 5_000))
    world.replicas = [try await world.open(0)]
    try await world.replicas[0].putSnapshot()
    let object = try #require(try await world.log.objects(beginning: "snapshot/").first)
    #expect(object.pieceCount > 1)
    var piece = try await world.log.pieces(1..<2, of: object)[0]
    piece[77] ^= 1
    try await world.log.put(piece, at: 1, of: object.name)
    #expect(await replicationError { _ = try await world.open(1) }?.code == .damaged)
    let identity = try world.places[1].fileSystem.identity(of: world.places[1].path)
    #expect(identity == nil)
    piece[77] ^= 1
    try await world.log.put(piece, at: 1, of: object.name)
    world.replicas.append(try await world.open(1))
    try await world.expectEqual()
  }

  @Test func compactedAndPrunedReplicasGoOn() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    for index in 0..<8 {
      try await world.replicas[index % 2].write { tx in _ = try tx.insert(Note(title: "\(index)")) }
    }
    let store = world.replicas[0].store
    try await world.replicas[0].catchUp()
    try store.prune(store.prunePlan(before: store.version.snapshot(at: 6).token))
    try store.compact()
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0)
    try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "after")) }
    try await world.expectEqual()
  }
}
