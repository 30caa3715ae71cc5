import Annals
import Foundation
import Measuring
import Workload

/// What each operation takes on stores of growing size: `make` writes one, and every other phase is
/// one operation on it, in a process of its own, with the memory that it takes. What a first use
/// loads is told from the operation by doing it again, or with everything loaded before.
struct ScaleSession {
  private static let commits = 1_000

  private let path: String
  private let setup: Setup
  private let phase: String
  private let posts: Int
  private let operations: Int
  private let clock = WorkloadClock()

  private var recorder: Recorder { setup.recorder }
  /// The number of the transaction in the middle. The schema is the first, then come the inserts.
  private var middle: Int64 { Int64(1 + bulks + operations / 2) }
  private var bulks: Int { (posts + Self.bulk - 1) / Self.bulk }
  /// How many objects a transaction inserts.
  private static let bulk = 100_000

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    phase = try options.choice(
      "phases", "make", "open", "page", "get", "history", "log", "past", "past loaded", "verify",
      "commit", "compact")
    posts = try options.number("posts", 100_000)
    operations = try options.number("operations", 20_000)
  }

  func run() throws {
    if phase == "make" { return try make() }
    let base = Footprint.resident
    if phase == "open" {
      let store = try recorder.time("30 open", items: 1) {
        let store = try open()
        Sink.consume(UInt64(try store.snapshot().count(of: PostRecord.self)))
        return store
      }
      recordMemory(base)
      return try store.close()
    }
    let store = try open()
    switch phase {
    case "page": try readPage(store)
    case "get": try readObjects(store)
    case "history": try readHistory(store)
    case "log": try readLog(store)
    case "past": try readPast(store)
    case "past loaded":
      try store.snapshot().forEachObject(of: PostRecord.self) { Sink.consume($0.timestamp) }
      try readPast(store)
    case "verify":
      try recorder.time("30 verify", items: 1) {
        try expect("findings", store.verify().filter { $0.severity != .note }.count, is: 0)
      }
    case "commit": try commit(store)
    default: _ = try recorder.time("30 compact", items: 1) { try store.compact() }
    }
    recordMemory(base)
    try store.close()
  }

  private func recordMemory(_ base: Int) {
    recorder.megabytes("30 \(phase): peak memory", Footprint.peak - base)
  }

  private func open() throws -> Store {
    try Store(
      path: path, records: PostRecord.self, options: setup.storeOptions,
      environment: clock.environment)
  }

  /// The store: the posts, some at a time, then the operations, one a transaction.
  private func make() throws {
    let workload = Workload(posts: posts, operations: operations)
    unlink(path)
    clock.set(workload.bulkTime)
    let store = try open()
    var writer = PostWriter(form: .typed, capacity: workload.lastObject)
    for start in stride(from: 0, to: posts, by: Self.bulk) {
      try store.write { tx in
        for post in workload.posts[start..<min(start + Self.bulk, posts)] {
          try writer.insert(post, tx)
        }
      }
    }
    try recorder.time("30 write", items: operations) {
      for operation in workload.operations {
        clock.set(operation.time)
        try store.write(
          author: Vocabulary.authors[operation.author],
          context: Vocabulary.contexts[operation.context]
        ) { tx in try writer.perform(operation, tx) }
      }
    }
    try expect("objects", store.snapshot().count(of: PostRecord.self), is: workload.liveCount)
    try store.close()
    recorder.megabytes("30 file", Footprint.file(path))
  }

  private func readPage(_ store: Store) throws {
    let newest = Fetch(PostRecord.self).sorted(by: \.timestamp, .descending).limit(200)
    for name in ["page", "page again"] {
      try recorder.time("30 \(name)", items: 1) {
        try expect("first page", store.snapshot().fetch(newest).count, is: 200)
      }
    }
  }

  /// Objects from everywhere, so that hardly two share what is loaded for them; some are deleted.
  private func readObjects(_ store: Store) throws {
    let ids = try (0..<1_000).map { try id(of: $0, store) }
    let snapshot = store.snapshot()
    for name in ["get", "get again"] {
      try recorder.time("30 \(name)", items: ids.count) {
        for id in ids {
          if let object = try snapshot.object(PostRecord.self, id) {
            Sink.consume(object.timestamp)
          }
        }
      }
    }
  }

  /// The ids of objects from everywhere, one after the other. A fifth of the operations insert.
  private func id(of place: Int, _ store: Store) throws -> ObjectID {
    let object = place &* 7_919 % (posts + operations / 5) + 1
    guard let id = ObjectID("1#\(object)@\(store.id)") else { throw Failure("no id") }
    return id
  }

  private func readHistory(_ store: Store) throws {
    try recorder.time("30 history", items: 1) {
      let page = try store.history(after: middle).collect(limit: 100)
      var values = 0
      for transaction in page {
        transaction.changes.forEach { values += $0.properties.count }
      }
      try expect("transactions", page.count, is: 100)
      Sink.consume(UInt64(values))
    }
  }

  private func readLog(_ store: Store) throws {
    guard let object = try store.transaction(middle).changes.first?.objectID else {
      throw Failure("no change in the middle")
    }
    try recorder.time("30 log", items: 1) {
      let log = try store.history(of: object).collect()
      try expect("the log is empty", log.isEmpty, is: false)
      Sink.consume(UInt64(log.count))
    }
  }

  private func readPast(_ store: Store) throws {
    try recorder.time("30 \(phase)", items: 1) {
      let snapshot = try store.snapshot(at: middle)
      Sink.consume(UInt64(try snapshot.count(of: PostRecord.self)))
    }
  }

  /// Sets the titles of objects from everywhere; the first commits find nothing loaded.
  private func commit(_ store: Store) throws {
    let snapshot = store.snapshot()
    var living: [ObjectID] = []
    for place in 0..<posts + operations where living.count < Self.commits + 100 {
      let id = try id(of: place, store)
      if try snapshot.object(PostRecord.self, id) != nil { living.append(id) }
    }
    for id in living.prefix(100) { try setTitle(of: id, store) }
    let rest = living.dropFirst(100)
    try recorder.time("30 commit", items: rest.count) {
      for id in rest { try setTitle(of: id, store) }
    }
  }

  private func setTitle(of id: ObjectID, _ store: Store) throws {
    try store.write { tx in try tx.set(\PostRecord.title, of: id, to: "Fog") }
  }
}
