import Annals
import AnnalsExchange
import AnnalsReplication
import Foundation

/// What a replica that was away, or is new, has to do: as many transactions as are wanted are made
/// through one replica; another catches up, and a third starts from a snapshot.
struct Growing {
  let log: any SharedLog
  let folder: URL
  let count: Int

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private func open(_ name: String) async throws -> Replica {
    var options = ReplicaOptions()
    options.follows = false
    return try await Replica.open(
      path: path(name), records: Post.self, log: log, options: options)
  }

  func run(_ name: String) async throws {
    let maker = try await open("maker")
    // Another that has the schema, and then is away.
    let away = try await open("away")
    try await away.close()
    let making = try await ContinuousClock().measure {
      for number in 0..<count {
        try await maker.write(author: "maker") { tx in _ = try tx.insert(Post(number)) }
      }
    }
    report(name, "made through a replica", count, making)

    let late = try await open("late-start")
    try await late.close()
    let back = try await ContinuousClock().measure {
      let away = try await open("away")
      try await away.close()
    }
    report(name, "caught up", count, back)
    print(name.padded(24), String(format: "caught up %.1f times as fast as made", making / back))

    try maker.store.export(to: path("export.jsonl"))
    let importing = try ContinuousClock().measure {
      _ = try Store.import(from: path("export.jsonl"), to: path("imported"))
    }
    report(name, "imported", count, importing)

    _ = try await maker.putSnapshot()
    let size = try length("maker")
    let starting = try await ContinuousClock().measure {
      let new = try await open("new")
      try await new.close()
    }
    let copying = try ContinuousClock().measure {
      try FileManager.default.copyItem(atPath: path("maker"), toPath: path("copy"))
      let handle = try FileHandle(forUpdating: URL(filePath: path("copy")))
      try handle.synchronize()
      try handle.close()
    }
    print(
      name.padded(24), "new from a snapshot".padded(24),
      String(format: "%.1f MB in %.2f s", size / 1e6, starting.seconds),
      String(format: "(a copy and a sync: %.2f s)", copying.seconds))
    let equal = try Set(
      ["away", "new"].map { name in
        try Store.with(path: path(name), options: .readOnly) { "\($0.token)" }
      } + ["\(maker.store.token)"])
    guard equal.count == 1 else { fatalError("the replicas differ: \(equal)") }
    try await maker.close()
  }

  private func length(_ name: String) throws -> Double {
    let size = try FileManager.default.attributesOfItem(atPath: path(name))[.size] as? NSNumber
    return size?.doubleValue ?? 0
  }

  private func report(_ name: String, _ what: String, _ count: Int, _ length: Duration) {
    print(
      name.padded(24), what.padded(24),
      String(format: "%9.0f/s", Double(count) / length.seconds),
      String(format: "%8.2f s", length.seconds))
  }
}
