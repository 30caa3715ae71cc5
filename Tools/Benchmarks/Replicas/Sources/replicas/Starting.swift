import Annals
import AnnalsReplication
import Foundation

/// What a new replica of a large store has to do: a store is made without a log, becomes the origin
/// of one, and another replica starts from its snapshot.
struct Starting {
  let log: any SharedLog
  let folder: URL
  /// How large the store is at least.
  let bytes: Int

  init(log: any SharedLog, folder: URL, bytes: Int) {
    (self.log, self.folder, self.bytes) = (log, folder, bytes)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func open(_ name: String, startsLog: Bool = false) async throws -> Replica {
    var options = ReplicaOptions()
    options.follows = false
    options.startsLog = startsLog
    return try await Replica.open(
      path: path(name), records: Post.self, log: log, options: options)
  }

  func run(_ name: String) async throws {
    try make()
    let origin = try await open("origin", startsLog: true)
    let putting = try await ContinuousClock().measure { try await origin.putSnapshot() }
    let starting = try await ContinuousClock().measure {
      let new = try await open("started")
      try await new.close()
    }
    let size = try length("started")
    let copying = try ContinuousClock().measure { try copy("started") }
    let opening = try ContinuousClock().measure {
      try Store.with(path: path("copy"), options: .readOnly) { _ in }
    }
    for (what, time) in [
      ("a snapshot put", putting), ("new from a snapshot", starting),
      ("a copy and a sync", copying), ("opening the copy", opening),
    ] {
      say(
        name.padded(24), what.padded(24),
        String(
          format: "%.1f MB in %.2f s, %.0f MB/s", size / 1e6, time.seconds,
          size / 1e6 / time.seconds))
    }
    let token = try Store.with(path: path("started"), options: .readOnly) { $0.token }
    guard token == origin.store.token else { fatalError("the new replica differs") }
    try await origin.close()
  }

  /// A store of many small transactions.
  private func make() throws {
    var options = StoreOptions()
    options.durability = .deferred
    let store = try Store(path: path("origin"), records: Post.self, options: options)
    var number = 0
    while try length("origin") < Double(bytes) {
      for _ in 0..<10_000 {
        number += 1
        try store.write(author: "maker") { tx in _ = try tx.insert(Post(number)) }
      }
    }
    try store.close()
  }

  /// Copies a file to `copy` by its bytes, so that no file system shares them, and syncs it.
  private func copy(_ name: String) throws {
    _ = FileManager.default.createFile(atPath: path("copy"), contents: nil)
    let from = try FileHandle(forReadingFrom: URL(filePath: path(name)))
    let to = try FileHandle(forWritingTo: URL(filePath: path("copy")))
    while let bytes = try from.read(upToCount: 1 << 20), !bytes.isEmpty {
      try to.write(contentsOf: bytes)
    }
    try to.synchronize()
    try to.close()
    try from.close()
  }

  private func length(_ name: String) throws -> Double {
    let size = try FileManager.default.attributesOfItem(atPath: path(name))[.size] as? NSNumber
    return size?.doubleValue ?? 0
  }
}
