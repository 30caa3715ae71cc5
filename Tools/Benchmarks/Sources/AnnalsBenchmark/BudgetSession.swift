import Annals
import Foundation
import Measuring
import Synchronization
import Workload

/// Small pieces of work whose instructions are counted: `Tools/Benchmarks/budgets` runs each once
/// with its count and once with 0, and the difference is what the work takes.
///
/// What a phase needs beside the work is done with a count of 0, too. The store is small, so that a
/// simulated processor goes through it in seconds, but larger than the caches that it simulates.
struct BudgetSession {
  /// The phases, by name.
  static let phases: [String: @Sendable (BudgetSession) throws -> Void] = [
    "commit-typed": { try $0.commit(.typed, exclusive) },
    "commit-dynamic": { try $0.commit(.dynamic, exclusive) },
    "commit-durable": { try $0.commit(.typed, durable) },
    "bulk": { try $0.bulk() },
    "set": { try $0.setTitles { store, body in try store.write { try body($0) } } },
    "edit": { try $0.editTitles() },
    "open": { try $0.open() },
    "replay": { try $0.replay() },
    "as-of": { try $0.readPast() },
    "history": { try $0.readHistory() },
    "first-page": { try $0.fetchPages() },
    "open-page": { try $0.openPages() },
    "all-objects": { try $0.readObjects() },
    "live-step": { session in try AnnalsBenchmark.wait { try await session.step() } },
    "prune": { try $0.prune() },
  ]

  let folder: String
  let count: Int
  let workload = Workload(posts: 20_000, operations: 4_000)
  let clock = WorkloadClock()

  /// The store of the workload, closed; and the same without a checkpoint.
  private var posts: String { folder + "/posts.annals" }
  private var sealed: String { folder + "/sealed.annals" }
  /// A copy of `posts` that a phase may change, and a store that it makes.
  private var copy: String { folder + "/copy.annals" }
  private var new: String { folder + "/new.annals" }

  init(_ folder: String, _ options: Options) throws {
    self.folder = folder
    count = try options.number("count", 0)
  }

  /// Runs a phase, or makes what they need.
  func run(_ name: String) throws {
    if name == "prepare" { return try prepare() }
    guard let phase = Self.phases[name] else {
      throw Failure("no phase \(name); there are: \(Self.phases.keys.sorted())")
    }
    try phase(self)
  }

  /// Makes the stores that the phases read, and copies for those that write.
  private func prepare() throws {
    clock.set(workload.bulkTime)
    let store = try Store(
      path: posts, records: PostRecord.self, options: .deferred,
      environment: Self.environment(clock))
    var writer = PostWriter(form: .typed, capacity: workload.lastObject)
    try store.write(author: Vocabulary.authors[2], context: Vocabulary.contexts[1]) { tx in
      for post in workload.posts { try writer.insert(post, tx) }
    }
    try perform(workload.operations[...], &writer, store)
    try store.checkpoint()
    try store.close()
    try FileManager.default.copyItem(atPath: posts, toPath: copy)
    try FileManager.default.copyItem(atPath: posts, toPath: sealed)
    let compacting = try Store(path: sealed, records: PostRecord.self)
    try compacting.compact(smallest: true)
    try compacting.close()
  }

  // MARK: Phases

  private func commit(_ form: Form, _ options: StoreOptions) throws {
    let small = Workload(posts: 5_000, operations: 4_000)
    clock.set(small.bulkTime)
    let store = try Store(
      path: new, records: PostRecord.self, options: options,
      environment: Self.environment(clock))
    var writer = PostWriter(form: form, capacity: small.lastObject)
    try store.write { tx in for post in small.posts { try writer.insert(post, tx) } }
    try perform(small.operations.prefix(count), &writer, store)
    leaveOpen(store)
  }

  private func perform(
    _ operations: ArraySlice<Workload.Operation>, _ writer: inout PostWriter, _ store: Store
  ) throws {
    for operation in operations {
      clock.set(operation.time)
      try store.write(
        author: Vocabulary.authors[operation.author],
        context: Vocabulary.contexts[operation.context]
      ) { tx in try writer.perform(operation, tx) }
    }
  }

  private func bulk() throws {
    let store = try Store(
      path: new, records: PostRecord.self, options: .deferred,
      environment: Self.environment(clock))
    var writer = PostWriter(form: .typed, capacity: count)
    try store.write { tx in
      for post in workload.posts.prefix(count) { try writer.insert(post, tx) }
    }
    leaveOpen(store)
  }

  /// Sets a property of so many objects in one transaction.
  private func setTitles(
    _ write: (Store, (WriteTransaction) throws -> Void) throws -> Void
  ) throws {
    let store = try Store(
      path: copy, records: PostRecord.self, options: Self.exclusive,
      environment: Self.environment(clock))
    let ids = try store.snapshot().objectIDs(Fetch(PostRecord.self)).prefix(count)
    try write(store) { tx in
      for (number, id) in ids.enumerated() {
        try tx.set(\PostRecord.title, of: id, to: "A title of its own, \(number)")
      }
    }
    leaveOpen(store)
  }

  /// The same by an editing context, as one edit that is then saved.
  private func editTitles() throws {
    try setTitles { store, body in
      let context = try EditingContext(store)
      try context.edit { tx in try body(tx) }
      try context.save()
    }
  }

  /// Lets the process end with an open store: closing it may write a checkpoint.
  private func leaveOpen(_ store: Store) {
    _ = Unmanaged.passRetained(store)
  }

  private func open() throws {
    for _ in 0..<count {
      let store = try Store(path: posts, records: PostRecord.self)
      Sink.consume(UInt64(try store.snapshot().count(of: PostRecord.self)))
      try store.close()
    }
  }

  private func replay() throws {
    for _ in 0..<count {
      let store = try Store(path: sealed, records: PostRecord.self, options: .readOnly)
      try expect(
        "objects", store.snapshot().count(of: PostRecord.self), is: workload.liveCount)
      try store.close()
    }
  }

  private func readPast() throws {
    let store = try Store(path: posts, records: PostRecord.self, options: .readOnly)
    let first = try store.snapshot(at: RunSession.bulkNumber)
    try expect("objects", first.count(of: PostRecord.self), is: workload.posts.count)
    for round in 0..<count {
      let number = RunSession.bulkNumber + Int64(workload.operations.count) / 2 - Int64(round)
      Sink.consume(UInt64(try store.snapshot(at: number).count(of: PostRecord.self)))
    }
  }

  private func readHistory() throws {
    let store = try Store(path: posts, records: PostRecord.self, options: .readOnly)
    let newest = store.token.number
    try store.history(after: newest - Int64(count)).forEach { transaction in
      for change in transaction.changes {
        for property in change.properties { Sink.consume(property.after == .null ? 0 : 1) }
      }
    }
  }

  private func fetchPages() throws {
    let store = try Store(path: posts, records: PostRecord.self, options: .readOnly)
    let page = Fetch(PostRecord.self).sorted(by: \.timestamp, .descending).limit(200)
    let snapshot = store.snapshot()
    try expect("rows", snapshot.fetch(page).count, is: 200)
    for _ in 0..<count {
      for post in try snapshot.fetch(page) { Sink.consume(post.timestamp) }
    }
  }

  /// The first page of a store that was just opened: nothing of it is in memory yet.
  private func openPages() throws {
    let page = Fetch(PostRecord.self).sorted(by: \.timestamp, .descending).limit(200)
    for _ in 0..<count {
      let store = try Store(path: posts, records: PostRecord.self, options: .readOnly)
      try expect("rows", store.snapshot().fetch(page).count, is: 200)
      try store.close()
    }
  }

  private func readObjects() throws {
    let store = try Store(path: posts, records: PostRecord.self, options: .readOnly)
    let snapshot = store.snapshot()
    try expect("objects", snapshot.count(of: PostRecord.self), is: workload.liveCount)
    for _ in 0..<count {
      for post in try snapshot.objects(of: PostRecord.self) { Sink.consume(post.timestamp) }
    }
  }

  private func step() async throws {
    let store = try Store(
      path: copy, records: PostRecord.self, options: Self.exclusive,
      environment: Self.environment(clock))
    let view = store.live(Fetch(PostRecord.self).sorted(by: \.timestamp, .descending))
    var iterator = view.makeAsyncIterator()
    var rows = try await iterator.next()?.rows.count
    let ids = try store.snapshot().objectIDs(Fetch(PostRecord.self))
    for round in 0..<count {
      try moveDates(of: ids, round, store)
      rows = try await iterator.next()?.rows.count
    }
    try expect("rows", rows, is: workload.liveCount)
    try store.close()
  }

  /// Moves some dates, far apart, in one transaction.
  private func moveDates(of ids: [ObjectID], _ round: Int, _ store: Store) throws {
    try store.write { tx in
      for number in 0..<Self.datesInStep {
        let place = (round * Self.datesInStep + number) * 7_919 % workload.posts.count
        let date = Date(microseconds: workload.posts[place].timestamp + 1_000_003)
        try tx.set(\PostRecord.timestamp, of: ids[place], to: date)
      }
    }
  }

  private func prune() throws {
    let store = try Store(
      path: copy, records: PostRecord.self, environment: Self.environment(clock))
    try expect("objects", store.snapshot().count(of: PostRecord.self), is: workload.liveCount)
    if count > 0 {
      let floor = RunSession.bulkNumber + Int64(workload.operations.count) / 2
      try store.prune(store.prunePlan(before: floor))
    }
    try store.close()
  }

  private static let datesInStep = 100

  /// They hold the lock: how long a shared one is held depends on the time.
  private static let durable: StoreOptions = {
    var options = StoreOptions()
    options.lockMode = .exclusive
    return options
  }()
  private static let exclusive: StoreOptions = {
    var options = durable
    options.durability = .deferred
    return options
  }()

  /// The same random numbers in each run.
  private static func environment(_ clock: WorkloadClock) -> StoreEnvironment {
    var environment = clock.environment
    let random = RepeatedRandom()
    environment.random = { random.next() }
    return environment
  }
}

/// Random numbers, the same in each run.
private final class RepeatedRandom: Sendable {
  private let state = Atomic<UInt64>(42)

  func next() -> UInt64 {
    var mixed = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
