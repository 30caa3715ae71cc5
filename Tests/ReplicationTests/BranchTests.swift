import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// A replica whose transactions the log lost, and whose place others have taken: its file is kept
/// beside, and it goes on with the log's history.
@Suite struct BranchTests {
  private func insert(_ title: String, into replica: Replica) async throws {
    try await replica.write { tx in _ = try tx.insert(Note(title: title)) }
  }

  private func titles(_ store: Store) throws -> [String] {
    try store.snapshot().objects(of: Note.self).map(\.value.title)
  }

  private var options: ReplicaOptions {
    var options = ReplicaWorld.options
    options.onBranch = .keepBeside
    return options
  }

  /// The first replica has "a" to "d", the log "a", "b" and others; all replicas are closed.
  private func branched(
    _ others: Int, erasing: Bool = false, seed: UInt64 = 0
  ) async throws -> ReplicaWorld {
    let world = ReplicaWorld(2, seed: seed)
    try await world.openAll()
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[1].catchUp()
    let old = world.log.contents
    for title in ["c", "d"] { try await insert(title, into: world.replicas[0]) }
    if erasing {
      let note = try world.replicas[0].store.snapshot().objects(of: Note.self)[0]
      try await world.replicas[0].erase([note.objectID], reason: "asked")
    }
    world.log.restore(old)
    for index in 0..<others { try await insert("other \(index)", into: world.replicas[1]) }
    try await world.replicas[0].close()
    return world
  }

  @Test(arguments: [1, 2, 5], [false, true]) func theFileIsKeptBeside(
    _ others: Int, _ erasing: Bool
  ) async throws {
    let world = try await branched(others, erasing: erasing)
    let error = await replicationError { _ = try await world.open(0) }
    #expect(error?.code == .branched && error?.message.contains("onBranch") == true)
    world.replicas[0] = try await world.open(0, options)
    try await insert("e", into: world.replicas[0])
    try await world.expectEqual()
    let expected = ["a", "b"] + (0..<others).map { "other \($0)" } + ["e"]
    #expect(try titles(world.replicas[0].store) == expected)
    // The program is told, and again when it opens the replica the next time.
    let branch = try #require(world.replicas[0].status.leftBranches.first)
    #expect(branch.lastShared == 3 && branch.numbers == 4...(erasing ? 6 : 5))
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0)
    #expect(world.replicas[0].status.leftBranches == [branch])
    // The branch is an ordinary store.
    let place = StoreLocation(fileSystem: world.places[0].fileSystem, path: branch.path)
    #expect(branch.path.hasPrefix(world.places[0].path + ".branch-3-"))
    var reading = StoreOptions()
    reading.isReadOnly = true
    let kept = try Store(place, records: Folder.self, Note.self, options: reading)
    #expect(try titles(kept) == (erasing ? ["b", "c", "d"] : ["a", "b", "c", "d"]))
    #expect(kept.token == branch.token)
    #expect(try kept.verify().allSatisfy { $0.severity == .note })
    let shared = try #require(branch.lastShared)
    let lost = try kept.history(after: shared).collect(limit: 9)
    #expect(lost.map(\.number) == Array(branch.numbers))
    // What is wanted of it is written through the replica.
    for note in try kept.snapshot().objects(of: Note.self) where note.value.title == "c" {
      try await insert(note.value.title, into: world.replicas[0])
    }
    try await world.expectEqual()
    try kept.close()
    // Once the file is gone nothing tells of it.
    try await world.replicas[0].close()
    try place.fileSystem.remove(branch.path)
    world.replicas[0] = try await world.open(0)
    #expect(world.replicas[0].status.leftBranches.isEmpty)
  }

  /// The log has nothing of what the file could be compared with but a snapshot.
  @Test func aLogThatWasTrimmedBehindTheBranch() async throws {
    let world = try await branched(4, seed: 200_000)
    try await world.replicas[1].putSnapshot()
    try await world.log.trim(before: 7)
    let error = await replicationError { _ = try await world.open(0) }
    #expect(error?.code == .branched && error?.lastShared == nil)
    world.replicas[0] = try await world.open(0, options)
    #expect(world.replicas[0].status.leftBranches.map(\.lastShared) == [3])
    try await world.expectEqual()
  }

  @Test func aBranchOfABranch() async throws {
    let world = try await branched(1)
    world.replicas[0] = try await world.open(0, options)
    let old = world.log.contents
    try await insert("lost again", into: world.replicas[0])
    try await world.replicas[0].close()
    world.log.restore(old)
    try await insert("faster", into: world.replicas[1])
    world.replicas[0] = try await world.open(0, options)
    try await world.expectEqual()
    let branches = world.replicas[0].status.leftBranches
    #expect(branches.map(\.lastShared) == [3, 4])
    #expect(Set(branches.map(\.path)).count == 2)
  }

  @Test func anotherStoresLogIsNoBranch() async throws {
    let (one, other) = (ReplicaWorld(1), ReplicaWorld(1, seed: 1_000))
    try await one.openAll()
    try await other.openAll()
    try await insert("own", into: other.replicas[0])
    try await other.replicas[0].close()
    let before = try other.places[0].fileSystem.identity(of: other.places[0].path)
    let error = await replicationError {
      _ = try await other.open(0, options, over: one.log)
    }
    #expect(error?.code == .otherStore)
    #expect(try other.places[0].fileSystem.identity(of: other.places[0].path) == before)
    let files = other.places[0].fileSystem as? MemoryFileSystem
    #expect(files?.paths.count == 1, "\(files?.paths ?? [])")
    other.replicas[0] = try await other.open(0)
    #expect(try titles(other.replicas[0].store) == ["own"])
  }

  /// Who reads the old file goes on reading it.
  @Test func readersOfTheOldFile() async throws {
    let world = try await branched(2)
    var reading = StoreOptions()
    reading.isReadOnly = true
    let reader = try Store(world.places[0], records: Folder.self, Note.self, options: reading)
    let snapshot = reader.snapshot()
    world.replicas[0] = try await world.open(0, options)
    #expect(try snapshot.objects(of: Note.self).map(\.value.title) == ["a", "b", "c", "d"])
    #expect(try reader.transaction(5).number == 5)
    try await world.expectEqual()
  }

  /// The power fails at every point at which leaving a branch changes something on the disk.
  @Test func theFileOrTheBranchIsThereAfterAPowerCut() async throws {
    let whole = FaultyFileSystem()
    let start = try await leave(whole)
    let points = start..<whole.pointCount
    #expect(points.count > 20)
    var states = 0
    for point in stride(from: points.lowerBound, to: points.upperBound, by: isLong ? 1 : 2) {
      let files = FaultyFileSystem(seed: UInt64(point))
      let log = InMemorySharedLog()
      files.crash(at: point)
      _ = try await leave(files, log)
      #expect(files.hasCrashed)
      var survivors: [Survivor] = []
      files.forEachSurvivor(limit: isLong ? 8 : 2) { survivors.append($0) }
      for survivor in survivors {
        states += 1
        let comment = Comment(rawValue: survivor.description)
        let replica = try await open(survivor.files, log)
        #expect(try titles(replica.store) == ["a", "other"], comment)
        let branches = replica.status.leftBranches
        #expect(branches.count == 1, comment)
        let path = try #require(branches.first?.path, comment)
        let kept = try Store(
          StoreLocation(fileSystem: survivor.files, path: path), records: Folder.self, Note.self)
        #expect(try titles(kept) == ["a", "own"], comment)
        try kept.close()
        try await replica.close()
      }
    }
    print("\(points.count) points, \(states) states of the disk")
  }

  private func open(_ files: any FileSystem, _ log: InMemorySharedLog) async throws -> Replica {
    try await Replica.open(
      StoreLocation(fileSystem: files, path: "/replica.annals"), records: Folder.self, Note.self,
      log: log, options: options, environment: .fixed(seed: 3))
  }

  /// Makes a branch in these files, and leaves it, unless the power fails meanwhile. Returns at
  /// which point leaving began.
  private func leave(
    _ files: FaultyFileSystem, _ log: InMemorySharedLog = InMemorySharedLog()
  ) async throws -> Int {
    let replica = try await open(files, log)
    try await insert("a", into: replica)
    let other = try await Replica.open(
      .memory, records: Folder.self, Note.self, log: log, options: ReplicaWorld.options,
      environment: .fixed(seed: 4))
    let old = log.contents
    try await insert("own", into: replica)
    try await replica.close()
    log.restore(old)
    try await insert("other", into: other)
    try await other.close()
    let start = files.pointCount
    try? await open(files, log).close()
    return start
  }

  /// What waits in the outbox of a file that was left is handed over: its ids may mean other
  /// objects in the log's history. What was written on the history that both have is sent.
  @Test(arguments: [false, true]) func draftsOfABranch(_ isShared: Bool) async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    for title in ["a", "b"] { try await insert(title, into: world.replicas[0]) }
    try await world.replicas[1].catchUp()
    let old = world.log.contents
    func wait() async throws {
      world.log.isReachable = false
      let last = try #require(
        try world.replicas[0].store.snapshot().objects(of: Note.self).last?.objectID)
      _ = try await world.replicas[0].write(merging: .ownWins, offline: .outboxFirst) { tx in
        try tx.update(Note.self, last) { $0.title = "mine" }
      }
      world.log.isReachable = true
    }
    if isShared { try await wait() }
    if !isShared { try await insert("c", into: world.replicas[0]) }
    if !isShared { try await wait() }
    world.log.restore(old)
    try await insert("other", into: world.replicas[1])
    try await world.replicas[0].close()
    world.replicas[0] = try await world.open(0, options)
    let report = try await world.replicas[0].sendOutbox()
    #expect(report.sent.count == (isShared ? 1 : 0))
    #expect(report.conflicted?.conflict?.code == (isShared ? nil : .lostBranch))
    try await world.expectEqual()
    let expected = isShared ? ["a", "mine", "other"] : ["a", "b", "other"]
    #expect(try titles(world.replicas[0].store) == expected)
    guard let item = report.conflicted else { return }
    let pending = try await world.replicas[0].snapshot(including: .outbox)
    #expect(try pending.objects(of: Note.self).map(\.value.title) == expected)
    try await world.replicas[0].discard(item)
    #expect(world.replicas[0].status.outbox.count == 0)
  }
}
