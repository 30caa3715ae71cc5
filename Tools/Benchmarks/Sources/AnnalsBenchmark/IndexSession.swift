import Annals
import Foundation
import Measuring
import Workload

/// Phase 18: the cost of an ordered index on the date to a commit of one object.
///
/// Stores with and without the index get the same commits in turn. They are in memory, so that no
/// file hides the difference.
struct IndexSession {
  private let setup: Setup
  private let workload: Workload
  private let count: Int
  private var recorder: Recorder { setup.recorder }

  init(_ setup: Setup, _ options: Options) throws {
    self.setup = setup
    count = try options.number("operations", 3_000)
    workload = Workload(posts: try options.number("posts", 100_000), operations: 0)
  }

  func run() throws {
    let plain = try store(isIndexed: false)
    let indexed = try store(isIndexed: true)
    var inserts: [[Int64]] = [[], []]
    var updates: [[Int64]] = [[], []]
    for round in 0..<9 {
      for (place, store) in [plain, indexed].enumerated() {
        inserts[place].append(try insert(store, round))
        updates[place].append(try update(store, round))
      }
    }
    report("an insert", inserts)
    report("a date", updates)
  }

  private func store(isIndexed: Bool) throws -> Store {
    let store =
      try isIndexed
      ? Store(.memory, records: PostRecord.self) : Store(.memory, schema: Self.plain)
    try store.write { tx in
      for post in workload.posts { _ = try tx.insert(PostRecord(post)) }
    }
    return store
  }

  /// The processor time of some commits, in nanoseconds.
  private func insert(_ store: Store, _ round: Int) throws -> Int64 {
    let posts = workload.posts
    let start = Mark()
    for number in 0..<count {
      let post = PostRecord(posts[(round * count + number) * 31 % posts.count])
      try store.write { tx in _ = try tx.insert(post) }
    }
    let taken = Mark() - start
    return taken.user + taken.system
  }

  private func update(_ store: Store, _ round: Int) throws -> Int64 {
    let ids = try store.snapshot().objectIDs(Fetch(PostRecord.self).limit(100_000))
    let posts = workload.posts
    let start = Mark()
    for number in 0..<count {
      let place = (round * count + number) * 37 % ids.count
      let date = Date(microseconds: posts[place].timestamp + Int64(round) * 7_000_003)
      try store.write { tx in try tx.set(\PostRecord.timestamp, of: ids[place], to: date) }
    }
    let taken = Mark() - start
    return taken.user + taken.system
  }

  private func report(_ name: String, _ taken: [[Int64]]) {
    func perCommit(_ times: [Int64]) -> Double {
      Double(times.sorted()[times.count / 2]) / 1_000 / Double(count)
    }
    recorder.value("18 CPU of a commit of \(name), no index", perCommit(taken[0]), "us")
    recorder.value("18 CPU of a commit of \(name), an index", perCommit(taken[1]), "us")
    let costs = zip(taken[1], taken[0]).map { $0 - $1 }
    recorder.value("18 CPU of the index for \(name)", perCommit(costs), "us")
  }

  private static let plain = Schema {
    Entity("Post") {
      Attribute("identifier", .uuid)
      Attribute("timestamp", .date)
      Attribute("title", .string, isOptional: true)
      Attribute("url", .string, isOptional: true)
      Attribute("source", .string, isOptional: true)
      Attribute("image", .data, isOptional: true)
      Attribute("posted", .int16, isOptional: true)
      Attribute("latitude", .double, isOptional: true)
      Attribute("longitude", .double, isOptional: true)
    }
  }
}
