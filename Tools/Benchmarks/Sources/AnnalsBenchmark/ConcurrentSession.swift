import Annals
import Foundation
import Measuring
import Synchronization

/// Phase 12: durable commits of one object by 1, 8 and 64 threads at once, each number of threads
/// on a store of its own.
struct ConcurrentSession {
  let path: String
  let setup: Setup
  /// The number of transactions of all threads together.
  let commits: Int
  private static let threadCounts = [1, 8, 64]

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    commits = try options.number("operations", 8_000)
  }

  func run() throws {
    var rates: [Int: Double] = [:]
    for threads in ConcurrentSession.threadCounts { rates[threads] = try commit(by: threads) }
    guard let alone = rates[1] else { return }
    for threads in ConcurrentSession.threadCounts where threads > 1 {
      setup.recorder.value(
        "12b commits a second over one thread's, \(threads) threads", (rates[threads] ?? 0) / alone,
        "x")
    }
  }

  /// Runs a number of threads. Returns the commits per second.
  private func commit(by threads: Int) throws -> Double {
    unlink(path)
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    let next = Atomic<Int>(0)
    let failures = Atomic<Int>(0)
    let group = DispatchGroup()
    let start = Mark()
    for _ in 0..<threads {
      group.enter()
      Thread.detachNewThread { [commits] in
        while next.wrappingAdd(1, ordering: .relaxed).oldValue < commits {
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
    let taken = Mark() - start
    setup.recorder.record("12 durable commits, \(threads) threads", items: commits, taken)
    try expect("failed commits", failures.load(ordering: .relaxed), is: 0)
    try expect("posts", try store.snapshot().count(of: PostRecord.self), is: commits)
    try store.close()
    return Double(commits) / (Double(taken.wall) / 1e9)
  }

  static func post() -> PostRecord {
    PostRecord(
      identifier: UUID(), timestamp: Date(timeIntervalSince1970: 1_571_767_200), title: "Fog",
      url: "https://example.com/articles/0123456789abcdef", source: "example.com", image: nil,
      posted: 1, latitude: 35.0116, longitude: 135.7681)
  }
}
