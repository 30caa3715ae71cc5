import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsTestSupport
import Foundation
import Testing

/// Three replicas work over a log with every fault, and each is cut off now and then. Each write
/// that was acknowledged, or that waits, is in the end committed once, in the order of its replica,
/// or was handed over and discarded; and all states are equal.
@Suite struct OutboxModelTests {
  @Test(arguments: 0..<(isLong ? 200 : isSlow ? 4 : 12)) func random(_ seed: Int) async throws {
    var run = OfflineRun(seed: UInt64(seed))
    do {
      try await run.work(steps: isLong ? 150 : 60)
      try await run.end()
      try await run.check()
    } catch {
      Issue.record("seed \(seed): \(error)\n\(run.steps.joined(separator: "\n"))")
    }
  }
}

/// One run of the model.
private struct OfflineRun {
  let world: ReplicaWorld
  let links: [Link]
  let seed: UInt64
  var random: SeededRandom
  /// What was done, to be told where it fails.
  var steps: [String] = []
  /// The marks of the writes that were acknowledged or wait, of each replica, in order.
  var kept: [[Int64]] = [[], [], []]
  /// The numbers of those that were acknowledged at once.
  var acknowledged: [Int64: Int64] = [:]
  /// The marks of drafts, by their ids.
  var drafts: [UUID: Int64] = [:]
  var discarded: Set<Int64> = []
  /// Those that came to nothing as their policy lets stored deletions stand.
  var dropped: Set<Int64> = []
  var refused: Set<Int64> = []
  var doubtful: Set<Int64> = []
  var conflicts = 0
  var marks: Int64 = 0

  init(seed: UInt64) {
    self.seed = seed
    random = SeededRandom(seed: seed)
    let percent = [0.0, 0.03, 0.1][Int(seed % 3)]
    world = ReplicaWorld(
      3,
      log: InMemorySharedLog(
        faults: .all(percent, seed: seed), longestRecord: 3_000, longestPiece: 2_500,
        memory: seed % 2 == 0 ? 0 : 100))
    links = (0..<3).map { [log = world.log] _ in Link(log) }
  }

  /// How a replica is opened: it does nothing by itself, and gives up soon.
  private var options: ReplicaOptions {
    var options = ReplicaWorld.options
    options.deadline = .milliseconds(3)
    return options
  }

  mutating func work(steps count: Int) async throws {
    for index in 0..<3 {
      var patient = options
      patient.deadline = .seconds(36_000)
      let replica = try await world.open(index, patient, over: links[index])
      try await replica.close()
      world.replicas.append(try await world.open(index, options, over: links[index]))
    }
    for _ in 0..<count {
      let index = random.below(3)
      switch random.below(20) {
      case 0, 1, 2:
        links[index].isAway.toggle()
        steps.append("\(index) is \(links[index].isAway ? "away" : "back")")
      case 3, 4: await send(index)
      case 5: try await reopen(index)
      case 6: try await crash(index)
      case 7, 8: try await decide(index)
      default: try await write(index)
      }
    }
  }

  private mutating func reopen(_ index: Int) async throws {
    steps.append("\(index) is closed and opened")
    try await world.replicas[index].close()
    try await open(index)
  }

  private mutating func open(_ index: Int) async throws {
    world.replicas[index] = try await world.open(index, options, over: links[index])
  }

  /// A process ends just after the log has taken what it sent.
  private mutating func crash(_ index: Int) async throws {
    guard !links[index].isAway else { return }
    steps.append("\(index) crashes")
    try await world.replicas[index].close()
    let link = Link(world.log)
    let doomed = try await world.open(index, options, over: link)
    link.breakNext(.endAfterAppending)
    let waiting = try await doomed.outboxItems()
    _ = try? await doomed.sendOutbox()
    try await open(index)
    // Nobody was told what came to nothing.
    let items = Set(try await world.replicas[index].outboxItems().map(\.id))
    for item in waiting where item.policy == .storedWins && !items.contains(item.id) {
      if let mark = drafts[item.id] { dropped.insert(mark) }
    }
  }

  /// Notes which drafts came to nothing, and expects that the program was told why.
  private mutating func note(_ report: OutboxReport) {
    for sent in report.sent where sent.token == nil {
      #expect(!sent.conflicts.isEmpty, "seed \(seed): \(sent.item.number) was lost")
      if let mark = drafts[sent.item.id] { dropped.insert(mark) }
      steps.append("  \(sent.item.number) came to nothing: \(sent.conflicts)")
    }
  }

  private mutating func send(_ index: Int) async {
    do {
      let report = try await world.replicas[index].sendOutbox()
      steps.append("\(index) sends \(report.sent.count)")
      note(report)
    } catch {
      steps.append("\(index) cannot send: \(error)")
    }
  }

  private mutating func write(_ index: Int) async throws {
    let replica = world.replicas[index]
    marks += 1
    let mark = marks
    let (kind, seed) = (random.below(8), random.next())
    let policy: MergePolicy? = [nil, .storedWins, .ownWins, .error][random.below(4)]
    let way: OfflineWriting = random.chance(20) ? .outboxFirst : .outbox
    steps.append("\(index) does \(kind), mark \(mark), \(policy?.rawValue ?? "-")")
    do {
      let write = try await replica.write(
        author: "author \(index)", metadata: ["mark": .int(mark)], merging: policy, offline: way
      ) { tx in
        var dice = SeededRandom(seed: seed)
        try tx.change(kind, mark, &dice)
      }
      kept[index].append(mark)
      switch write {
      case .committed(let commit): acknowledged[mark] = commit.token.number
      case .waiting(let item, _):
        drafts[item.id] = mark
        steps.append("  it waits")
      }
    } catch let error as AnnalsError
      where [.conflict, .erased, .invalidChange, .noSuchObject].contains(error.code)
    {
      steps.append("  refused: \(error.message)")
      refused.insert(mark)
    } catch let error as ReplicationError where error.code == .contended {
      refused.insert(mark)
    } catch let error as ReplicationError where error.code == .outcomeUnknown {
      steps.append("  in doubt")
      doubtful.insert(mark)
    }
  }

  /// The program decides about a draft in conflict. Returns whether there was one.
  @discardableResult
  private mutating func decide(_ index: Int, mustEnd: Bool = false) async throws -> Bool {
    let replica = world.replicas[index]
    guard let item = try await replica.outboxItems().first(where: { $0.conflict != nil }) else {
      return false
    }
    conflicts += 1
    steps.append("\(index) decides about \(item.number): \(item.conflict?.message ?? "")")
    if !mustEnd, random.chance(60) {
      try await replica.retry(item, merging: [.ownWins, .storedWins, .overwrite][random.below(3)])
      return true
    }
    do {
      guard try await replica.discard(item) == nil else { return true }
      steps.append("  discarded")
      if let mark = drafts[item.id] { discarded.insert(mark) }
    } catch let error as ReplicationError
      where [.unavailable, .outcomeUnknown].contains(error.code)
    {
      steps.append("  not discarded: \(error.message)")
    }
    return true
  }

  /// All come back, and send what waits.
  mutating func end() async throws {
    steps.append("the end")
    world.log.faults = LogFaults()
    for link in links { link.isAway = false }
    for index in 0..<3 {
      while true {
        let report = try await world.replicas[index].sendOutbox()
        note(report)
        if report.conflicted == nil { break }
        try await decide(index, mustEnd: true)
      }
      #expect(world.replicas[index].status.outbox.count == 0)
    }
  }

  func check() async throws {
    try await world.expectEqual("seed \(seed)")
    for replica in world.replicas {
      var found: [Int64: Int64] = [:]
      try replica.store.history().forEach { transaction in
        guard case .int(let mark) = transaction.metadata["mark"] else { return }
        #expect(found[mark] == nil, "seed \(seed): mark \(mark) is there twice")
        found[mark] = transaction.number
      }
      for (mark, number) in acknowledged { #expect(found[mark] == number, "seed \(seed)") }
      for mark in refused { #expect(found[mark] == nil, "seed \(seed): \(mark) was refused") }
      for mark in discarded { #expect(found[mark] == nil, "seed \(seed): \(mark) was discarded") }
      for marks in kept {
        let left = marks.filter { !discarded.contains($0) }
        let numbers = left.map { found[$0] }
        let missing = left.contains { found[$0] == nil && !dropped.contains($0) }
        #expect(!missing, "seed \(seed): \(marks) are \(numbers)\n\(steps.joined(separator: "\n"))")
        let order = numbers.compactMap { $0 }
        #expect(order == order.sorted(), "seed \(seed): \(marks) are in another order, \(order)")
      }
    }
    let waited = drafts.count
    print("seed \(seed): \(waited) waited, \(conflicts) conflicts, \(discarded.count) discarded")
  }
}

extension WriteTransaction {
  /// One of the changes that the model makes; each inserts a note, so that it is never nothing.
  fileprivate func change(_ kind: Int, _ mark: Int64, _ dice: inout SeededRandom) throws {
    let notes = try objects(of: Note.self)
    let folders = try objects(of: Folder.self)
    var new = Note(title: "note \(mark)")
    switch kind {
    case 0:
      // The others may choose the same key.
      let name = "folder \(dice.below(6))"
      if !folders.contains(where: { $0.value.name == name }) {
        new.folder = Reference(try insert(Folder(name: name)))
      }
    case 1:
      new.folder = folders.randomElement(using: &dice).map { Reference($0) }
      new.friends = notes.shuffled(using: &dice).prefix(3).map { Reference($0) }
    case 2:
      if let note = notes.randomElement(using: &dice) {
        let byte = UInt8(truncatingIfNeeded: dice.next())
        try update(note) { $0.image = Data(repeating: byte, count: 6_000) }
      }
    case 3: if let folder = folders.randomElement(using: &dice) { try delete(folder.objectID) }
    case 4: if let note = notes.randomElement(using: &dice) { try delete(note.objectID) }
    default:
      if let note = notes.randomElement(using: &dice) {
        let friends = notes.shuffled(using: &dice).prefix(dice.below(5)).map { Reference($0) }
        let folder = folders.randomElement(using: &dice).map { Reference($0) }
        try update(note) {
          $0.count += 1
          $0.friends = friends
          $0.folder = folder
        }
      }
    }
    _ = try insert(new)
  }
}
