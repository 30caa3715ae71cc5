import Annals
import AnnalsJetStream
import AnnalsReplication
import Foundation

/// Replicas that write at the same time, each over a connection of its own: how many commits each
/// of them gets, and how long one takes.
struct Contending {
  /// Opens a connection to the log.
  let connect: @Sendable () async throws -> any SharedLog
  let folder: URL

  /// Runs as many tasks as `tasks` says for each replica, and prints a line for each.
  func run(_ name: String, _ tasks: [Int]) async throws {
    let replicas = try await withThrowingTaskGroup(of: Replica.self) { group in
      for index in tasks.indices {
        group.addTask {
          try await Replica.open(
            path: folder.appending(path: "\(tasks.count)-\(index)").path, records: Post.self,
            log: try await connect())
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let results = try await withThrowingTaskGroup(of: (Int, Writing).self) { group in
      for (index, replica) in replicas.enumerated() {
        group.addTask {
          let writing = try await Writing(tasks: tasks[index], for: Replicas.seconds) { number in
            try await replica.write(author: "a") { tx in _ = try tx.insert(Post(number)) }
          }
          return (index, writing)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
    }
    for (index, writing) in results {
      writing.report("\(name), \(index + 1) of \(tasks.count)", tasks: tasks[index])
    }
    for replica in replicas { try await replica.close() }
  }
}
