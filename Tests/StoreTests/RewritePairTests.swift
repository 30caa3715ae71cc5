import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import AnnalsTorture
import Foundation
import Testing

/// Two calls that rewrite or checkpoint one file, the second begun at some moment of the first: by
/// threads that share a store, or as two processes would.
///
/// A prune that had read the base before another's erasure wrote the erased values again, behind
/// the acknowledgement.
@Suite struct RewritePairTests {
  /// A call that may run beside another.
  enum Work: String, CaseIterable, Sendable {
    case erase, prune, compact, maintain, checkpoint, backup, schemaChange
  }

  private static let path = "/pair.annals"
  /// What each of the two may erase.
  private static let needles = ["n33dLe-one", "n33dLe-two"]

  /// A closed store: history in blocks and behind them, a checkpoint with a saved projection, a
  /// retention; what can be erased is in each of them.
  private static let prepared: ContiguousArray<UInt8>? = {
    let files = MemoryFileSystem()
    return try? make(in: files)
  }()

  private static func make(in files: MemoryFileSystem) throws -> ContiguousArray<UInt8> {
    let store = try noteStore(StoreLocation(fileSystem: files, path: path))
    store.register(NotesPerText.self)
    var victims: [ObjectID] = []
    for needle in needles { victims.append(try store.note(needle, text: needle)) }
    for number in 0..<30 {
      try store.note("n\(number)", text: "text \(number % 7)")
      try store.write { tx in
        let victim = number % 2
        let text = String(
          repeating: "\(needles[victim]) \(number) ", count: number % 9 == 0 ? 600 : 2)
        try tx.update(victims[victim], ["text": .string(text)])
      }
      if number == 15 { try store.compact() }
    }
    try store.setRetention(Retention(transactions: 25))
    try store.checkpoint()
    try store.close()
    return try files.contents(of: path)
  }

  /// Two stores on a copy of the file, or twice the same.
  private final class World: Sendable {
    let files = HookedFileSystem()
    let stores: [Store]
    private let callCount = Locked(0)

    init(sharing: Bool) throws {
      try files.put(try #require(RewritePairTests.prepared), at: RewritePairTests.path)
      let first = try World.open(files, seed: 2)
      stores = [first, sharing ? first : try World.open(files, seed: 3)]
    }

    static func open(_ files: HookedFileSystem, seed: UInt64) throws -> Store {
      var options = StoreOptions()
      options.lockTimeout = .seconds(60)
      let location = StoreLocation(fileSystem: files, path: RewritePairTests.path)
      let store = try noteStore(location, options: options, seed: seed)
      store.register(NotesPerText.self)
      return store
    }

    /// How often a call of the first store calls the file system.
    func callCount(of work: Work) throws -> Int {
      files.calling.withLock { $0 = { [self] _ in callCount.withLock { $0 += 1 } } }
      try perform(work, 0)
      return callCount.withLock { $0 }
    }

    /// The call of the store with this number.
    func perform(_ work: Work, _ number: Int) throws {
      let store = stores[number]
      switch work {
      case .erase:
        let object = ObjectID(
          store: RawUUID(store.id), entity: 1, row: Int64(number + 1))
        if number == 0 {
          try store.erase(object, reason: "r")
        } else {
          try store.erase(object, properties: ["id", "text"], reason: "r")
        }
      case .prune:
        try RewritePairTests.prune(store, before: Int64(40 + number * 8))
      case .compact: try store.compact(smallest: number == 1)
      case .maintain: try store.maintain(minimumGain: 0)
      case .checkpoint: try store.checkpoint()
      case .backup: try store.backup(to: "/copy \(number).annals")
      case .schemaChange:
        try store.require(Schema { Entity("Extra \(number)") { Attribute("x", .int64) } })
      }
    }
  }

  private static func prune(_ store: Store, before number: Int64) throws {
    try store.refresh()
    do {
      try store.prune(store.prunePlan(before: number))
    } catch {
      // The other one has pruned since the plan was made.
      guard error.code == .conflict else { throw error }
    }
  }

  /// How many moments of the first call are tried.
  private static func moments(_ first: Work, _ second: Work) -> Int {
    if isLong { return 60 }
    return [first, second].contains(.erase) ? 6 : 2
  }

  @Test(arguments: Work.allCases, [true, false])
  func besideEachOther(first: Work, sharing: Bool) throws {
    var random = SeededRandom(seed: 3)
    let rehearsal = try World(sharing: sharing)
    let calls = try rehearsal.callCount(of: first)
    for second in Work.allCases {
      for _ in 0..<RewritePairTests.moments(first, second) {
        let moment = random.below(max(1, calls))
        let place = "\(first) beside \(second) at \(moment), sharing \(sharing)"
        do {
          try run(first, second, at: moment, sharing: sharing, place)
        } catch {
          Issue.record("\(place): \(error)")
        }
      }
    }
  }

  /// The second call, which begins with some call of the first to the file system.
  private final class Meeting: Sendable {
    private let world: World
    private let work: Work
    private let moment: Int
    private let calls = Locked(0)
    private let result = Locked<Result<Void, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ world: World, _ work: Work, at moment: Int) {
      self.world = world
      self.work = work
      self.moment = moment
      world.files.calling.withLock { $0 = { [self] _ in noteCall() } }
    }

    /// Begins the second call if the first has come so far. It goes on when that is done, or has
    /// had time to get into its way.
    private func noteCall() {
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      if number == moment + 1 { begin() }
    }

    private func begin() {
      Thread.detachNewThread { [self] in
        let result = Result { try world.perform(work, 1) }
        self.result.withLock { $0 = result }
        ended.signal()
      }
      if ended.wait(timeout: .now() + .milliseconds(15)) == .success { ended.signal() }
    }

    /// Waits for the end of the second call; throws what it threw.
    func end() throws {
      let isBegun = calls.withLock { calls in
        defer { calls = .max - 1_000_000 }
        return calls > moment
      }
      if !isBegun { begin() }
      guard ended.wait(timeout: .now() + .seconds(120)) == .success else {
        throw Mismatch("the second call hangs")
      }
      world.files.calling.withLock { $0 = { _ in } }
      try result.withLock { $0 }?.get()
    }
  }

  private func run(
    _ first: Work, _ second: Work, at moment: Int, sharing: Bool, _ place: String
  ) throws {
    let world = try World(sharing: sharing)
    let meeting = Meeting(world, second, at: moment)
    try world.perform(first, 0)
    try meeting.end()
    for store in world.stores { try store.close() }
    try check(world, first, second, place)
  }

  private func check(
    _ world: World, _ first: Work, _ second: Work, _ place: String
  ) throws {
    let contents = try FileContents(world.files.open(RewritePairTests.path, for: .reading))
    for (work, needle) in zip([first, second], RewritePairTests.needles) {
      let isLeft = contents.count(of: needle) > 0
      #expect(isLeft == (work != .erase), "\(place): \(needle)")
    }
    let store = try World.open(world.files, seed: 4)
    let findings = try store.verify().filter { $0.severity != .note }
    #expect(findings.isEmpty, "\(place): \(findings)")
    #expect(
      try store.projection(NotesPerText.self) == NotesPerText.counted(store.snapshot()), "\(place)")
    #expect(try store.snapshot().count(of: "Note") == (first == .erase ? 31 : 32), "\(place)")
    for (number, work) in [first, second].enumerated() {
      if work == .schemaChange {
        #expect(store.schema.entity(named: "Extra \(number)") != nil, "\(place)")
      } else if work == .backup {
        let copy = StoreLocation(fileSystem: world.files, path: "/copy \(number).annals")
        let found = try Store(copy, creates: false).verify().filter { $0.severity != .note }
        #expect(found.allSatisfy { $0.message.contains("erased") }, "\(place): \(found)")
      }
    }
    let pruned = [first, second].contains { $0 == .prune || $0 == .maintain }
    #expect((store.base.number > 0) == pruned, "\(place)")
    try store.close()
  }
}
