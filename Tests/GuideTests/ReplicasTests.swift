import Annals
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

#if JetStream
  import AnnalsJetStream
#endif

private struct Post: Record {
  var title: String
  var likes: Int
  static let entity = RecordEntity(
    "Post", Post.init, Property("title", \.title), Property("likes", \.likes))
}

/// The code of *Many replicas of one store*.
@Suite struct ReplicasTests {
  @Test func twoReplicas() async throws {
    let folder = try TemporaryFolder()
    let (herePath, therePath) = (folder.path("here.annals"), folder.path("there.annals"))
    let log = InMemorySharedLog()
    let here = try await Replica.open(path: herePath, records: Post.self, log: log)
    let there = try await Replica.open(path: therePath, records: Post.self, log: log)
    let fog = try await here.write(author: "ann") { tx in
      try tx.insert(Post(title: "Fog", likes: 0))
    }
    try await there.catchUp()
    let posts = try there.store.snapshot().objects(of: Post.self)
    print(posts.map(\.value.title), posts[0].objectID == fog.objectID)  // ["Fog"] true
    #expect(posts.map(\.value.title) == ["Fog"] && posts[0].objectID == fog.objectID)
    let position = here.store.token
    let seen = try await there.snapshot(notBefore: position)
    print(try seen.count(of: Post.self), seen.token >= position)  // 1 true
    #expect(try seen.count(of: Post.self) == 1 && seen.token >= position)
    for replica in [here, there, here] {
      try await replica.write(author: "ann") { tx in
        try tx.update(Post.self, fog.objectID) { $0.likes += 1 }
      }
    }
    try await here.catchUp()
    print(try here.store.snapshot().objects(of: Post.self)[0].value.likes)  // 3
    #expect(try here.store.snapshot().objects(of: Post.self)[0].value.likes == 3)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...20 {
        group.addTask {
          try await here.write(author: "bob") { tx in
            _ = try tx.insert(Post(title: "Post \(number)", likes: 0))
          }
        }
      }
      try await group.waitForAll()
    }
    print(try here.store.snapshot().count(of: Post.self))  // 21
    #expect(try here.store.snapshot().count(of: Post.self) == 21)
    try await there.undo(author: "ann")
    print(try there.store.snapshot().objects(of: Post.self)[0].value.likes)  // 2
    #expect(try there.store.snapshot().objects(of: Post.self)[0].value.likes == 2)
    let form = try EditingContext(there.store, author: "ann")
    try form.object(Post.self, fog.objectID)?.title = "Fog at noon"
    try await there.save(form)
    #expect(try there.store.snapshot().objects(of: Post.self)[0].value.title == "Fog at noon")
    try await there.close()
    var impatient = ReplicaOptions()
    impatient.deadline = .milliseconds(10)
    log.isReachable = false
    let again = try await Replica.open(
      path: therePath, records: Post.self, log: log, options: impatient)
    print(try again.store.snapshot().count(of: Post.self), again.status.outage ?? "-")
    do {
      try await again.write { tx in try tx.delete(fog.objectID) }
    } catch let error as ReplicationError where error.code == .unavailable {
      print(error.message)
    }
    #expect(again.status.outage != nil)
    #expect(try again.store.snapshot().count(of: Post.self) == 21)
    for replica in [here, again] { try await replica.close() }
  }

  @Test func aStoreWithAHistory() async throws {
    let folder = try TemporaryFolder()
    let (oldPath, copyPath) = (folder.path("old.annals"), folder.path("copy.annals"))
    try Store.with(path: oldPath, records: Post.self) { store in
      _ = try store.write { tx in try tx.insert(Post(title: "Old", likes: 7)) }
    }
    var options = ReplicaOptions()
    options.startsLog = true
    let second = InMemorySharedLog()
    let origin = try await Replica.open(
      path: oldPath, records: Post.self, log: second, options: options)
    let copy = try await Replica.open(path: copyPath, records: Post.self, log: second)
    print(try copy.store.snapshot().objects(of: Post.self).map(\.value.title))  // ["Old"]
    #expect(try copy.store.snapshot().objects(of: Post.self).map(\.value.title) == ["Old"])
    #expect(
      try folder.names() == [
        "copy.annals", "copy.annals.replica", "old.annals", "old.annals.replica",
      ])
    for replica in [origin, copy] { try await replica.close() }
  }

  @Test func aLogThatStaysSmall() async throws {
    let folder = try TemporaryFolder()
    let keeperPath = folder.path("keeper.annals")
    let log = InMemorySharedLog()
    var keeping = ReplicaOptions()
    keeping.snapshots = SnapshotPolicy(
      transactions: 10_000, trimming: LogKeep(transactions: 5_000, age: .seconds(7 * 86_400)))
    let keeper = try await Replica.open(
      path: keeperPath, records: Post.self, log: log, options: keeping)
    for number in 0..<4 {
      try await keeper.write { tx in try tx.insert(Post(title: "\(number)", likes: 0)) }
    }
    try await keeper.putSnapshot()
    let trim = try await keeper.trim(keeping: LogKeep(transactions: 0))
    print(trim.first, trim.holds.first.map { "\($0)" } ?? "-")  // 5 -
    #expect(trim.first == 5 && trim.holds.isEmpty)
    try await keeper.close()
  }

  @Test func aLostTailAndABranch() async throws {
    let folder = try TemporaryFolder()
    let (herePath, therePath) = (folder.path("here.annals"), folder.path("there.annals"))
    let log = InMemorySharedLog()
    var quiet = ReplicaOptions()
    quiet.follows = false
    let here = try await Replica.open(
      path: herePath, records: Post.self, log: log, options: quiet)
    try await here.write { tx in try tx.insert(Post(title: "Fog", likes: 0)) }
    log.loseTail(1)
    try await here.catchUp()
    print(here.status.restored?.count ?? 0)  // 1
    #expect(here.status.restored?.count == 1 && log.contents.last == 2)
    let there = try await Replica.open(path: therePath, records: Post.self, log: log)
    let before = log.contents
    try await there.write { tx in try tx.insert(Post(title: "Lost", likes: 0)) }
    try await there.close()
    log.restore(before)
    try await here.write { tx in try tx.insert(Post(title: "Taken", likes: 0)) }
    var leaving = ReplicaOptions()
    leaving.onBranch = .keepBeside
    let rejoined = try await Replica.open(
      path: therePath, records: Post.self, log: log, options: leaving)
    let branch = rejoined.status.leftBranches[0]
    print(branch.numbers.count)  // 1
    #expect(branch.numbers == 3...3 && branch.lastShared == 2)
    let titles = try rejoined.store.snapshot().objects(of: Post.self).map(\.value.title)
    #expect(titles == ["Fog", "Taken"])
    var reading = StoreOptions()
    reading.isReadOnly = true
    let lost = try Store(path: branch.path, records: Post.self, options: reading)
    for transaction in try lost.history(after: branch.lastShared ?? 0).collect(limit: 100) {
      print(transaction.number, transaction.author ?? "-")
    }
    #expect(try lost.snapshot().objects(of: Post.self).map(\.value.title) == ["Fog", "Lost"])
    #expect(try folder.names().count == 6)
    try lost.close()
    for replica in [here, rejoined] { try await replica.close() }
  }

  @Test func faults() async throws {
    let faulty = InMemorySharedLog(faults: .all(0.1, seed: 7))
    let tested = try await Replica.open(.memory, records: Post.self, log: faulty)
    for number in 1...20 {
      try await tested.write { tx in try tx.insert(Post(title: "\(number)", likes: 0)) }
    }
    print(try tested.store.snapshot().count(of: Post.self))  // 20
    #expect(try tested.store.snapshot().count(of: Post.self) == 20)
    try await tested.close()
  }
}

#if JetStream
  extension ReplicasTests {
    /// Compiled, and run by JetStreamTests on servers of their own.
    private func overJetStream(_ path: String) async throws -> Replica {
      var options = JetStreamOptions(servers: ["nats://10.0.0.1:4222"], stream: "books")
      options.opening = .creating
      options.replicas = 3
      let log = try await JetStreamLog.connect(options)
      let replica = try await Replica.open(path: path, records: Post.self, log: log)
      return replica
    }
  }
#endif
