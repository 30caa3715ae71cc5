import Annals
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// A process that ends between the log's acknowledgement and its own file.
@Suite struct ReplicaCrashTests {
  @Test func whatTheLogHasIsThereOnceAfterwards() async throws {
    let world = ReplicaWorld(2)
    let link = Link(world.log)
    let lost = try await world.open(0, over: link)
    try await lost.write(author: "a") { tx in _ = try tx.insert(Note(title: "before")) }
    link.breakNext(.endAfterAppending)
    let error = await replicationError {
      try await lost.write(author: "a") { tx in _ = try tx.insert(Note(title: "between")) }
    }
    #expect(error?.code == .refused)
    #expect(lost.store.token.number == 2)
    #expect(world.log.contents.last == 3)
    // The other process is gone; its file is opened again.
    world.replicas = [try await world.open(0), try await world.open(1)]
    try await world.expectEqual()
    let titles = try world.replicas[0].store.snapshot().objects(of: Note.self).map(\.value.title)
    #expect(titles == ["before", "between"])
    #expect(world.log.contents.last == 3)
  }

  /// The log has the record, and the acknowledgement comes late: it is found by its identifier.
  @Test(arguments: [1, 3]) func aLostAcknowledgementIsNoSecondTransaction(
    _ silences: Int
  ) async throws {
    for memory in [0, 1_000] {
      let world = ReplicaWorld(2, log: InMemorySharedLog(memory: memory))
      let link = Link(world.log)
      world.replicas = [try await world.open(0, over: link), try await world.open(1)]
      link.breakNext(.silence(silences))
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "once")) }
      try await world.expectEqual()
      #expect(try world.replicas[1].store.snapshot().count(of: Note.self) == 1)
      #expect(world.log.contents.last == 2)
    }
  }

  @Test func twoBeginOneLog() async throws {
    for seed in 0..<8 {
      let log = InMemorySharedLog(faults: LogFaults.all(0.05, seed: UInt64(seed)))
      let world = ReplicaWorld(3, log: log)
      let places = world.places
      try await withThrowingTaskGroup(of: Replica.self) { group in
        for index in places.indices {
          group.addTask {
            try await Replica.open(
              places[index], records: Folder.self, Note.self, log: log,
              options: ReplicaWorld.options, environment: .fixed(seed: UInt64(seed * 3 + index)))
          }
        }
        for try await replica in group { world.replicas.append(replica) }
      }
      world.log.faults = LogFaults()
      try await world.expectEqual("seed \(seed)")
    }
  }

  /// Two programs have one file open as a replica.
  @Test func aFileOpenedTwice() async throws {
    let world = ReplicaWorld(2)
    world.replicas = [try await world.open(0), try await world.open(1)]
    let again = try await world.open(0)
    for index in 0..<6 {
      let replica = index % 2 == 0 ? again : world.replicas[0]
      try await replica.write { tx in _ = try tx.insert(Note(title: "\(index)")) }
      try await world.replicas[1].write { tx in _ = try tx.insert(Note(title: "other \(index)")) }
    }
    try await world.expectEqual()
    try await again.catchUp()
    #expect(again.store.token == world.replicas[0].store.token)
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 12)
  }
}
