import Annals
import AnnalsEngine
import AnnalsFaults
import AnnalsLog
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Writes of several tasks of one replica, which the log gets together.
@Suite(.deadline) struct BatchTests {
  /// Two replicas, the first of them behind a gate, and a note that both have.
  private func world(
    _ options: ReplicaOptions = ReplicaWorld.options, memory: Int = 1_000
  ) async throws -> (world: ReplicaWorld, gate: Gate, note: ObjectID) {
    let world = ReplicaWorld(2, log: InMemorySharedLog(longestRecord: 20_000, memory: memory))
    let gate = Gate(world.log)
    world.replicas = [try await world.open(0, options, over: gate), try await world.open(1)]
    let note = try await world.replicas[0].write { tx in try tx.insert(Note(title: "n")) }
    return (world, gate, note.objectID)
  }

  private func adding(_ note: ObjectID) -> Gate.Body {
    { tx in try tx.update(Note.self, note) { $0.count += 1 } }
  }

  private func count(_ replica: Replica, _ note: ObjectID) throws -> Int? {
    try replica.store.snapshot().object(Note.self, note)?.value.count
  }

  @Test func theyTravelTogetherAndInOrder() async throws {
    let files = FaultyFileSystem()
    let gate = Gate(InMemorySharedLog())
    let replica = try await Replica.open(
      StoreLocation(fileSystem: files, path: "/r.annals"), records: Folder.self, Note.self,
      log: gate, options: ReplicaWorld.options, environment: .fixed(seed: 3))
    let note = try await replica.write { tx in try tx.insert(Note(title: "n")) }.objectID
    let seen = Locked<[Int]>([])
    let before = Locked(0)
    let writes = (0..<20).map { _ in
      { @Sendable (tx: WriteTransaction) in
        // Each runs on the state with those before it.
        try tx.update(Note.self, note) { note in
          note.count += 1
          seen.withLock { [count = note.count] in $0.append(count) }
        }
      }
    }
    let results = try await gate.together(
      replica,
      writes.map { body in { try await replica.commit(author: "a", body).token.number } },
      meanwhile: { _ in before.withLock { $0 = files.callCount(.sync) } })
    let first = Int64(4)
    #expect(results.map(\.value) == (0..<20).map { first + Int64($0) })
    #expect(seen.withLock { $0 } == Array(1...20))
    #expect(gate.given == [20])
    #expect(replica.batchCounts.batches == 1 && replica.batchCounts.transactions == 20)
    // One for the write before, one for all of these.
    #expect(files.callCount(.sync) - before.withLock { $0 } == 2)
    #expect(try count(replica, note) == 20)
    #expect(try replica.store.history().collect(limit: 99).count == 23)
  }

  @Test func whatIsRefusedLeavesTheOthersAlone() async throws {
    let (world, gate, note) = try await world()
    struct Stop: Error {}
    let add = adding(note)
    let results = try await gate.together(
      world.replicas[0],
      writes: [
        add,
        { tx in
          try add(tx)
          throw Stop()
        }, { tx in _ = try tx.insert(Folder(name: "a")) }, { _ in },
        { tx in _ = try tx.insert(Folder(name: "a")) }, add,
      ])
    #expect(results.map(\.value) == [4, nil, 5, 6, nil, 6])
    #expect(results[1].error is Stop)
    #expect((results[4].error as? AnnalsError)?.code == .invalidChange)
    #expect(gate.given == [3])
    #expect(world.log.contents.last == 6)
    #expect(try count(world.replicas[0], note) == 2)
    try await world.expectEqual()
  }

  @Test func whatRestsOnWhatTheLogDidNotTakeCountsForNothing() async throws {
    let (world, gate, _) = try await world()
    let other = world.replicas[1]
    gate.breakNext(
      .slower { _ = try? await other.write { tx in _ = try tx.insert(Folder(name: "b")) } })
    let runs = Locked(0)
    let results = try await gate.together(
      world.replicas[0],
      writes: [
        { tx in
          // Only until the other replica's folder is known.
          runs.withLock { $0 += 1 }
          if try tx.objects(of: Folder.self).isEmpty { _ = try tx.insert(Folder(name: "a")) }
        }, { tx in _ = try tx.insert(Folder(name: "a")) },
        { tx in _ = try tx.insert(Note(title: "x")) },
      ])
    #expect(results.map(\.value) == [4, 5, 6])
    #expect(runs.withLock { $0 } == 2)
    #expect(gate.given == [2, 2])
    try await world.expectEqual()
  }

  /// Whatever the log has taken, told, or gets late: each addition is there once, in order.
  @Test(arguments: [0, 1_000]) func answersThatDoNotCome(memory: Int) async throws {
    let faults: [Gate.Fault] =
      (0...5).flatMap { taken in
        (0...taken).map { Gate.Fault.silence(taken: taken, told: $0) }
          + [.lateArrival(taken: taken), .outage(taken: taken, calls: 0)]
          + [.outage(taken: taken, calls: 3)]
      }
    for fault in faults {
      let (world, gate, note) = try await world(memory: memory)
      gate.breakNext(fault)
      let add = adding(note)
      let results = try await gate.together(
        world.replicas[0], writes: Array(repeating: add, count: 5))
      #expect(results.map(\.value) == [4, 5, 6, 7, 8], "\(fault)")
      #expect(world.log.contents.last == 8, "\(fault)")
      #expect(try count(world.replicas[0], note) == 5, "\(fault)")
      try await world.expectEqual("\(fault)")
    }
  }

  /// Others write behind what the log has taken of a batch without saying so.
  @Test(arguments: 0...5, [0, 1_000])
  func othersWriteBehindAPart(_ taken: Int, memory: Int) async throws {
    let (world, gate, note) = try await world(memory: memory)
    let other = world.replicas[1]
    gate.breakNext(
      .silence(taken: taken, told: 0),
      .slower { _ = try? await other.write { tx in _ = try tx.insert(Folder(name: "b")) } })
    let add = adding(note)
    let results = try await gate.together(
      world.replicas[0], writes: Array(repeating: add, count: 5))
    let numbers = results.compactMap(\.value)
    // The log has the first ones, then that of the other, then the rest.
    #expect(numbers == (0..<5).map { 4 + Int64($0) + ($0 < taken ? 0 : 1) })
    #expect(world.log.contents.last == 9)
    #expect(try count(world.replicas[0], note) == 5)
    try await world.expectEqual()
  }

  @Test func whatTheLogLostGoesBackBeforeABatch() async throws {
    let (world, gate, note) = try await world(memory: 0)
    gate.breakNext(.slower { gate.log.loseTail(2) })
    let add = adding(note)
    let results = try await gate.together(world.replicas[0], writes: [add, add, add])
    #expect(results.map(\.value) == [4, 5, 6])
    #expect(world.replicas[0].status.restored?.count == 2)
    try await world.expectEqual()
  }

  @Test func eachHasItsOwnError() async throws {
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(60)
    for (fault, codes, kept) in [
      (Gate.Fault.outage(taken: 2, calls: .max), [nil, nil, "unavailable"], 2),
      (.silence(taken: 3, told: 1), [nil, "outcomeUnknown", "outcomeUnknown"], 3),
      (.refusal, ["refused", nil, nil], 2),
    ] as [(Gate.Fault, [String?], Int)] {
      let (world, gate, note) = try await world(options)
      gate.breakNext(fault)
      if case .silence = fault { gate.breakNext(.outage(taken: 0, calls: .max)) }
      let add = adding(note)
      let results = try await gate.together(world.replicas[0], writes: [add, add, add])
      let found = results.map { ($0.error as? ReplicationError)?.code.description }
      #expect(found == codes, "\(fault)")
      #expect(world.log.contents.last == UInt64(3 + kept), "\(fault)")
    }
  }

  @Test func contendedByTheDeadline() async throws {
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(1)
    let (world, gate, note) = try await world(options)
    let other = world.replicas[1]
    let slower = Gate.Fault.slower {
      try? await Task.sleep(for: .milliseconds(3))
      _ = try? await other.write { tx in _ = try tx.insert(Note(title: "other")) }
    }
    gate.breakNext(slower, slower, slower)
    let add = adding(note)
    let results = try await gate.together(world.replicas[0], writes: [add, add, add])
    let found = results.map { ($0.error as? ReplicationError)?.code.description }
    #expect(found == ["contended", "contended", "contended"])
    try await world.expectEqual()
    #expect(try count(other, note) == 0)
  }

  @Test func whoIsCancelledBeforeTheLogIsAskedRecordsNothing() async throws {
    let (world, gate, note) = try await world()
    let replica = world.replicas[0]
    let add = adding(note)
    let canceller = Locked<Task<Int64, any Error>?>(nil)
    let bodies: [Gate.Body] = [
      add, add,
      { tx in
        try add(tx)
        // While the batch is made, the one before is cancelled.
        canceller.withLock { $0?.cancel() }
      }, add,
    ]
    let results = try await gate.together(
      replica,
      bodies.map { body in { try await replica.commit(author: "a", body).token.number } },
      meanwhile: { tasks in
        tasks[0].cancel()
        canceller.withLock { $0 = tasks[1] }
      })
    #expect(results.map(\.value) == [nil, nil, 4, 5])
    for result in results.prefix(2) { #expect((result.error as? AnnalsError)?.code == .cancelled) }
    #expect(world.log.contents.last == 5)
    #expect(try count(replica, note) == 2)
  }

  @Test func whatCannotBeInABatchGoesAlone() async throws {
    let (world, gate, note) = try await world()
    let replica = world.replicas[0]
    let add = adding(note)
    let basis = replica.store.token
    let write: @Sendable (@escaping Gate.Body) -> @Sendable () async throws -> Int64 = { body in
      { try await replica.commit(author: "a", body).token.number }
    }
    let long = String(repeating: "long ", count: 5_000)
    let results = try await gate.together(
      replica,
      [
        write(add), write(add),
        write { tx in
          try add(tx)
          try tx.require(Schema { Entity("Note") { Attribute("extra", .string) } })
        },
        write(add),
        write { tx in
          try tx.update(
            note, ["extra": .string("e"), "image": .data(.init(repeating: 7, count: 9_000))])
        },
        write(add),
        { try await replica.undo(author: "b").token.number },
        {
          try await replica.commit(basedOn: basis, merging: .ownWins) { tx in
            try tx.update(Note.self, note) { $0.title = "merged" }
          }.token.number
        },
        write(add), write(add),
        write { tx in _ = try tx.insert(Note(title: long)) },
        write(add),
      ])
    let errors: [AnnalsError.Code?] = results.map { ($0.error as? AnnalsError)?.code }
    #expect(errors.compactMap { $0 } == [.nothingToUndo] && errors[6] != nil)
    #expect(results.compactMap(\.value) == (4...14).map { Int64($0) })
    let found = try replica.store.snapshot().object(Note.self, note)?.value
    #expect(found?.count == 8 && found?.title == "merged" && found?.image?.count == 9_000)
    #expect(gate.given.reduce(0, +) >= 6, "\(gate.given)")
    try await world.expectEqual()
  }

  @Test func aBatchHasItsBounds() async throws {
    let (world, gate, note) = try await world()
    let add = adding(note)
    var results = try await gate.together(
      world.replicas[0], writes: Array(repeating: add, count: 300))
    #expect(results.map(\.value) == (4..<304).map { Int64($0) })
    #expect(gate.given == [256, 44])
    let title = String(repeating: "t", count: 4_000)
    results = try await gate.together(
      world.replicas[0],
      writes: (0..<255).map { _ in
        { tx in
          for _ in 0..<2 { _ = try tx.insert(Note(title: title, key: title)) }
        }
      })
    #expect(results.allSatisfy { $0.value != nil })
    let last = Array(gate.given.dropFirst(2))
    #expect(last.count > 1 && last.reduce(0, +) == 255, "\(last)")
  }

  @Test func aClockThatGoesBackLeavesTheOrder() async throws {
    let gate = Gate(InMemorySharedLog())
    let replica = try await Replica.open(
      .memory, records: Folder.self, Note.self, log: gate, options: ReplicaWorld.options,
      environment: .fixed(step: -300_000, seed: 3))
    let note = try await replica.write { tx in try tx.insert(Note(title: "n")) }.objectID
    let results = try await gate.together(
      replica, writes: Array(repeating: adding(note), count: 12))
    #expect(results.allSatisfy { $0.value != nil })
    let dates = try replica.store.history().collect(limit: 99).map(\.timestamp)
    let back = zip(dates, dates.dropFirst()).count { $0 > $1 }
    // The smaller steps are evened out; the others are marked.
    #expect(back > 0 && back < 12)
    #expect(try replica.store.verify().allSatisfy { $0.severity != .error })
    #expect(replica.store.version.view.clockJumps == Int64(back), "\(dates)")
  }

  @Test func theFileCannotTakeWhatTheLogHas() async throws {
    let files = FaultyFileSystem()
    let gate = Gate(InMemorySharedLog())
    let replica = try await Replica.open(
      StoreLocation(fileSystem: files, path: "/r.annals"), records: Folder.self, Note.self,
      log: gate, options: ReplicaWorld.options, environment: .fixed(seed: 3))
    gate.breakNext(.slower { files.capacity = 0 })
    // More than the space that the file has ahead.
    let insert: Gate.Body = { tx in
      var dice = SeededRandom(seed: 5)
      for _ in 0..<120 {
        let title = (0..<180).map { _ in String(dice.next(), radix: 16) }.joined()
        _ = try tx.insert(Note(title: title))
      }
    }
    let results = try await gate.together(replica, writes: [insert, insert])
    let codes = results.map { ($0.error as? ReplicationError)?.code.description }
    #expect(codes == ["notInFile", "notInFile"])
    #expect(gate.log.contents.last == 4)
    files.capacity = .max
    try await replica.catchUp()
    #expect(try replica.store.snapshot().count(of: Note.self) == 241)
  }
}
