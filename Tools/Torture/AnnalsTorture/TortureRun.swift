import Annals

/// All trials within a given time: crashes at every point, failing calls, killed processes.
///
/// The kinds of trial take turns, so that a short run tries some of each. The seed determines the
/// cases and their order, but not how many fit in the time. Each failure is reported with the name
/// of the case, which repeats it.
package final class TortureRun {
  /// One line of the result: a lane.
  package struct Row: Sendable {
    /// The name of the workload.
    package var name: String
    /// The counts.
    package var tally = Tally()
    /// The number of points or calls; 0 before the work was run once, and for processes, which have
    /// no end.
    package var count = 0
    /// How many of them were tried.
    package var tried = 0
    /// The points that were tried in full: with all states, and a second crash.
    package var triedInFull = 0
    /// Whether it had at least one turn.
    package var isTried = false
  }

  /// A broken promise.
  package struct Failure: Sendable {
    /// The name of the case, as `only` accepts it.
    package let name: String
    /// What was found.
    package let what: String
  }

  /// Crashes, by workload.
  package var crashes: [Row] { rows("crash/") }
  /// Failing calls, by workload.
  package var errors: [Row] { rows("error/") }
  /// Killed processes.
  package var processes: [Row] { rows("kill/") }
  /// Replicas of a log.
  package var replicas: [Row] { rows("replicas/") }
  /// The broken promises.
  package private(set) var failures: [Failure] = []
  /// The names of the cases tried, in order.
  package private(set) var tried: [String] = []
  /// Whether all cases were tried, apart from killed processes.
  package private(set) var isComplete = false

  /// The prefixes of the names of cases: a kind of trial and a workload.
  package var kinds: [String] { lanes.map(\.name) }

  private let end: ContinuousClock.Instant
  private let only: String?
  private let lanes: [TortureLane]

  /// A run of some seconds. `folder` is an empty folder for files; `executable` is the command
  /// `annals`, which the killed processes run. `only` selects one case, or those with that prefix.
  /// Replicas block the calling thread, which must not be one of Swift's tasks.
  package init(
    seed: UInt64, seconds: Double, folder: String, executable: String, only: String? = nil,
    workloads: [Workload] = Workload.all, hasReplicas: Bool = true
  ) {
    self.only = only
    end = .now + .seconds(seconds)
    let rehearsals = Rehearsals(seed: seed)
    lanes =
      workloads.map { .crashes($0, rehearsals, seed: seed) }
      + [
        .crashes("group", .full, seed: seed), .crashes("group-deferred", .deferred, seed: seed),
      ]
      + workloads.map { .errors($0, rehearsals, seed: seed) }
      + PairTrial.names.map { .errors(pair: $0, seed: seed) }
      + [
        .kills("kill", .rewriting, seed: seed, folder: folder, executable: executable),
        .kills("follow", .following, seed: seed, folder: folder, executable: executable),
        .kills("erase", .erasing, seed: seed, folder: folder, executable: executable),
      ] + (hasReplicas ? [.replicas(seed: seed)] : [])
  }

  /// Runs the trials until the time is over or all is tried, at most `turns` turns of each lane.
  package func run(turns: Int = .max) {
    var open = lanes.filter { includes($0.name) }
    var turn = 0
    // Lanes of processes have no end.
    while !open.isEmpty, turn < turns, ContinuousClock.now < end {
      open.removeAll { lane in (0..<lane.turn).contains { _ in !step(lane) } }
      turn += 1
    }
    isComplete = open.isEmpty
  }

  /// Runs the next selected case of a lane. Returns false if there is none, or the lane cannot go
  /// on.
  private func step(_ lane: TortureLane) -> Bool {
    if ContinuousClock.now >= end { return true }
    var name = lane.name
    do {
      while let next = try lane.next() {
        guard includes(next.name) else { continue }
        name = next.name
        tried.append(name)
        try lane.run(next)
        return true
      }
      return false
    } catch {
      failures.append(Failure(name: name, what: "\(error)"))
      // If the work fails even in its first run, the lane has no cases.
      return name != lane.name
    }
  }

  private func rows(_ part: String) -> [Row] {
    lanes.filter { $0.name.hasPrefix(part) }.map(\.row)
  }

  /// Whether a case or lane is selected: its name begins with `only`, or `only` begins with it.
  private func includes(_ name: String) -> Bool {
    guard let only else { return true }
    return "\(name)/".hasPrefix("\(only)/") || "\(only)/".hasPrefix("\(name)/")
  }
}
