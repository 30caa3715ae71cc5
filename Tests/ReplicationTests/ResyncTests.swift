import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A replica that was away longer than the log keeps records takes what it lacks from a snapshot.
@Suite struct ResyncTests {
  private func insert(_ title: String, into replica: Replica) async throws {
    try await replica.write { tx in _ = try tx.insert(Note(title: title)) }
  }

  /// The second replica has three transactions, and the log nothing before the eleventh.
  private func trimmed(
    pruning: Bool = false, erasing: Bool = false, seed: UInt64
  ) async throws -> ReplicaWorld {
    // Backups of stores in memory are in the system's folder, under names by chance.
    let world = ReplicaWorld(
      2, log: InMemorySharedLog(longestRecord: 1_000, longestPiece: 4_000), seed: seed)
    try await world.openAll()
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[1].catchUp()
    let note = try world.replicas[0].store.snapshot().objects(of: Note.self)[0]
    for index in 0..<6 {
      try await world.replicas[0].write { tx in
        _ = try tx.insert(Note(title: "\(index)", image: Data(repeating: 7, count: index * 999)))
      }
    }
    if erasing {
      try await world.replicas[0].erase([note.objectID], reason: "asked")
    } else {
      try await insert("last", into: world.replicas[0])
    }
    let store = world.replicas[0].store
    if pruning { try store.prune(store.prunePlan(before: store.version.snapshot(at: 6).token)) }
    try await world.replicas[0].putSnapshot()
    try await world.log.trim(before: 11)
    try await insert("tail", into: world.replicas[0])
    return world
  }

  @Test(arguments: [false, true], [false, true]) func theFileAndItsConsumersStay(
    _ isRunning: Bool, _ erasing: Bool
  ) async throws {
    let world = try await trimmed(
      erasing: erasing, seed: isRunning ? erasing ? 10_000 : 20_000 : erasing ? 30_000 : 40_000)
    let position = try world.replicas[1].store.version.snapshot(at: 2).token
    let consumer = try world.replicas[1].store.consumer("feed", startingAfter: position)
    #expect(try consumer.token == position)
    let identity = try world.places[1].fileSystem.identity(of: world.places[1].path)
    let seen = Locked<[Int]>([])
    var options = ReplicaWorld.options
    options.snapshotProgress = { done, count in
      seen.withLock { $0.append(done == count ? 0 : done) }
    }
    if isRunning {
      try await world.replicas[1].catchUp()
    } else {
      try await world.replicas[1].close()
      world.replicas[1] = try await world.open(1, options)
      let pieces = seen.withLock { $0 }
      #expect(pieces.count > 2 && pieces.last == 0 && pieces.first == 1)
    }
    try await world.expectEqual()
    let store = world.replicas[1].store
    #expect(store.base.number == 0)
    #expect(store.consumers.map(\.name) == ["feed"])
    let kept = try store.consumer("feed")
    #expect(try kept.token == position)
    #expect(try kept.history().collect(limit: 99).count == 9)
    if !erasing {
      #expect(try world.places[1].fileSystem.identity(of: world.places[1].path) == identity)
    }
    let files = world.places[1].fileSystem as? MemoryFileSystem
    #expect(files?.paths == [world.places[1].path])
    try await insert("after", into: world.replicas[1])
    try await world.expectEqual()
  }

  @Test func gettingASnapshotGoesOnWhereItStopped() async throws {
    let world = try await trimmed(seed: 60_000)
    try await world.replicas[1].close()
    let link = Link(world.log)
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(20)
    let object = try #require(try await world.log.objects(beginning: "snapshot/").first)
    let count = object.pieceCount
    #expect(count > 4)
    link.pieces.withLock { $0.rest = count - 2 }
    // It opens, to be read as it is.
    let impatient = try await world.open(1, options, over: link)
    #expect(impatient.store.token.number == 3 && impatient.status.outage != nil)
    try await impatient.close()
    let part = world.places[1].path + ".part"
    #expect(try world.places[1].fileSystem.identity(of: part) != nil)
    link.pieces.withLock { $0 = (.max, 0) }
    world.replicas[1] = try await world.open(1, over: link)
    // The first one tells whose pieces they are.
    #expect(link.pieces.withLock { $0.count } == 3)
    try await world.expectEqual()
  }

  /// What is beside is of another snapshot, or torn.
  @Test(arguments: [0, 3_000, 9_000]) func whatIsNotOfTheSnapshotIsGotAgain(
    _ offset: UInt64
  ) async throws {
    let world = try await trimmed(seed: 70_000 + 10 * offset)
    try await world.replicas[1].close()
    let link = Link(world.log)
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(20)
    link.pieces.withLock { $0.rest = 4 }
    try await world.open(1, options, over: link).close()
    let part = world.places[1].path + ".part"
    let file = try world.places[1].fileSystem.open(part, for: .writing)
    try [UInt8](repeating: 0xEE, count: 9).withUnsafeBytes { try file.write($0, at: offset) }
    file.close()
    world.replicas[1] = try await world.open(1)
    try await world.expectEqual()
  }

  @Test func aSnapshotThatLacksWhatIsNeeded() async throws {
    let world = try await trimmed(pruning: true, seed: 50_000)
    let error = await replicationError { try await world.replicas[1].catchUp() }
    #expect(error?.code == .trimmed && error?.message.contains("begins with transaction") == true)
    #expect(world.replicas[1].store.token.number == 3)
  }
}
