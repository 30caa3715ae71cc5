import Annals
import AnnalsReplication
import Foundation

/// Commits of several tasks, each the next after its last, for some seconds.
struct Writing {
  /// Durations of single commits, in order.
  private(set) var durations: [Duration]
  private let length: Duration

  /// Runs `commit` in so many tasks.
  init(
    tasks: Int, for length: Duration, _ commit: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    let start = ContinuousClock.now
    let end = start + length
    durations = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var own: [Duration] = []
          while ContinuousClock.now < end {
            own.append(try await ContinuousClock().measure { try await commit(task) })
          }
          return own
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    self.length = .now - start
    durations.sort()
  }

  /// Commits a second.
  var rate: Double { Double(durations.count) / length.seconds }

  /// The duration that a share of the commits do not exceed, in milliseconds.
  func milliseconds(_ share: Double) -> Double {
    durations[min(Int(Double(durations.count) * share), durations.count - 1)].seconds * 1_000
  }

  func report(_ name: String, tasks: Int) {
    say(
      name.padded(24), "\(tasks)".padded(4), String(format: "%9.0f/s", rate),
      String(format: "p50 %8.2f ms", milliseconds(0.5)),
      String(format: "p99 %8.2f ms", milliseconds(0.99)))
  }
}

extension Duration {
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension String {
  func padded(_ width: Int) -> String {
    padding(toLength: max(width, count), withPad: " ", startingAt: 0)
  }
}

/// Prints words, at once: what was measured is kept, whatever becomes of the rest.
func say(_ words: String...) {
  print(words.joined(separator: " "))
  fflush(nil)
}
