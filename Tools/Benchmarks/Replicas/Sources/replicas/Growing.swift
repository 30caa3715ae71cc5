import Annals
import AnnalsExchange
import AnnalsReplication
import Foundation

/// What a replica that was away, or is new, has to do: as many transactions as are wanted are made
/// through one replica, by many tasks; another catches up, and a third, from a snapshot, is equal.
struct Growing {
  let log: any SharedLog
  let folder: URL
  let count: Int
  private let tasks = 64

  init(log: any SharedLog, folder: URL, count: Int) {
    (self.log, self.folder, self.count) = (log, folder, count)
  }

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
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for number in stride(from: task, to: count, by: tasks) {
              try await maker.write(author: "maker") { tx in _ = try tx.insert(Post(number)) }
            }
          }
        }
        try await group.waitForAll()
      }
    }
    report(name, "made by \(tasks) tasks", count, making)

    let back = try await ContinuousClock().measure {
      let away = try await open("away")
      try await away.close()
    }
    report(name, "caught up", count, back)
    say(name.padded(24), String(format: "caught up %.1f times as fast as made", making / back))

    try maker.store.export(to: path("export.jsonl"))
    let importing = try ContinuousClock().measure {
      _ = try Store.import(from: path("export.jsonl"), to: path("imported"))
    }
    report(name, "imported", count, importing)
    say(
      name.padded(24), String(format: "caught up %.2f times as fast as imported", importing / back))

    try await maker.putSnapshot()
    let new = try await open("new")
    try await new.close()
    let equal = try Set(
      ["away", "new"].map { name in
        try Store.with(path: path(name), options: .readOnly) { "\($0.token)" }
      } + ["\(maker.store.token)"])
    guard equal.count == 1 else { fatalError("the replicas differ: \(equal)") }
    try await maker.close()
  }

  private func report(_ name: String, _ what: String, _ count: Int, _ length: Duration) {
    say(
      name.padded(24), what.padded(24),
      String(format: "%9.0f/s", Double(count) / length.seconds),
      String(format: "%8.2f s", length.seconds))
  }
}
