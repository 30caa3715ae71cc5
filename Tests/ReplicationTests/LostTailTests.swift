import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A log that lost its last records gets them back from the replicas that have them.
@Suite struct LostTailTests {
  private func insert(_ title: String, into replica: Replica) async throws {
    try await replica.write { tx in _ = try tx.insert(Note(title: title)) }
  }

  private func titles(_ replica: Replica) throws -> [String] {
    try replica.store.snapshot().objects(of: Note.self).map(\.value.title)
  }

  /// How a replica notices.
  enum Notice: CaseIterable {
    case writing, catchingUp, opening, following
  }

  @Test(arguments: Notice.allCases, [1, 3]) func whatWasLostIsOfferedAgain(
    _ notice: Notice, _ count: Int
  ) async throws {
    let world = ReplicaWorld(2)
    var options = ReplicaWorld.options
    options.follows = notice == .following
    world.replicas = [try await world.open(0, options), try await world.open(1)]
    for title in ["a", "b", "c"] { try await insert(title, into: world.replicas[0]) }
    let whole = world.log.contents
    if notice == .opening { try await world.replicas[0].close() }
    world.log.loseTail(count)
    switch notice {
    case .writing: try await insert("d", into: world.replicas[0])
    case .catchingUp: try await world.replicas[0].catchUp()
    case .opening: world.replicas[0] = try await world.open(0)
    case .following: while world.log.contents.last < whole.last { await Task.yield() }
    }
    #expect(Array(world.log.contents.records.prefix(4)) == whole.records)
    try await world.expectEqual()
    #expect(try titles(world.replicas[1]) == ["a", "b", "c"] + (notice == .writing ? ["d"] : []))
    let restored = try #require(world.replicas[0].status.restored)
    #expect(restored.numbers == Int64(5 - count)...4 && restored.count == count)
    #expect(world.replicas[0].status.failure == nil)
    #expect(world.replicas[1].status.restored == nil)
  }

  /// One knows a part, another one all; both offer at once, over a log with faults.
  @Test(arguments: 0..<6) func severalOfferAtOnce(_ seed: Int) async throws {
    let log = InMemorySharedLog(longestRecord: 600, longestPiece: 500, memory: seed % 2 * 100)
    let world = ReplicaWorld(4, log: log, seed: UInt64(seed))
    try await world.openAll()
    for index in 0..<12 {
      let long = String(repeating: "x", count: index % 3 * 400)
      try await insert("\(index)\(long)", into: world.replicas[index % 3])
      if index == 8 { try await world.replicas[2].catchUp() }
    }
    try await world.replicas[0].catchUp()
    try await world.replicas[1].catchUp()
    let whole = log.contents
    log.faults = .all(0.1, seed: UInt64(seed))
    log.loseTail(7)
    // What was put for records is lost, too.
    for object in whole.objectNames(7) {
      try await retrying { try await log.remove(object: object) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, replica) in world.replicas.prefix(3).enumerated() {
        // The one that knows less does not write.
        group.addTask {
          if index == 2 {
            _ = try await replica.catchUp()
          } else {
            try await self.insert("new \(index)", into: replica)
          }
        }
      }
      try await group.waitForAll()
    }
    log.faults = LogFaults()
    try await world.expectEqual("seed \(seed)")
    #expect(Array(log.contents.records.prefix(whole.records.count)) == whole.records)
    #expect(log.contents.records.count == whole.records.count + 2)
    let counts = world.replicas.compactMap { $0.status.restored?.count }
    #expect(counts.reduce(0, +) >= 7)
  }

  /// The log loses its tail while a replica waits for an answer, and the request arrives when the
  /// tail is there again.
  @Test func aRequestThatArrivesAfterTheTailIsNoSecondTransaction() async throws {
    let world = ReplicaWorld(2)
    let link = Link(world.log)
    world.replicas = [try await world.open(0, over: link), try await world.open(1)]
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    link.breakNext(.arriveLater(losing: 2))
    try await insert("c", into: world.replicas[0])
    #expect(world.log.contents.last == 4)
    #expect(try titles(world.replicas[0]) == ["a", "b", "c"])
    try await world.expectEqual()
  }

  @Test func anEmptyLogIsFilledAgainIfTheProgramSaysSo() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    let whole = world.log.contents
    world.log.loseTail(3)
    let error = await replicationError { try await world.replicas[0].catchUp() }
    #expect(error?.code == .lostTail && error?.message.contains("startsLog") == true)
    #expect(world.log.contents.last == 0)
    try await world.replicas[0].close()
    var options = ReplicaWorld.options
    options.startsLog = true
    world.replicas[0] = try await world.open(0, options)
    #expect(world.log.contents.records == whole.records)
    try await world.expectEqual()
  }

  /// A log that began with a store of its own, and of which nothing but the end was kept.
  @Test func aTrimmedLogOfAnOlderStore() async throws {
    let world = ReplicaWorld(3)
    try insertDirectly(["a", "b"], at: world.places[0])
    var options = ReplicaWorld.options
    options.startsLog = true
    world.replicas = [try await world.open(0, options), try await world.open(1)]
    for title in ["c", "d", "e"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[1].catchUp()
    try await world.log.trim(before: 3)
    let trimmed = world.log.contents
    world.log.loseTail(1)
    #expect(world.log.contents.records.isEmpty)
    try await insert("f", into: world.replicas[0])
    #expect(world.log.contents.records.first == trimmed.records.first)
    try await world.replicas[0].putSnapshot()
    world.replicas.append(try await world.open(2))
    try await world.expectEqual()
  }

  @Test func aLogThatLostSomethingElseIsABranch() async throws {
    let world = ReplicaWorld(2, seed: 500)
    try await world.openAll()
    try await insert("a", into: world.replicas[0])
    try await world.replicas[1].catchUp()
    let old = world.log.contents
    for title in ["b", "c"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[0].close()
    // Trimmed behind a snapshot of another history.
    world.log.restore(old)
    try await insert("x", into: world.replicas[1])
    try await world.replicas[1].putSnapshot()
    try await world.log.trim(before: 4)
    let error = await replicationError { _ = try await world.open(0) }
    #expect(error?.code == .branched)
    #expect(world.log.contents.records.isEmpty)
  }

  @Test func theDeadlineEndsIt() async throws {
    let world = ReplicaWorld(1)
    var options = ReplicaWorld.options
    options.deadline = .zero
    try await world.openAll(options)
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    world.log.loseTail(1)
    let error = await replicationError { try await insert("c", into: world.replicas[0]) }
    #expect(error?.code == .unavailable)
    #expect(world.replicas[0].status.failure == nil)
    #expect(world.log.contents.last == 2)
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0)
    try await insert("c", into: world.replicas[0])
    #expect(try titles(world.replicas[0]) == ["a", "b", "c"])
    #expect(world.log.contents.last == 4)
  }

  @Test func whatIsNotInTheFileAnyMoreIsNamed() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    for title in ["a", "b", "c", "d"] { try await insert(title, into: world.replicas[0]) }
    let whole = world.log.contents
    try await world.replicas[1].catchUp()
    let store = world.replicas[0].store
    try store.prune(store.prunePlan(before: store.version.snapshot(at: 4).token))
    world.log.loseTail(2)
    let error = await replicationError { try await world.replicas[0].catchUp() }
    #expect(error?.code == .notRemade && error?.message.contains("pruned") == true)
    #expect(world.replicas[0].status.failure?.code == .notRemade)
    // The other one has all of it.
    try await world.replicas[1].catchUp()
    #expect(world.log.contents.records == whole.records)
    try await insert("e", into: world.replicas[0])
    try await world.expectEqual()
    #expect(world.replicas[0].status.failure == nil)
  }

  /// What an erasure has left is offered, also the erasure itself, and is taken by who knew nothing
  /// of it, who knew the values, and who has it from such an offer.
  @Test(arguments: 1...5, [false, true]) func erasures(
    _ lost: Int, _ ofProperties: Bool
  ) async throws {
    let log = InMemorySharedLog(longestRecord: 700, longestPiece: 500)
    let world = ReplicaWorld(4, log: log)
    world.replicas = [try await world.open(0), try await world.open(1)]
    let folder = try await world.replicas[0].write { tx in try tx.insert(Folder(name: "f")) }
    let secret = Data(Array(repeating: Array("SECRET".utf8), count: 1_000).joined())
    let note = try await world.replicas[0].write { tx in
      _ = try tx.insert(Note(title: "stays", folder: Reference(folder)))
      return try tx.insert(Note(title: "SECRET", image: secret, folder: Reference(folder)))
    }
    try await world.replicas[0].write { tx in
      try tx.update(Note.self, note.objectID) { ($0.title, $0.count) = ("SECRET 2", 5) }
    }
    try await world.replicas[1].catchUp()
    if ofProperties {
      try await world.replicas[0].erase(
        note.objectID, properties: ["title", "image"], reason: "asked")
    } else {
      try await world.replicas[0].erase([note.objectID], reason: "asked")
    }
    try await insert("after", into: world.replicas[0])
    let ids = log.contents.records.map(\.id)
    log.loseTail(lost)
    try await world.replicas[0].catchUp()
    #expect(log.contents.records.map(\.id) == ids)
    #expect(world.replicas[0].status.restored?.count == lost)
    world.replicas.append(try await world.open(2))
    try await world.expectEqual("\(lost)")
    log.loseTail(lost)
    try await world.replicas[2].catchUp()
    #expect(log.contents.records.map(\.id) == ids)
    world.replicas.append(try await world.open(3))
    try await insert("last", into: world.replicas[3])
    try await world.expectEqual("\(lost)")
    for place in world.places {
      let bytes = Array(try place.fileSystem.contents(of: place.path))
      #expect(!bytes.indices.contains { bytes[$0...].starts(with: Array("SECRET".utf8)) })
    }
  }
}

extension InMemorySharedLog.Contents {
  /// The names that objects of the last records have, if there are any.
  fileprivate func objectNames(_ count: Int) -> [String] {
    records.suffix(count).map { "transaction/\($0.id)" }
  }
}

/// Runs `body` until it does not throw.
private func retrying(_ body: () async throws -> Void) async throws {
  for _ in 0..<100 {
    if (try? await body()) != nil { return }
  }
}
