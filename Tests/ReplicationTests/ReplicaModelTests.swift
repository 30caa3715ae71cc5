import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Three replicas do random work over a log with every fault. What was acknowledged is there once,
/// in its place; what was refused is not; and all states are equal at every number.
@Suite struct ReplicaModelTests {
  @Test(arguments: 0..<(isLong ? 200 : isSlow ? 4 : 12)) func random(_ seed: Int) async throws {
    var run = ModelRun(seed: UInt64(seed))
    do {
      try await run.work(steps: isLong ? 150 : 60)
      try await run.check()
      #expect(run.batched > 0, "seed \(seed)\n\(run.steps.joined(separator: "\n"))")
    } catch {
      Issue.record("seed \(seed): \(error)\n\(run.steps.joined(separator: "\n"))")
    }
  }

  /// Tasks of three replicas add to one number at the same time: none is lost, none counts twice.
  @Test func concurrentAdditions() async throws {
    let log = InMemorySharedLog(faults: .all(0.03, seed: 7))
    let world = ReplicaWorld(3, log: log)
    var options = ReplicaWorld.options
    options.follows = true
    try await world.openAll(options)
    let note = try await world.replicas[0].write { tx in try tx.insert(Note(title: "n")) }
    let count = isLong ? 200 : 25
    for replica in world.replicas { try await replica.catchUp() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for replica in world.replicas {
        for task in 0..<4 {
          group.addTask {
            for index in 0..<count {
              try await replica.write(author: "\(task)", metadata: ["i": .int(Int64(index))]) {
                tx in
                try tx.update(Note.self, note.objectID) { $0.count += 1 }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    log.faults = LogFaults()
    try await world.expectEqual()
    let found = try world.replicas[1].store.snapshot().object(Note.self, note.objectID)
    #expect(found?.value.count == 12 * count)
    #expect(log.contents.last == UInt64(12 * count + 2))
    #expect(world.replicas.reduce(0) { $0 + $1.batchCounts.batches } > 0)
  }
}

/// Counts from any task.
private final class Count: Sendable {
  private let number = Locked(0)
  var value: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}

/// One run of the model.
private struct ModelRun {
  let world: ReplicaWorld
  let seed: UInt64
  var random: SeededRandom
  /// What was done, to be told where it fails.
  var steps: [String] = []
  /// The numbers of the transactions that were acknowledged, by the mark that each has.
  var acknowledged: [Int64: Int64] = [:]
  var doubtful: Set<Int64> = []
  var refused: Set<Int64> = []
  /// The numbers of transactions that were acknowledged, and are in a branch since.
  var left: [Int64: Int64] = [:]
  var marks: Int64 = 0
  /// How many transactions were in batches, at least.
  var batched = 0
  /// How often a replica has taken a snapshot.
  private let got = Count()

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    let percent = [0.0, 0.05, 0.15, 0.3][Int(seed % 4)]
    world = ReplicaWorld(
      3,
      log: InMemorySharedLog(
        faults: .all(percent, seed: seed), longestRecord: 3_000, longestPiece: 2_500,
        memory: seed % 3 == 0 ? 0 : 100),
      seed: 500_000_000 + seed * 1_000_000)
  }

  /// Whether snapshots are put by a policy, and the log is trimmed.
  private var keeps: Bool { seed % 3 == 1 }

  var options: ReplicaOptions {
    var options = ReplicaWorld.options
    options.pageLength = 1 + Int(seed % 7)
    if keeps {
      // In some runs leases end while replicas are away.
      options.lease = .seconds(seed % 2 == 0 ? 86_400 : 20)
      options.snapshots = SnapshotPolicy(transactions: 6, trimming: LogKeep(transactions: 3))
      options.snapshots?.spread = .zero
      options.snapshotProgress = { [got] done, count in
        if done == count { got.add() }
      }
    }
    return options
  }

  mutating func work(steps count: Int) async throws {
    for index in 0..<3 { world.replicas.append(try await world.open(index, options)) }
    for _ in 0..<count {
      let index = random.below(3)
      switch random.below(20) {
      case 0:
        steps.append("\(index) catches up")
        try await world.replicas[index].catchUp()
      case 1: try await reopen(index)
      case 2: try await crash(index)
      case 3: try await loseTail()
      case 4 where keeps:
        steps.append("\(index) keeps the log")
        try await world.replicas[index].keepLog()
      case 4...8: try await writeTogether(index)
      default: try await write(index)
      }
    }
  }

  private mutating func reopen(_ index: Int) async throws {
    steps.append("\(index) is closed and opened")
    try await world.replicas[index].close()
    world.replicas[index] = try await world.open(index, options)
  }

  /// A process ends just after the log has taken its transaction.
  private mutating func crash(_ index: Int) async throws {
    steps.append("\(index) crashes")
    try await world.replicas[index].close()
    let link = Link(world.log)
    let doomed = try await world.open(index, options, over: link)
    link.breakNext(.endAfterAppending)
    marks += 1
    let mark = marks
    do {
      try await doomed.write(metadata: ["mark": .int(mark)]) { tx in
        _ = try tx.insert(Note(title: "crash \(mark)"))
      }
      acknowledged[mark] = doomed.store.token.number
    } catch {
      doubtful.insert(mark)
    }
    world.replicas[index] = try await world.open(index, options)
  }

  /// The log loses records, and gets them back from the replica that has come furthest, or is
  /// written to by one that knows no more: then the others leave their branches.
  private mutating func loseTail() async throws {
    let count = 1 + random.below(6)
    // A record stays that file and log have in common.
    let before = keeps ? world.log.contents.first : 0
    guard world.log.contents.last > before + UInt64(count) else { return }
    world.log.loseTail(count)
    let last = world.log.contents.last
    steps.append("the log loses \(count) records, and has \(last)")
    let sequences = world.replicas.map(\.status.sequence)
    let slow = sequences.indices.filter { sequences[$0] <= last }
    guard let writer = slow.randomElement(using: &random), random.chance(50) else {
      let furthest = sequences.indices.max { sequences[$0] < sequences[$1] } ?? 0
      try await world.replicas[furthest].catchUp()
      return
    }
    for (mark, number) in acknowledged where number > Int64(last) {
      acknowledged[mark] = nil
      left[mark] = number
    }
    doubtful = []
    steps.append("\(writer) writes meanwhile")
    marks += 1
    let mark = marks
    let commit = try await world.replicas[writer].commit(metadata: ["mark": .int(mark)]) { tx in
      try tx.insert(Note(title: "meanwhile \(mark)"))
    }
    acknowledged[mark] = commit.token.number
    // The newest snapshot may be one of what was lost.
    try await world.replicas[writer].keepLog()
    for index in sequences.indices where sequences[index] > last {
      try await world.replicas[index].close()
      var options = options
      options.onBranch = .keepBeside
      world.replicas[index] = try await world.open(index, options)
      let branch = world.replicas[index].status.leftBranches.last
      #expect(branch?.lastShared == Int64(last) && branch?.token.number == Int64(sequences[index]))
    }
  }

  /// What the branches have, by their marks.
  private func marksOfBranches() throws -> [Int64: Set<Int64>] {
    var found: [Int64: Set<Int64>] = [:]
    for (replica, place) in zip(world.replicas, world.places) {
      for branch in replica.status.leftBranches {
        var options = StoreOptions()
        options.isReadOnly = true
        let store = try Store(
          StoreLocation(fileSystem: place.fileSystem, path: branch.path), records: Folder.self,
          Note.self, options: options)
        try store.history().forEach { transaction in
          guard case .int(let mark) = transaction.metadata["mark"] else { return }
          found[mark, default: []].insert(transaction.number)
        }
        try store.close()
      }
    }
    return found
  }

  private mutating func write(_ index: Int) async throws {
    let replica = world.replicas[index]
    marks += 1
    let mark = marks
    let author = "author \(random.below(2))"
    let kind = random.below(12)
    var dice = SeededRandom(seed: random.next())
    steps.append("\(index) does \(kind), mark \(mark)")
    do {
      switch kind {
      case 10:
        let token = try await replica.undo(author: author, metadata: ["mark": .int(mark)]).token
        acknowledged[mark] = token.number
      case 11:
        let notes = try replica.store.snapshot().objects(of: Note.self)
        guard let note = notes.randomElement(using: &dice) else { return }
        let properties = dice.chance(50)
        if properties {
          try await replica.erase(note.objectID, properties: ["title"], reason: "\(mark)")
        } else {
          try await replica.erase([note.objectID], reason: "\(mark)")
        }
      default:
        let seed = dice.next()
        let commit = try await replica.commit(author: author, metadata: ["mark": .int(mark)]) {
          tx in
          var dice = SeededRandom(seed: seed)
          try tx.change(kind, mark, &dice)
        }
        if try isRecorded(mark, in: replica, at: commit.token) {
          acknowledged[mark] = commit.token.number
        } else {
          refused.insert(mark)
        }
      }
    } catch let error as AnnalsError
      where ModelRun.refusals.contains(error.code)
    {
      steps.append("  refused: \(error.message)")
      refused.insert(mark)
    }
  }

  /// Several tasks of one replica write at once.
  private mutating func writeTogether(_ index: Int) async throws {
    let replica = world.replicas[index]
    let count = 2 + random.below(7)
    let first = marks + 1
    marks += Int64(count)
    let kinds = (0..<count).map { _ in random.below(12) % 10 }
    let seeds = (0..<count).map { _ in random.next() }
    steps.append("\(index) does \(kinds) at once, marks from \(first)")
    let results = await withTaskGroup(of: (Int64, Result<Token, any Error>).self) { group in
      for place in 0..<count {
        let (kind, mark, seed) = (kinds[place], first + Int64(place), seeds[place])
        group.addTask {
          do {
            let commit = try await replica.commit(metadata: ["mark": .int(mark)]) { tx in
              var dice = SeededRandom(seed: seed)
              try tx.change(kind, mark, &dice)
            }
            return (mark, .success(commit.token))
          } catch {
            return (mark, .failure(error))
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for (mark, result) in results {
      do {
        let token = try result.get()
        if try isRecorded(mark, in: replica, at: token) {
          acknowledged[mark] = token.number
        } else {
          refused.insert(mark)
        }
      } catch let error as AnnalsError where ModelRun.refusals.contains(error.code) {
        steps.append("  \(mark) refused: \(error.message)")
        refused.insert(mark)
      }
    }
    batched += replica.batchCounts.transactions
  }

  /// What a write of the model may be refused with.
  private static let refusals: [AnnalsError.Code] = [
    .nothingToUndo, .conflict, .erased, .unsupported, .invalidChange, .noSuchObject,
  ]

  /// Whether the transaction at a position is the one with this mark; a write may come to nothing.
  private func isRecorded(_ mark: Int64, in replica: Replica, at token: Token) throws -> Bool {
    try replica.store.transaction(token.number).metadata["mark"] == .int(mark)
  }

  func check() async throws {
    if keeps {
      let contents = world.log.contents
      print(
        "seed \(seed): records \(contents.first) to \(contents.last), "
          + "\(got.value) snapshots taken")
    }
    world.log.faults = LogFaults()
    try await world.expectEqual("seed \(seed)")
    for replica in world.replicas {
      try expectRemade(replica, world.log, "seed \(seed)")
      var found: [Int64: Int64] = [:]
      try replica.store.history().forEach { transaction in
        guard case .int(let mark) = transaction.metadata["mark"] else { return }
        #expect(found[mark] == nil, "seed \(seed): mark \(mark) is there twice")
        found[mark] = transaction.number
      }
      for (mark, number) in acknowledged {
        #expect(found[mark] == number, "seed \(seed): mark \(mark) was acknowledged as \(number)")
      }
      for mark in left.keys { #expect(found[mark] == nil, "seed \(seed): mark \(mark) was left") }
      for mark in refused { #expect(found[mark] == nil, "seed \(seed): mark \(mark) was refused") }
      for mark in doubtful {
        #expect(found[mark] != nil, "seed \(seed): the log had taken mark \(mark)")
      }
    }
    let branches = try marksOfBranches()
    for (mark, number) in left {
      #expect(branches[mark]?.contains(number) == true, "seed \(seed): mark \(mark) is gone")
    }
    #expect(world.replicas[0].store.token.number == Int64(world.log.contents.last))
  }
}

extension WriteTransaction {
  /// One of the changes that the model makes.
  fileprivate func change(_ kind: Int, _ mark: Int64, _ dice: inout SeededRandom) throws {
    let notes = try objects(of: Note.self)
    let folders = try objects(of: Folder.self)
    switch kind {
    case 0: _ = try insert(Folder(name: "folder \(mark)"))
    case 1, 2, 3:
      var note = Note(title: "Note Ä\(mark)", count: dice.below(5))
      note.folder = folders.randomElement(using: &dice).map { Reference($0) }
      note.friends = notes.shuffled(using: &dice).prefix(3).map { Reference($0) }
      _ = try insert(note)
    case 4:
      guard let note = notes.randomElement(using: &dice) else { return }
      let length = [10, 5_000, 9_000].randomElement(using: &dice) ?? 10
      let byte = UInt8(truncatingIfNeeded: dice.next())
      let shared = dice.chance(30) ? notes.first?.objectID : nil
      try update(Note.self, note.objectID) { $0.image = Data(repeating: byte, count: length) }
      if let shared {
        try update(Note.self, shared) { $0.image = Data(repeating: byte, count: length) }
      }
    case 5:
      guard let folder = folders.randomElement(using: &dice), dice.chance(40) else { return }
      try delete(folder.objectID)
    case 6:
      guard let note = notes.randomElement(using: &dice) else { return }
      try delete(note.objectID)
    case 7:
      let name = "extra\(dice.below(4))"
      if schema.entity(named: "Note")?.attribute(named: name) == nil {
        try require(Schema { Entity("Note") { Attribute(name, .string) } })
        if let note = notes.randomElement(using: &dice) {
          try update(note.objectID, [name: .string("value \(mark)")])
        }
      } else {
        try require(Schema(), edits: [.removeProperty(entity: "Note", name)])
      }
    default:
      guard let note = notes.randomElement(using: &dice) else { return }
      let friends = notes.shuffled(using: &dice).prefix(dice.below(5)).map { Reference($0) }
      let folder = folders.randomElement(using: &dice).map { Reference($0) }
      try update(Note.self, note.objectID) {
        $0.count += 1
        $0.friends = friends
        $0.folder = folder
      }
    }
  }
}
