import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Files of replicas that are not there: yet, or any more.
@Suite(.deadline) struct MissingFileTests {
  /// A log that began with a store of its own.
  private func started(_ count: Int, seed: UInt64) async throws -> ReplicaWorld {
    let world = ReplicaWorld(count, seed: seed)
    try insertDirectly(["a", "b"], at: world.places[0])
    var options = ReplicaWorld.options
    options.startsLog = true
    world.replicas = [try await world.open(0, options)]
    try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "c")) }
    return world
  }

  @Test func manyMakeOneFileAtOnce() async throws {
    let world = try await started(2, seed: 7_000)
    let place = world.places[1]
    let replicas = try await withThrowingTaskGroup(of: Replica.self) { group in
      for index in 0..<8 {
        group.addTask { [log = world.log] in
          try await Replica.open(
            place, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
            environment: .fixed(seed: UInt64(index) + 900))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for replica in replicas {
      #expect(replica.store.token == world.replicas[0].store.token)
      try await replica.close()
    }
  }

  /// Another process is getting the snapshot.
  @Test func aFileThatIsBeingMade() async throws {
    let world = try await started(2, seed: 7_500)
    let place = world.places[1]
    let part = try place.fileSystem.create(
      place.path + ".part", like: nil, requiresOwner: false)
    #expect(try part.lock(.exclusive, wait: .none))
    var options = ReplicaWorld.options
    options.deadline = .zero
    let error = await #expect(throws: AnnalsError.self) { _ = try await world.open(1, options) }
    #expect(error?.code == .busy)
    let waiting = Task { [log = world.log] in
      try await Replica.open(
        place, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
        environment: .fixed(seed: 77))
    }
    try await Task.sleep(for: .milliseconds(20))
    part.close()
    let replica = try await waiting.value
    #expect(replica.store.token == world.replicas[0].store.token)
  }

  /// Without its snapshot nobody can begin with such a log: that is said, and no file is left.
  @Test func aLogWithoutItsOrigin() async throws {
    let world = try await started(2, seed: 8_000)
    for object in try await world.log.objects(beginning: "snapshot/") {
      try await world.log.remove(object: object.name)
    }
    let error = await replicationError { _ = try await world.open(1) }
    #expect(error?.code == .trimmed)
    #expect(error?.message.contains("begins with transaction 4 of its store") == true, "\(error!)")
    #expect(try world.places[1].fileSystem.identity(of: world.places[1].path) == nil)
    try await world.replicas[0].putSnapshot()
    world.replicas.append(try await world.open(1))
    try await world.expectEqual()
  }

  /// A log that lost all, and is filled again, has the snapshot first.
  @Test func aLogThatIsFilledAgain() async throws {
    let world = try await started(2, seed: 8_500)
    try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "d")) }
    try await world.replicas[0].close()
    world.log.restore(InMemorySharedLog().contents)
    var options = ReplicaWorld.options
    options.startsLog = true
    world.replicas = [try await world.open(0, options), try await world.open(1)]
    try await world.expectEqual()
    #expect(world.log.contents.last == 2)
  }

  /// One that has pruned what the log began with cannot fill it, and begins nothing.
  @Test func aPrunedFileFillsNoLog() async throws {
    let world = try await started(1, seed: 9_000)
    for title in ["d", "e"] {
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: title)) }
    }
    let store = world.replicas[0].store
    try store.prune(store.prunePlan(before: 6))
    try await world.replicas[0].close()
    world.log.restore(InMemorySharedLog().contents)
    var options = ReplicaWorld.options
    options.startsLog = true
    #expect(await replicationError { _ = try await world.open(0, options) }?.code == .notRemade)
    #expect(try await world.log.objects(beginning: "").isEmpty && world.log.contents.last == 0)
  }

  @Test func aFileThatIsRemoved() async throws {
    let world = ReplicaWorld(2)
    var options = ReplicaWorld.options
    options.follows = true
    options.pulse = .milliseconds(5)
    world.replicas = [try await world.open(0, options), try await world.open(1)]
    let (replica, place) = (world.replicas[0], world.places[0])
    try place.fileSystem.rename(place.path, over: place.path + ".away")
    while replica.status.fileTrouble == nil { await Task.yield() }
    #expect(replica.status.fileTrouble?.code == .notFound)
    // What others write does not get into a file that nobody finds.
    let number = replica.store.token.number
    try await world.replicas[1].write { tx in _ = try tx.insert(Note(title: "x")) }
    await replica.follows(to: world.log.contents.last, within: .milliseconds(30))
    #expect(replica.store.token.number == number)
    #expect(replica.status.failure == nil)
    try place.fileSystem.rename(place.path + ".away", over: place.path)
    while replica.status.fileTrouble != nil { await Task.yield() }
    while replica.status.lag > 0 { await Task.yield() }
    #expect(replica.store.token == world.replicas[1].store.token)
  }
}

extension Replica {
  /// Waits until the replica knows of a record, and a little longer.
  fileprivate func follows(to sequence: UInt64, within length: Duration) async {
    while status.newestKnown < sequence { await Task.yield() }
    try? await Task.sleep(for: length)
  }
}
