import Annals
import Foundation
import Measuring
import Workload

/// Phases 15 to 17: the cost of what follows the commits of a store: a sorted live view of 100,000
/// rows, a consumer, a projection.
///
/// The store is in memory, or a file without syncs. The figures are medians of single commits and
/// steps, in microseconds.
struct LiveSession {
  private let setup: Setup
  private let path: String
  private let workload: Workload
  private let options: Options
  private let count: Int
  private var recorder: Recorder { setup.recorder }

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    self.options = options
    workload = Workload(posts: try options.number("posts", 100_000), operations: 0)
    count = try options.number("operations", 3_000)
  }

  func run() async throws {
    unlink(path)
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    let ids = try insert(workload.posts.count, store)
    let parts = options.list("phases") ?? ["view", "consumer", "projection"]
    if parts.contains("view") { try await measureView(store, ids) }
    if parts.contains("consumer") { try measureConsumer(store, ids) }
    if parts.contains("projection") { try measureProjection(store, ids) }
    try store.close()
  }

  /// Inserts the first posts of the workload in one transaction.
  private func insert(_ count: Int, _ store: Store) throws -> [ObjectID] {
    var ids: [ObjectID] = []
    try store.write { tx in
      for post in workload.posts[..<count] { ids.append(try tx.insert(PostRecord(post)).objectID) }
    }
    return ids
  }

  private func moveMany(
    _ random: inout SystemRandomNumberGenerator, _ ids: [ObjectID], _ store: Store
  ) throws {
    try store.write { tx in
      for _ in 0..<1_000 { try move(&random, ids, tx, by: 1e6) }
    }
  }

  /// The kind of change in a round, one object per transaction.
  private enum Kind: String, CaseIterable {
    case title = "a title"
    case date = "a far date"
    case near = "a near date"
    case insert = "an insert"
    case delete = "a delete"
  }

  private func measureView(_ store: Store, _ ids: [ObjectID]) async throws {
    let view = store.live(Fetch(PostRecord.self).sorted(by: \.timestamp, .descending))
    var random = SystemRandomNumberGenerator()
    let kinds = options.list("kinds")
    for kind in Kind.allCases where kinds?.contains(kind.rawValue) ?? true {
      var alone: [Int64] = []
      var beside: [Int64] = []
      var steps: [Int64] = []
      for _ in 0..<5 {
        var inserted: [ObjectID] = []
        if kind == .delete {
          inserted = try insert(2 * count / 5, store)
        }
        for _ in 0..<count / 5 {
          try timed(&alone) { try change(kind, store, ids, &inserted, &random) }
        }
        var iterator = view.makeAsyncIterator()
        var rows = try await iterator.next()?.rows.count
        for _ in 0..<count / 5 {
          let start = LiveSession.now()
          try change(kind, store, ids, &inserted, &random)
          let middle = LiveSession.now()
          let update = try await iterator.next()
          let end = LiveSession.now()
          beside.append(middle - start)
          steps.append(end - middle)
          rows = update?.rows.count
        }
        try expect("rows of the view", rows, is: try store.snapshot().count(of: PostRecord.self))
      }
      median("15 commit of \(kind.rawValue), no view", alone)
      median("15 commit of \(kind.rawValue) beside a view", beside)
      median("15 step of a view for \(kind.rawValue)", steps)
    }
    var iterator = view.makeAsyncIterator()
    _ = try await iterator.next()
    var steps: [Int64] = []
    for _ in 0..<50 {
      try moveMany(&random, ids, store)
      let start = LiveSession.now()
      _ = try await iterator.next()
      steps.append(LiveSession.now() - start)
    }
    median("15 step of a view for 1,000 dates, a date", steps, per: 1_000)
  }

  private func change(
    _ kind: Kind, _ store: Store, _ ids: [ObjectID], _ inserted: inout [ObjectID],
    _ random: inout SystemRandomNumberGenerator
  ) throws {
    switch kind {
    case .title:
      let id = ids[Int.random(in: 0..<ids.count, using: &random)]
      let title = Vocabulary.titles[Int.random(in: 0..<10, using: &random)] + "!\(inserted.count)"
      try store.write { tx in try tx.set(\PostRecord.title, of: id, to: title) }
      inserted.append(id)
    case .date: try store.write { tx in try move(&random, ids, tx, by: 1e6) }
    case .near: try store.write { tx in try move(&random, ids, tx, by: 1) }
    case .insert:
      var post = PostRecord(workload.posts[Int.random(in: 0..<ids.count, using: &random)])
      post.timestamp += Double.random(in: -1e6..<1e6, using: &random)
      _ = try store.write { tx in try tx.insert(post) }
    case .delete:
      guard let id = inserted.popLast() else { return }
      try store.write { tx in try tx.delete(id) }
    }
  }

  private func move(
    _ random: inout SystemRandomNumberGenerator, _ ids: [ObjectID], _ tx: WriteTransaction,
    by distance: Double
  ) throws {
    let place = Int.random(in: 0..<ids.count, using: &random)
    let date = Date(microseconds: workload.posts[place].timestamp)
    try tx.set(
      \PostRecord.timestamp, of: ids[place],
      to: date + Double.random(in: -distance..<distance, using: &random))
  }

  /// Measures commits of one title without a consumer, with a registered one, and with one that
  /// advances after each commit.
  private func measureConsumer(_ store: Store, _ ids: [ObjectID]) throws {
    var random = SystemRandomNumberGenerator()
    var titles: [ObjectID] = []
    var alone: [Int64] = []
    var registered: [Int64] = []
    var following: [Int64] = []
    var advances: [Int64] = []
    var pairs: [Int64] = []
    for _ in 0..<5 {
      for _ in 0..<count {
        try timed(&alone) { try change(.title, store, ids, &titles, &random) }
      }
      let consumer = try store.consumer("benchmark")
      for _ in 0..<count {
        try timed(&registered) { try change(.title, store, ids, &titles, &random) }
      }
      for _ in 0..<count {
        let token = store.token
        let start = LiveSession.now()
        try consumer.advance(to: token)
        let middle = LiveSession.now()
        try change(.title, store, ids, &titles, &random)
        let end = LiveSession.now()
        advances.append(middle - start)
        following.append(end - middle)
        pairs.append(end - start)
      }
      try store.removeConsumer("benchmark")
    }
    median("16 commit of a title, no consumer", alone)
    median("16 commit of a title, a consumer registered", registered)
    median("16 advance of a consumer", advances)
    median("16 commit of a title that takes an advance along", following)
    median("16 advance and commit", pairs)
  }

  /// Measures applying transactions to a projection, one at a time and many at once, and a
  /// checkpoint that saves its state.
  private func measureProjection(_ store: Store, _ ids: [ObjectID]) throws {
    var random = SystemRandomNumberGenerator()
    var titles: [ObjectID] = []
    _ = try store.projection(PostsPerDay.self)
    var each: [Int64] = []
    for _ in 0..<count {
      try change(.date, store, ids, &titles, &random)
      try timed(&each) { _ = try store.projection(PostsPerDay.self) }
    }
    median("17 projection, level with one transaction", each)
    var many: [Int64] = []
    for _ in 0..<5 {
      for _ in 0..<count { try change(.date, store, ids, &titles, &random) }
      try timed(&many) { _ = try store.projection(PostsPerDay.self) }
    }
    median("17 projection, level with \(count) transactions, each", many, per: count)
    var saved: [Int64] = []
    for _ in 0..<7 {
      try change(.date, store, ids, &titles, &random)
      try timed(&saved) { try store.checkpoint() }
    }
    median("17 checkpoint that saves the projection", saved)
    let bytes = try store.projection(PostsPerDay.self).encoded().count
    recorder.value("17 bytes of the projection", Double(bytes), "bytes")
  }

  /// Runs `body` and appends how long it took.
  private func timed(_ times: inout [Int64], _ body: () throws -> Void) rethrows {
    let start = LiveSession.now()
    try body()
    times.append(LiveSession.now() - start)
  }

  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private func median(_ name: String, _ times: [Int64], per items: Int = 1) {
    let middle = times.sorted()[times.count / 2]
    recorder.value(name, Double(middle) / 1e3 / Double(items), "us")
  }
}

/// A projection that counts the posts of each day.
private struct PostsPerDay: Projection, Codable {
  static let name = "posts per day"
  static let version = 1
  var counts: [Int: Int] = [:]

  mutating func apply(_ transaction: Transaction) throws {
    for change in transaction.changes {
      add(-1, on: try change.before(\PostRecord.timestamp))
      add(1, on: try change.after(\PostRecord.timestamp))
    }
  }

  private mutating func add(_ step: Int, on moment: Date?) {
    guard let moment else { return }
    let day = Int((moment.timeIntervalSince1970 / 86_400).rounded(.down))
    let count = counts[day, default: 0] + step
    counts[day] = count == 0 ? nil : count
  }
}
