import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Snapshots that a replica puts by its policy, and registrations.
@Suite struct PolicyTests {
  private let every5 = SnapshotPolicy(transactions: 5, trimming: LogKeep(transactions: 2))

  @Test func snapshotsAreMadeAndOldOnesRemoved() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0, KeepingWorld.options(every5))]
    let replica = keeping.replicas[0]
    try await keeping.write(3)
    try await replica.keepLog()
    #expect(try await keeping.snapshots().isEmpty && replica.status.upkeep.snapshot == nil)
    try await keeping.write(1)
    try await replica.keepLog()
    #expect(try await keeping.snapshots() == [5])
    #expect(replica.status.upkeep.snapshot == replica.store.token)
    try await replica.keepLog()
    #expect(try await keeping.snapshots() == [5])
    try await keeping.write(5)
    try await replica.keepLog()
    #expect(try await keeping.snapshots() == [5, 10])
    try await keeping.write(6)
    try await replica.keepLog()
    #expect(try await keeping.snapshots() == [10, 16])
    #expect(keeping.log.contents.first == 15)
    keeping.replicas.append(try await keeping.open(1))
    try await keeping.world.expectEqual()
  }

  @Test func bytesCount() async throws {
    let keeping = KeepingWorld(1)
    let policy = SnapshotPolicy(transactions: nil, bytes: 20_000)
    keeping.replicas = [try await keeping.open(0, KeepingWorld.options(policy))]
    let replica = keeping.replicas[0]
    func write(_ bytes: Int) async throws {
      let image = Data((0..<bytes).map { UInt8(truncatingIfNeeded: ($0 &* $0) &>> 3) })
      try await replica.write { tx in _ = try tx.insert(Note(title: "x", image: image)) }
      try await replica.keepLog()
    }
    try await write(9_000)
    #expect(try await keeping.snapshots().isEmpty)
    try await write(12_000)
    #expect(try await keeping.snapshots() == [3])
    try await write(12_000)
    #expect(try await keeping.snapshots() == [3])
    try await write(12_000)
    #expect(try await keeping.snapshots() == [3, 5])
  }

  /// Of several that find a snapshot due at the same moment, none makes one beside another's.
  @Test func twoAtOnce() async throws {
    let keeping = KeepingWorld(3)
    for index in 0..<3 {
      keeping.replicas.append(try await keeping.open(index, KeepingWorld.options(every5)))
    }
    for _ in 0..<4 {
      try await keeping.write(5)
      for replica in keeping.replicas { try await replica.catchUp() }
      let before = try await keeping.snapshots()
      keeping.log.faults.delay = 0.5
      var turns = 0
      while try await keeping.snapshots().last ?? 0 == before.last ?? 0 {
        turns += 1
        let replicas = keeping.replicas
        try await withThrowingTaskGroup(of: Void.self) { group in
          for replica in replicas.prefix(turns < 20 ? 3 : 1) {
            group.addTask { try await replica.keepLog() }
          }
          try await group.waitForAll()
        }
      }
      let after = try await keeping.snapshots()
      #expect(Set(after).count == min(before.count + 1, 2), "\(before) \(after)")
      #expect(Set(after).count == after.count, "\(after)")
      keeping.log.faults.delay = 0
    }
    try await keeping.world.expectEqual()
  }

  /// Another replica says that it is making a snapshot, and stops saying so.
  @Test func anotherIsMakingOne() async throws {
    let keeping = KeepingWorld(2)
    let link = Link(keeping.log)
    keeping.replicas = [
      try await keeping.open(0, KeepingWorld.options(every5), over: link),
      try await keeping.open(1, KeepingWorld.options(every5)),
    ]
    try await keeping.write(6)
    try await keeping.replicas[1].catchUp()
    // Its process ends while it makes one: nobody hears that it has ended.
    link.refusesSnapshots = true
    link.onRefusal.withLock { $0 = { link.isAway = true } }
    await #expect(throws: ReplicationError.self) { try await keeping.replicas[0].keepLog() }
    try await keeping.replicas[1].keepLog()
    #expect(try await keeping.snapshots().isEmpty)
    keeping.wait(181)
    try await keeping.replicas[1].keepLog()
    #expect(try await keeping.snapshots() == [7])
  }

  @Test func aCrashBetweenSnapshotAndTrim() async throws {
    let keeping = KeepingWorld(2)
    let link = Link(keeping.log)
    keeping.replicas = [try await keeping.open(0, KeepingWorld.options(every5), over: link)]
    try await keeping.write(9)
    link.isTrimCut = true
    let error = await replicationError { try await keeping.replicas[0].keepLog() }
    #expect(error?.code == .refused)
    #expect(try await keeping.snapshots() == [10])
    #expect(keeping.log.contents.first == 1)
    try await keeping.replicas[0].close()
    keeping.replicas[0] = try await keeping.open(0, KeepingWorld.options(every5))
    try await keeping.replicas[0].keepLog()
    #expect(try await keeping.snapshots() == [10])
    #expect(keeping.log.contents.first == 9)
    keeping.replicas.append(try await keeping.open(1))
    try await keeping.world.expectEqual()
  }

  /// A snapshot is removed while a replica gets it, which has not registered.
  @Test func aFetchThatLosesItsSnapshot() async throws {
    let keeping = KeepingWorld(2, log: InMemorySharedLog(longestPiece: 4_000))
    keeping.replicas = [try await keeping.open(0, KeepingWorld.options(every5))]
    try await keeping.write(9)
    try await keeping.replicas[0].keepLog()
    let link = Link(keeping.log)
    let (log, replica) = (keeping.log, keeping.replicas[0])
    link.onPiece.withLock {
      $0 = {
        do {
          try await replica.write { tx in _ = try tx.insert(Note(title: "later")) }
          try await replica.putSnapshot()
          for old in try await log.objects(beginning: "snapshot/").dropLast() {
            try await log.remove(object: old.name)
          }
        } catch {
          Issue.record("\(error)")
        }
      }
    }
    var options = KeepingWorld.options()
    options.lease = nil
    keeping.replicas.append(try await keeping.open(1, options, over: link))
    #expect(try await keeping.snapshots() == [11])
    try await keeping.world.expectEqual()
  }

  /// A replica that gets a snapshot says so: the snapshot stays, and the records after it.
  @Test(arguments: [false, true]) func aFetchThatTakesLong(_ resyncs: Bool) async throws {
    let keeping = KeepingWorld(2, log: InMemorySharedLog(longestPiece: 4_000))
    let policy = SnapshotPolicy(transactions: 5, trimming: LogKeep(transactions: 0))
    keeping.replicas = [try await keeping.open(0, KeepingWorld.options(policy))]
    if resyncs { try await keeping.open(1).close() }
    keeping.wait(90_000)
    try await keeping.write(9)
    try await keeping.replicas[0].keepLog()
    #expect(keeping.log.contents.first == 10)
    let link = Link(keeping.log)
    let replica = keeping.replicas[0]
    link.onPiece.withLock {
      $0 = {
        do {
          for number in 0..<20 {
            try await replica.write { tx in _ = try tx.insert(Note(title: "\(number)")) }
            try await replica.keepLog()
          }
        } catch {
          Issue.record("\(error)")
        }
      }
    }
    keeping.replicas.append(try await keeping.open(1, over: link))
    #expect(try await keeping.snapshots() == [10, 25, 30])
    #expect(keeping.log.contents.first == (resyncs ? 10 : 11))
    try await keeping.world.expectEqual()
    keeping.wait(100)
    try await keeping.replicas[1].catchUp()
    try await replica.keepLog()
    #expect(try await keeping.snapshots() == [25, 30])
    #expect(keeping.log.contents.first == 30)
  }

  /// A new replica has none of the consumers of the replica that put its snapshot.
  @Test func consumersAreEachReplicasOwn() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0)]
    try await keeping.write(3)
    _ = try keeping.replicas[0].store.consumer("feed", blocking: true)
    try await keeping.replicas[0].putSnapshot()
    keeping.replicas.append(try await keeping.open(1))
    #expect(keeping.replicas[1].store.consumers.isEmpty)
    _ = try keeping.replicas[1].store.consumer("own", blocking: true)
    try await keeping.replicas[1].close()
    keeping.replicas[1] = try await keeping.open(1)
    #expect(keeping.replicas[1].store.consumers.map(\.name) == ["own"])
    #expect(keeping.replicas[0].store.consumers.map(\.name) == ["feed"])
  }

  /// The origin of a log finds its place again when its snapshot is gone.
  @Test func theOriginsSnapshotIsRemoved() async throws {
    let keeping = KeepingWorld(2)
    try insertDirectly(["a", "b"], at: keeping.world.places[0])
    var options = KeepingWorld.options()
    options.startsLog = true
    try await keeping.open(0, options).close()
    keeping.replicas = [try await keeping.open(1, KeepingWorld.options(every5))]
    try await keeping.write(5)
    try await keeping.replicas[0].keepLog()
    try await keeping.write(5)
    try await keeping.replicas[0].keepLog()
    #expect(try await keeping.snapshots() == [5, 10])
    // Its registration holds the log.
    #expect(keeping.log.contents.first == 1)
    keeping.replicas.append(try await keeping.open(0))
    try await keeping.world.expectEqual()
  }

  /// What fails is told, and tried again by itself.
  @Test func byItself() async throws {
    let keeping = KeepingWorld(2)
    var options = KeepingWorld.options(every5)
    options.follows = true
    options.upkeep = .milliseconds(2)
    options.deadline = .milliseconds(20)
    let link = Link(keeping.log)
    link.refusesSnapshots = true
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1, options, over: link)]
    try await keeping.write(8)
    try await keeping.catchUp(0)
    let replica = keeping.replicas[1]
    try await until { replica.status.upkeep.failureCount > 1 }
    #expect(replica.status.upkeep.failure?.contains("no more objects") == true)
    #expect(replica.status.failure == nil)
    link.refusesSnapshots = false
    try await until {
      let upkeep = replica.status.upkeep
      return upkeep.trim?.first == 8 && upkeep.failureCount == 0 && upkeep.failure == nil
    }
    #expect(try await keeping.snapshots() == [9])
    try await replica.close()
  }

  private func until(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(2)) }
  }

  @Test func registrationsAreRenewedWhenItMatters() async throws {
    let keeping = KeepingWorld(1)
    var options = KeepingWorld.options()
    options.lease = .seconds(3_000)
    keeping.replicas = [try await keeping.open(0, options)]
    let replica = keeping.replicas[0]
    try await keeping.catchUp(0)
    let first = try #require(replica.status.upkeep.registration)
    try await keeping.catchUp(0)
    #expect(replica.status.upkeep.registration == first)
    // A third of the lease.
    keeping.wait(1_000)
    try await keeping.catchUp(0)
    let second = try #require(replica.status.upkeep.registration)
    #expect(second.renewed == keeping.now && second.id == first.id)
    try await keeping.write(1)
    try await keeping.catchUp(0)
    #expect(replica.status.upkeep.registration?.sequence == second.sequence + 1)
    // It stays the same replica.
    try await replica.close()
    keeping.replicas[0] = try await keeping.open(0, options)
    #expect(keeping.replicas[0].status.upkeep.registration?.id == first.id)
    #expect(try await keeping.log.objects(beginning: "replica/").count == 1)
  }

  /// Without anything that its program does.
  @Test func aReplicaThatFollowsRegistersByItself() async throws {
    let keeping = KeepingWorld(2)
    var options = KeepingWorld.options()
    options.follows = true
    options.upkeep = .milliseconds(2)
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1, options)]
    try await keeping.write(8)
    let replica = keeping.replicas[1]
    try await until { replica.status.upkeep.registration?.sequence == 9 }
    // A consumer that begins far behind.
    let position = try replica.store.version.snapshot(at: 3).token
    _ = try replica.store.consumer("feed", blocking: true, startingAfter: position)
    try await until { replica.status.upkeep.registration?.passed == 3 }
    try await keeping.replicas[0].putSnapshot()
    let keep = LogKeep(transactions: 0)
    #expect(try await keeping.replicas[0].trim(keeping: keep).first == 4)
    try await replica.close()
  }

  /// A replica that nobody heard of for long is not listed for ever.
  @Test func registrationsAreForgotten() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0)]
    try await keeping.open(1).close()
    keeping.wait(2 * 86_400 - 100)
    try await keeping.replicas[0].trim()
    #expect(try await keeping.log.objects(beginning: "replica/").count == 2)
    keeping.wait(200)
    try await keeping.catchUp(0)
    try await keeping.replicas[0].trim()
    #expect(try await keeping.log.objects(beginning: "replica/").count == 1)
  }
}
