import Annals
import Foundation
import Measuring
import Synchronization

/// Phase 12: durable commits of one object by 1, 8 and 64 threads, then tasks, at once, each number
/// of them on a store of its own.
struct ConcurrentSession {
  let path: String
  let setup: Setup
  /// The number of transactions of all writers together.
  let commits: Int
  private static let writerCounts = [1, 8, 64]

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    commits = try options.number("operations", 8_000)
  }

  func run() throws {
    let thread = try compare("threads", commitByThreads)
    let task = try compare("tasks", commitByTasks)
    setup.recorder.value("12b time of one task's commit over one thread's", thread / task, "x")
  }

  /// Measures numbers of writers, and compares their commits per second. Returns those of one.
  private func compare(_ kind: String, _ write: (Store, Int) throws -> Void) throws -> Double {
    var rates: [Int: Double] = [:]
    for count in ConcurrentSession.writerCounts {
      unlink(path)
      let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
      let start = Mark()
      try write(store, count)
      let taken = Mark() - start
      setup.recorder.record("12 durable commits, \(count) \(kind)", items: commits, taken)
      try expect("posts", try store.snapshot().count(of: PostRecord.self), is: commits)
      try store.close()
      rates[count] = Double(commits) / (Double(taken.wall) / 1e9)
    }
    let alone = rates[1] ?? 0
    for count in ConcurrentSession.writerCounts where count > 1 {
      setup.recorder.value(
        "12b commits a second over those of one, \(count) \(kind)", (rates[count] ?? 0) / alone,
        "x")
    }
    return alone
  }

  /// Runs a number of tasks.
  private func commitByTasks(_ store: Store, _ tasks: Int) throws {
    let counter = Counter(end: commits)
    try AnnalsBenchmark.wait {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<tasks {
          group.addTask {
            while counter.next() {
              try await store.write(author: "benchmark") { tx in
                _ = try tx.insert(ConcurrentSession.post())
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  /// Runs a number of threads.
  private func commitByThreads(_ store: Store, _ threads: Int) throws {
    let counter = Counter(end: commits)
    let failures = Atomic<Int>(0)
    let group = DispatchGroup()
    for _ in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        while counter.next() {
          do {
            try store.write(author: "benchmark") { tx in
              try tx.insert(ConcurrentSession.post())
            }
          } catch {
            failures.wrappingAdd(1, ordering: .relaxed)
          }
        }
        group.leave()
      }
    }
    group.wait()
    try expect("failed commits", failures.load(ordering: .relaxed), is: 0)
  }

  static func post() -> PostRecord {
    PostRecord(
      identifier: UUID(), timestamp: Date(timeIntervalSince1970: 1_571_767_200), title: "Fog",
      url: "https://example.com/articles/0123456789abcdef", source: "example.com", image: nil,
      posted: 1, latitude: 35.0116, longitude: 135.7681)
  }
}

/// Counts commits of several writers together.
private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  private let end: Int

  init(end: Int) { self.end = end }

  /// Whether there is one more to make.
  func next() -> Bool { count.wrappingAdd(1, ordering: .relaxed).oldValue < end }
}
