import Annals
import AnnalsFaults
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A process ends, or the power fails, anywhere between a draft's coming and its leaving.
@Suite struct OutboxCrashTests {
  @Test func aDraftThatTheLogHasTakenIsNotSentAgain() async throws {
    for discards in [false, true] {
      let world = ReplicaWorld(2)
      let link = Link(world.log)
      let lost = try await world.open(0, ReplicaWorld.impatient, over: link)
      world.replicas = [try await world.open(1, ReplicaWorld.impatient)]
      let made = try await lost.write(offline: .outboxFirst) { tx in
        try tx.insert(Note(title: "first"))
      }
      try await lost.write(offline: .outboxFirst) { tx in
        try tx.update(Note.self, made.value.objectID) { $0.count = 3 }
      }
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "theirs")) }
      link.breakNext(.endAfterAppending)
      #expect(await replicationError { try await lost.sendOutbox() }?.code == .refused)
      #expect(lost.status.outbox.count == 2)
      // The other process is gone; its files are opened again.
      let again = try await world.open(0, ReplicaWorld.impatient)
      world.replicas.append(again)
      if discards {
        let token = try await again.discard(try await again.outboxItems()[0])
        #expect(token?.number == 3)
      }
      let report = try await again.sendOutbox()
      #expect(report.sent.map(\.item.number) == (discards ? [2] : [1, 2]))
      try await world.expectEqual()
      let notes = try again.store.snapshot().objects(of: Note.self)
      #expect(notes.map(\.value.title) == ["theirs", "first"])
      #expect(notes.map(\.value.count) == [0, 3])
      #expect(again.currentID(of: made.value.objectID) == notes[1].objectID)
    }
  }

  /// Nobody says whether the log has taken the draft, and it comes late.
  @Test func aLateArrivalIsNotSentAgain() async throws {
    for discards in [false, true] {
      let world = ReplicaWorld(1)
      let replica = try await world.open(0, ReplicaWorld.impatient)
      try await replica.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: "n")) }
      var faults = LogFaults(seed: 1)
      faults.lateArrival = 1
      world.log.faults = faults
      #expect(await replicationError { try await replica.sendOutbox() }?.code == .outcomeUnknown)
      world.log.faults = LogFaults()
      if discards {
        let item = try await replica.outboxItems()[0]
        #expect(try await replica.discard(item)?.number == 2)
      } else {
        #expect(try await replica.sendOutbox().sent.count == 1)
      }
      #expect(try replica.store.snapshot().count(of: Note.self) == 1)
      #expect(world.log.contents.last == 2 && replica.status.outbox.count == 0)
    }
  }

  /// The file was made anew from a snapshot without the history in which the draft would be.
  @Test func aDraftWhoseFateIsNotKnownIsHandedOver() async throws {
    for retries in [false, true] {
      let world = ReplicaWorld(2)
      let link = Link(world.log)
      let lost = try await world.open(0, ReplicaWorld.impatient, over: link)
      let other = try await world.open(1, ReplicaWorld.impatient)
      try await lost.write(offline: .outboxFirst) { tx in _ = try tx.insert(Note(title: "n")) }
      link.breakNext(.endAfterAppending)
      #expect(await replicationError { try await lost.sendOutbox() }?.code == .refused)
      try await other.catchUp()
      try await other.write { tx in _ = try tx.insert(Note(title: "theirs")) }
      try other.store.prune(try other.store.prunePlan(before: other.store.token))
      try await other.putSnapshot()
      try await world.log.trim(before: world.log.contents.last)
      try world.places[0].fileSystem.remove(world.places[0].path)
      let again = try await world.open(0, ReplicaWorld.impatient)
      let item = try #require(try await again.sendOutbox().conflicted)
      #expect(item.conflict?.code == .pruned)
      if retries {
        try await again.retry(item, merging: nil)
        #expect(try await again.sendOutbox().sent.count == 1)
      } else {
        #expect(try await again.discard(item) == nil)
      }
      let found = try titles(again.store.snapshot()).filter { $0 == "n" }
      #expect(found.count == (retries ? 2 : 1) && again.status.outbox.count == 0)
    }
  }

  private static let path = "/replica.annals"

  private func open(_ files: FaultyFileSystem, _ log: InMemorySharedLog) async throws -> Replica {
    try await Replica.open(
      StoreLocation(fileSystem: files, path: Self.path), records: Folder.self, Note.self, log: log,
      options: ReplicaWorld.impatient, environment: .fixed(seed: 3))
  }

  private func other(_ log: InMemorySharedLog) async throws -> Replica {
    try await Replica.open(
      .memory, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
      environment: .fixed(seed: 4))
  }

  /// Works until the power fails. Returns the titles that were said to wait.
  private func work(_ files: FaultyFileSystem, _ log: InMemorySharedLog) async -> Set<String> {
    var waiting: Set<String> = []
    do {
      let replica = try await open(files, log)
      let other = try await other(log)
      try await replica.write { tx in _ = try tx.insert(Note(title: "online")) }
      for index in 0..<3 {
        let title = "draft \(index)"
        let length = index == 1 ? 9_000 : 10
        try await replica.write(offline: .outboxFirst) { tx in
          for note in try tx.objects(of: Note.self) {
            try tx.update(note) { $0.count += 1 }
          }
          _ = try tx.insert(
            Note(title: title, image: Data(repeating: UInt8(index), count: length)))
        }
        waiting.insert(title)
        try await other.write { tx in _ = try tx.insert(Note(title: "other \(index)")) }
        if index == 1 { try await replica.sendOutbox() }
      }
      try await replica.sendOutbox()
      try await replica.close()
    } catch {
      return waiting
    }
    return waiting
  }

  @Test func aDraftThatWaitsIsCommittedOnce() async throws {
    let whole = FaultyFileSystem()
    #expect(await work(whole, InMemorySharedLog()).count == 3)
    let points = whole.pointCount
    #expect(points > 60)
    var states = 0
    for point in stride(from: 0, to: points, by: isLong ? 1 : 3) {
      let files = FaultyFileSystem(seed: UInt64(point))
      let log = InMemorySharedLog()
      files.crash(at: point)
      let waiting = await work(files, log)
      #expect(files.hasCrashed)
      let contents = log.contents
      var survivors: [Survivor] = []
      files.forEachSurvivor(limit: isLong ? 8 : 2) { survivors.append($0) }
      for survivor in survivors {
        states += 1
        let now = InMemorySharedLog()
        now.restore(contents)
        let replica = try await open(survivor.files, now)
        let report = try await replica.sendOutbox()
        #expect(report.conflicted == nil, "\(survivor.description)")
        let fresh = try await other(now)
        try await replica.catchUp()
        try expectEqualStores(
          [replica.store, fresh.store], "\(survivor.description)", afterPowerCut: true)
        let found = try titles(replica.store.snapshot()).filter { $0.hasPrefix("draft") }
        #expect(Set(found).count == found.count, "\(survivor.description): twice")
        #expect(waiting.isSubset(of: found), "\(survivor.description): \(waiting), \(found)")
        try await replica.close()
      }
    }
    print("\(points) points, \(states) states of the disk")
  }
}
