import Annals
import AnnalsReplication
import AnnalsStorage
import Testing

/// What a replica reads of the log ahead of what it has committed.
@Suite struct ReadAheadTests {
  private static func world(notes count: Int) async throws -> ReplicaWorld {
    let world = ReplicaWorld(2)
    world.replicas = [try await world.open(0)]
    for number in 0..<count {
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "\(number)")) }
    }
    return world
  }

  private static var pagesOfFour: ReplicaOptions {
    var options = ReplicaWorld.options
    options.pageLength = 4
    return options
  }

  @Test func eachPageIsReadOnce() async throws {
    let world = try await ReadAheadTests.world(notes: 20)
    let link = Link(world.log)
    world.replicas.append(try await world.open(1, ReadAheadTests.pagesOfFour, over: link))
    let last = world.log.contents.last
    #expect(
      link.pages.withLock { $0.starts.filter { $0 <= last } }
        == Array(stride(from: UInt64(1), through: last, by: 4)))
    #expect(world.replicas[1].status.sequence == last)
    try await world.expectEqual()
  }

  @Test(arguments: [1, 5, 9, 17] as [UInt64])
  func aPageThatIsLostIsAskedForAgain(_ start: UInt64) async throws {
    let world = try await ReadAheadTests.world(notes: 20)
    let link = Link(world.log)
    link.pages.withLock { $0.lost = [start] }
    world.replicas.append(try await world.open(1, ReadAheadTests.pagesOfFour, over: link))
    let starts = link.pages.withLock { $0.starts }
    #expect(starts.filter { $0 == start }.count == 2)
    try await world.expectEqual()
  }

  /// What was read ahead is of no use once the file is further: here since another process that has
  /// it open, too, has caught up.
  @Test func whatWasReadAheadIsLeftWhereTheFileIsFurther() async throws {
    let world = try await ReadAheadTests.world(notes: 9)
    let link = Link(world.log)
    let here = try await world.open(1, ReadAheadTests.pagesOfFour, over: link)
    let there = try await world.open(1, ReadAheadTests.pagesOfFour)
    let start = world.log.contents.last + 1
    for number in 9..<18 {
      try await world.replicas[0].write { tx in _ = try tx.insert(Note(title: "\(number)")) }
    }
    try await there.catchUp()
    link.pages.withLock { $0.starts = [] }
    try await here.catchUp()
    #expect(link.pages.withLock { $0.starts } == [start, start + 4, start + 9])
    #expect(here.status.sequence == start + 8)
    world.replicas += [here, there]
    try await world.expectEqual()
  }
}
