import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A log is trimmed to what a snapshot has, and what every replica and blocking consumer has
/// passed.
@Suite struct TrimTests {
  private let none = LogKeep(transactions: 0)

  @Test func withoutASnapshotNothingIsDropped() async throws {
    let keeping = KeepingWorld(1)
    keeping.replicas = [try await keeping.open(0)]
    try await keeping.write(5)
    let trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.count == 0 && trim.first == 1 && trim.holds.map(\.cause) == [.noSnapshot])
  }

  @Test func whatIsToBeKept() async throws {
    let keeping = KeepingWorld(1)
    keeping.replicas = [try await keeping.open(0)]
    try await keeping.write(10)
    try await keeping.replicas[0].putSnapshot()
    var trim = try await keeping.replicas[0].trim(keeping: LogKeep(transactions: 6))
    #expect(trim.first == 6 && trim.count == 5 && trim.snapshot == 11)
    #expect(trim.holds.map(\.cause) == [.kept] && trim.holds[0].sequence == 5)
    // The record of the snapshot itself stays.
    trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 11 && trim.count == 5 && trim.holds.isEmpty)
    #expect(keeping.log.contents.first == 11 && keeping.replicas[0].status.upkeep.trim == trim)
    trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 11 && trim.count == 0)
  }

  @Test func whatIsYoungIsKept() async throws {
    let keeping = KeepingWorld(1)
    keeping.replicas = [try await keeping.open(0)]
    for _ in 0..<10 {
      keeping.wait(3_600)
      try await keeping.write(1)
    }
    try await keeping.replicas[0].putSnapshot()
    // Of the ten, the newest three are at most 2.5 hours old.
    let keep = LogKeep(transactions: 0, age: .seconds(9_000))
    #expect(try await keeping.replicas[0].trim(keeping: keep).first == 9)
    keeping.wait(3_600)
    #expect(try await keeping.replicas[0].trim(keeping: keep).first == 10)
    keeping.wait(86_400)
    #expect(try await keeping.replicas[0].trim(keeping: keep).first == 11)
  }

  /// A replica holds the log for as long as its lease runs, and takes a snapshot after that.
  @Test func aReplicaThatIsAway() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1)]
    try await keeping.write(3)
    try await keeping.catchUp(1)
    try await keeping.write(6)
    try await keeping.replicas[0].putSnapshot()
    var trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 5 && trim.holds.count == 1)
    guard case .replica(let replica) = trim.holds.first?.cause else {
      Issue.record("\(trim.holds)")
      return
    }
    #expect(replica.name == "1" && replica.sequence == 4 && replica.passed == 4)
    #expect("\(trim.holds[0])" == "replica 1, which has record 4")
    // Something waits in its outbox meanwhile.
    let link = Link(keeping.log)
    link.isAway = true
    try await keeping.replicas[1].close()
    var impatient = KeepingWorld.options()
    impatient.deadline = .milliseconds(1)
    keeping.replicas[1] = try await keeping.open(1, impatient, over: link)
    try await keeping.replicas[1].write(offline: .outboxFirst) { tx in
      _ = try tx.insert(Note(title: "draft"))
    }
    keeping.wait(86_300)
    #expect(try await keeping.replicas[0].trim(keeping: none).count == 0)
    keeping.wait(101)
    trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 10 && trim.holds.isEmpty)
    #expect(try await keeping.log.objects(beginning: "replica/").count == 2)
    try await keeping.replicas[1].close()
    keeping.replicas[1] = try await keeping.open(1)
    #expect(try await keeping.replicas[1].sendOutbox().sent.count == 1)
    try await keeping.world.expectEqual()
    let kept = try keeping.replicas[0].store.snapshot().objects(of: Note.self)
    #expect(kept.filter { $0.value.title == "draft" }.count == 1)
    // It counts again.
    try await keeping.write(3)
    try await keeping.replicas[0].putSnapshot()
    #expect(try await keeping.replicas[0].trim(keeping: none).first == 11)
  }

  @Test(arguments: [0, 1]) func aBlockingConsumer(_ owner: Int) async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1)]
    try await keeping.write(9)
    for index in 0..<2 { try await keeping.catchUp(index) }
    let store = keeping.replicas[owner].store
    let position = try store.version.snapshot(at: 6).token
    _ = try store.consumer("slow", startingAfter: store.version.snapshot(at: 2).token)
    let feed = try store.consumer(
      "feed", blocking: true, lease: .seconds(7_000), startingAfter: position)
    keeping.wait(5_000)
    try await keeping.catchUp(owner)
    // Nothing new makes it register: what its consumer needs does.
    try await keeping.replicas[0].putSnapshot()
    var trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 7 && trim.holds.count == 1)
    #expect("\(trim.holds[0])" == "consumer `feed` of replica \(owner), which has read record 6")
    try feed.advance(to: store.version.snapshot(at: 8).token)
    try await keeping.catchUp(owner)
    trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 9)
    // Its lease ends, and its replica says so.
    keeping.wait(8_000)
    try await keeping.catchUp(owner)
    trim = try await keeping.replicas[0].trim(keeping: none)
    #expect(trim.first == 10 && trim.holds.isEmpty)
    #expect(try feed.history().collect(limit: 99).map(\.number) == [9, 10])
  }

  /// A snapshot of a branch that lost is none to trim behind, or to start from.
  @Test func aSnapshotOfABranch() async throws {
    let keeping = KeepingWorld(3)
    keeping.replicas = [try await keeping.open(0), try await keeping.open(1)]
    try await keeping.write(4)
    try await keeping.replicas[1].catchUp()
    let before = keeping.log.contents
    try await keeping.write(3)
    try await keeping.replicas[0].putSnapshot()
    let snapshot = try #require(try await keeping.log.objects(beginning: "snapshot/").first)
    let pieces = try await keeping.log.pieces(0..<snapshot.pieceCount, of: snapshot)
    keeping.log.restore(before)
    for (index, piece) in pieces.enumerated() {
      try await keeping.log.put(piece, at: index, of: snapshot.name)
    }
    try await keeping.log.complete(snapshot)
    try await keeping.write(6, 1)
    let trim = try await keeping.replicas[1].trim(keeping: none)
    #expect(trim.count == 0 && trim.holds.map(\.cause) == [.noSnapshot])
    keeping.replicas = [keeping.replicas[1], try await keeping.open(2)]
    try await keeping.world.expectEqual()
  }

  /// Transactions that are objects go with their records.
  @Test func objectsGoWithTheirRecords() async throws {
    let keeping = KeepingWorld(2, log: InMemorySharedLog(longestRecord: 1_000, longestPiece: 700))
    keeping.replicas = [try await keeping.open(0)]
    for count in 0..<4 {
      try await keeping.replicas[0].write { tx in
        _ = try tx.insert(Note(title: "x", image: Data(repeating: 7, count: count * 999)))
      }
    }
    let objects = try await keeping.log.objects(beginning: "transaction/").count
    #expect(objects > 2)
    try await keeping.replicas[0].putSnapshot()
    try await keeping.replicas[0].trim(keeping: none)
    #expect(try await keeping.log.objects(beginning: "transaction/").count == 1)
    keeping.replicas.append(try await keeping.open(1))
    try await keeping.write(1)
    try await keeping.world.expectEqual()
  }

  /// A registration that is not seen, or comes too late, costs a snapshot and nothing else.
  @Test func aRegistrationThatIsNotSeen() async throws {
    let keeping = KeepingWorld(2)
    keeping.replicas = [try await keeping.open(0)]
    try await keeping.write(5)
    keeping.replicas.append(try await keeping.open(1))
    let position = try keeping.replicas[1].store.version.snapshot(at: 2).token
    _ = try keeping.replicas[1].store.consumer("feed", blocking: true, startingAfter: position)
    let id = try #require(keeping.replicas[1].status.upkeep.registration?.id)
    try await keeping.replicas[1].close()
    let object = try #require(
      try await keeping.log.objects(beginning: "replica/\(id)").first)
    try await keeping.log.remove(object: object.name)
    try await keeping.write(4)
    try await keeping.replicas[0].putSnapshot()
    try await keeping.write(1)
    // It registers just now, and whoever trims is told of what there was before.
    try await keeping.log.complete(object)
    keeping.log.faults.staleListing = 1
    #expect(try await keeping.replicas[0].trim(keeping: none).first == 10)
    keeping.log.faults = LogFaults()
    keeping.replicas[1] = try await keeping.open(1)
    try await keeping.world.expectEqual()
    let feed = try keeping.replicas[1].store.consumer("feed")
    #expect(try feed.history().collect(limit: 99).count == 9)
  }

  @Test func aLogThatIsAway() async throws {
    let keeping = KeepingWorld(1)
    var options = KeepingWorld.options()
    options.deadline = .milliseconds(5)
    keeping.replicas = [try await keeping.open(0, options)]
    try await keeping.write(5)
    try await keeping.replicas[0].putSnapshot()
    keeping.log.isReachable = false
    #expect(await replicationError { try await keeping.replicas[0].trim() }?.code == .unavailable)
    keeping.log.isReachable = true
    #expect(try await keeping.replicas[0].trim(keeping: none).first == 6)
  }
}
