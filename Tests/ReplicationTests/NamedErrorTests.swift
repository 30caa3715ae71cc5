import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Each error that a replica names, seen; and that the file keeps what it has.
@Suite struct NamedErrorTests {
  private func insert(_ title: String, into replica: Replica) async throws {
    try await replica.write { tx in _ = try tx.insert(Note(title: title)) }
  }

  @Test func aLogThatLostItsTailOnPurpose() async throws {
    let world = ReplicaWorld(2)
    var options = ReplicaWorld.options
    options.restoresTail = false
    try await world.openAll(options)
    for title in ["a", "b", "c"] { try await insert(title, into: world.replicas[0]) }
    world.log.loseTail(2)
    let error = await replicationError { try await insert("d", into: world.replicas[0]) }
    #expect(error?.code == .lostTail)
    #expect(await replicationError { try await world.replicas[0].catchUp() }?.code == .lostTail)
    #expect(world.replicas[0].status.failure?.code == .lostTail)
    #expect(world.replicas[0].store.token.number == 4)
    #expect(world.log.contents.last == 2)
    try await world.replicas[0].close()
    #expect(await replicationError { _ = try await world.open(0, options) }?.code == .lostTail)
  }

  @Test(arguments: [1, 2, 5]) func aLogThatWentAnotherWay(_ others: Int) async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[1].catchUp()
    let old = world.log.contents
    for title in ["c", "d"] { try await insert(title, into: world.replicas[0]) }
    world.log.restore(old)
    for index in 0..<others { try await insert("other \(index)", into: world.replicas[1]) }
    // Shorter than, as long as, and longer than what the first replica has.
    let error = await replicationError { try await insert("e", into: world.replicas[0]) }
    #expect(error?.code == .branched)
    #expect(error?.lastShared == 3)
    #expect(world.replicas[0].status.failure?.lastShared == 3)
    #expect(world.replicas[0].store.token.number == 5)
    #expect(world.log.contents.last == UInt64(3 + others))
    try await world.replicas[0].close()
    let again = await replicationError { _ = try await world.open(0) }
    #expect(again?.code == error?.code && again?.lastShared == error?.lastShared)
  }

  @Test func aRecordThatIsMissing() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    try await world.replicas[1].close()
    for title in ["a", "b", "c"] { try await insert(title, into: world.replicas[0]) }
    var contents = world.log.contents
    let whole = contents
    contents = try rewritten(whole) { $0.remove(at: 2) }
    world.log.restore(contents)
    #expect(await replicationError { _ = try await world.open(1) }?.code == .skipped)
    world.log.restore(try rewritten(whole) { $0.insert($0[2], at: 2) })
    #expect(await replicationError { _ = try await world.open(1) }?.code == .repeated)
    world.log.restore(whole)
    world.replicas[1] = try await world.open(1)
    try await world.expectEqual()
  }

  private func rewritten(
    _ contents: InMemorySharedLog.Contents, _ change: (inout [SharedRecord]) -> Void
  ) throws -> InMemorySharedLog.Contents {
    var result = contents
    change(&result.records)
    return result
  }

  @Test func aRecordThatIsDamagedOrNewer() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    try await insert("a", into: world.replicas[0])
    let whole = world.log.contents
    world.log.damage(2) { $0[60] ^= 1 }
    #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .damaged)
    world.log.restore(whole)
    world.log.damage(2) { $0 = [] }
    #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .damaged)
    world.log.restore(whole)
    let erased: [UInt8] = [3] + [UInt8](repeating: 7, count: 32)
    for bytes in [[3], erased, erased + [1], erased + erased + [1]] {
      world.log.damage(2) { $0 = bytes }
      #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .damaged)
      world.log.restore(whole)
    }
    world.log.damage(2) { $0[0] = 9 }
    #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .newerVersion)
    world.log.restore(whole)
    world.log.damage(2) { $0[5] = 2 }
    #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .newerVersion)
    world.log.restore(whole)
    try await world.expectEqual()
  }

  @Test func aLogOfAnotherStore() async throws {
    let (one, other) = (ReplicaWorld(1), ReplicaWorld(1, seed: 1_000))
    try await one.openAll()
    try await other.openAll()
    try await other.replicas[0].close()
    let error = await replicationError { _ = try await other.open(0, over: one.log) }
    #expect(error?.code == .otherStore)
    try await insert("a", into: one.replicas[0])
    let later = await replicationError { _ = try await other.open(0, over: one.log) }
    #expect(later?.code == .otherStore)
    // So it is for one that is no replica.
    let third = ReplicaWorld(1, seed: 2_000)
    try insertDirectly([], at: third.places[0])
    let found = await replicationError { _ = try await third.open(0, over: one.log) }
    #expect(found?.code == .otherStore)
    let records = one.log.contents.records
    let transaction = try PortableTransaction(decoding: Array(records[1].bytes.dropFirst()))
    let store = other.replicas[0].store
    let refusal = #expect(throws: ReplicationError.self) {
      try transaction.requireFollowing(1, transaction.previous, in: store.token.store)
    }
    #expect(refusal?.code == .otherStore)
  }

  @Test func aFileThatWasWrittenOtherwise() async throws {
    let world = ReplicaWorld(1)
    try await world.openAll()
    try await world.replicas[0].close()
    // Not without being told.
    let refusal = #expect(throws: AnnalsError.self) {
      try insertDirectly(["own"], at: world.places[0])
    }
    #expect(refusal?.code == .readOnly && refusal?.message.contains("is a replica") == true)
    try await world.open(0).close()
    try insertDirectly(["own"], at: world.places[0], leavesSharedLog: true)
    #expect(await replicationError { _ = try await world.open(0) }?.code == .notAReplica)
    let kept = try Store(world.places[0], records: Folder.self, Note.self)
    #expect(try kept.snapshot().count(of: Note.self) == 1)
  }

  /// A plain store that was open, and has written, before the file became a replica.
  @Test func aFileThatBecomesAReplicaMeanwhile() async throws {
    let world = ReplicaWorld(1, seed: 9_500)
    let plain = try Store(world.places[0], records: Folder.self, Note.self)
    try await plain.write { tx in _ = try tx.insert(Note(title: "own")) }
    var options = ReplicaWorld.options
    options.startsLog = true
    options.lease = nil
    world.replicas = [try await world.open(0, options)]
    try await insert("shared", into: world.replicas[0])
    let refusal = await #expect(throws: AnnalsError.self) {
      try await plain.write { tx in _ = try tx.insert(Note(title: "late")) }
    }
    #expect(refusal?.code == .readOnly)
    try await world.replicas[0].catchUp()
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 2)
  }

  @Test func aStateThatDiffers() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    try await insert("a", into: world.replicas[0])
    try await world.replicas[1].catchUp()
    let before = world.replicas[1].store.token
    for change in [Change.update("c"), .delete, .insertAgain, .schema] {
      let other = try await change.transaction()
      let error = #expect(throws: ReplicationError.self) {
        try commitDirectly(other, to: world.replicas[1].store)
      }
      #expect(error?.code == .diverged, "\(change): \(error?.message ?? "")")
      #expect(world.replicas[1].store.token == before)
    }
    try await world.replicas[1].write { tx in _ = try tx.insert(Note(title: "b")) }
    try await world.expectEqual()
  }

  /// What the third transaction of another store does, which fits no store with a note "a".
  private enum Change {
    case update(String)
    case delete
    case insertAgain
    case schema

    func transaction() async throws -> PortableTransaction {
      let world = ReplicaWorld(1)
      try await world.openAll()
      let replica = world.replicas[0]
      if case .insertAgain = self {
        try await replica.write { tx in _ = try tx.insert(Folder(name: "f")) }
        try await replica.write { tx in _ = try tx.insert(Note(title: "a")) }
      } else if case .schema = self {
        try await replica.require(Schema { Entity("Tag") { Attribute("name", .string) } })
        try await replica.write { tx in _ = try tx.insert("Tag", ["name": "x"]) }
      } else {
        let note = try await replica.write { tx in try tx.insert(Note(title: "z")) }
        try await replica.write { tx in
          if case .update(let title) = self {
            try tx.update(Note.self, note.objectID) { $0.title = title }
          } else {
            try tx.delete(note.objectID)
          }
        }
      }
      let record = world.log.contents.records[2]
      return try PortableTransaction(decoding: Array(record.bytes.dropFirst()))
    }
  }

  @Test func aLogThatWasTrimmed() async throws {
    let world = ReplicaWorld(3)
    world.replicas = [try await world.open(0), try await world.open(1)]
    for title in ["a", "b", "c"] { try await insert(title, into: world.replicas[0]) }
    try await world.log.trim(before: 4)
    #expect(await replicationError { try await world.replicas[1].catchUp() }?.code == .trimmed)
    #expect(await replicationError { _ = try await world.open(2) }?.code == .trimmed)
    try await insert("d", into: world.replicas[0])
    // A replica that is up to date does not need what was trimmed.
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0)
    try await world.replicas[0].putSnapshot()
    world.replicas[1] = try await world.open(2)
    try await world.expectEqual()
  }

  @Test func aLogThatCannotBeReached() async throws {
    let world = ReplicaWorld(1)
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(20)
    try await world.openAll(options)
    try await insert("a", into: world.replicas[0])
    world.log.isReachable = false
    let error = await replicationError { try await insert("b", into: world.replicas[0]) }
    #expect(error?.code == .unavailable)
    #expect(world.replicas[0].status.outage != nil)
    #expect(world.replicas[0].status.failure == nil)
    try await world.replicas[0].close()
    // To be read, it opens without the log.
    world.replicas[0] = try await world.open(0, options)
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 1)
    world.log.isReachable = true
    try await insert("c", into: world.replicas[0])
    #expect(world.replicas[0].status.outage == nil)
    #expect(world.replicas[0].store.token.number == 3)
    let new = ReplicaWorld(1, log: world.log)
    world.log.isReachable = false
    #expect(await replicationError { _ = try await new.open(0, options) }?.code == .unavailable)
  }

  @Test func anOutcomeThatIsNotKnown() async throws {
    let world = ReplicaWorld(2)
    let link = Link(world.log)
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(30)
    let replica = try await world.open(0, options, over: link)
    link.breakNext(.silence(1_000_000))
    let error = await replicationError { try await insert("a", into: replica) }
    #expect(error?.code == .outcomeUnknown)
    #expect(try replica.store.snapshot().count(of: Note.self) == 0)
    // It was taken: every replica gets it, once.
    world.replicas = [try await world.open(1)]
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 1)
  }

  @Test func aRecordThatIsNumberedWrong() async throws {
    let world = ReplicaWorld(1)
    let link = Link(world.log)
    let replica = try await world.open(0, over: link)
    link.breakNext(.wrongSequence)
    #expect(await replicationError { try await insert("a", into: replica) }?.code == .skipped)
  }

  @Test func whatNoRecordTakes() async throws {
    let world = ReplicaWorld(1, log: InMemorySharedLog(longestRecord: 100, longestPiece: 1_000))
    try await world.openAll()
    try await insert("a", into: world.replicas[0])
    let log = InMemorySharedLog(longestRecord: 30)
    let tiny = ReplicaWorld(1, log: log)
    #expect(await replicationError { _ = try await tiny.open(0) }?.code == .tooLarge)
  }

  @Test func othersAreAlwaysFaster() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(30)
    try await world.replicas[1].close()
    world.replicas[1] = try await world.open(1, options)
    let first = world.replicas[0]
    let error = await replicationError {
      try await world.replicas[1].write { tx in
        let isDone = DispatchSemaphore(value: 0)
        Task(executorPreference: ThreadPerJob()) {
          _ = try? await first.write { tx in try tx.insert(Note(title: "faster")) }
          isDone.signal()
        }
        isDone.wait()
        _ = try tx.insert(Note(title: "slower"))
      }
    }
    #expect(error?.code == .contended)
    try await world.expectEqual()
    let titles = try first.store.snapshot().objects(of: Note.self).map(\.value.title)
    #expect(!titles.isEmpty && Set(titles) == ["faster"])
  }

  @Test func aFileThatCannotTakeIt() async throws {
    let files = FaultyFileSystem()
    let log = InMemorySharedLog()
    // More than the space that the file has ahead.
    let long = String(repeating: "long ", count: 40_000)
    let place = StoreLocation(fileSystem: files, path: "/full.annals")
    let replica = try await Replica.open(
      place, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
      environment: .fixed())
    files.capacity = 0
    let error = await replicationError { try await insert(long, into: replica) }
    #expect(error?.code == .notInFile)
    #expect(try replica.store.snapshot().count(of: Note.self) == 0)
    #expect(log.contents.last == 2)
    // There is room again.
    files.capacity = .max
    try await insert("b", into: replica)
    let titles = try replica.store.snapshot().objects(of: Note.self).map(\.value.title)
    #expect(titles == [long, "b"])
  }

  @Test func aCallThatIsCancelled() async throws {
    let world = ReplicaWorld(1)
    try await world.openAll()
    let replica = world.replicas[0]
    world.log.isReachable = false
    let waiting = Task { try await insert("a", into: replica) }
    while replica.status.outage == nil { await Task.yield() }
    waiting.cancel()
    let error = await #expect(throws: AnnalsError.self) { try await waiting.value }
    #expect(error?.code == .cancelled)
    world.log.isReachable = true
    try await insert("b", into: replica)
    #expect(try replica.store.snapshot().objects(of: Note.self).map(\.value.title) == ["b"])
  }
}
