import Annals

/// Everything that a store is put through, within a given time: crashes at every point, failing
/// calls, killed processes.
///
/// Every kind of work gets its turn, then each again, so that a short run has seen something of
/// all of them. What is tried, and in what order, follows from the seed; how far it gets within the
/// time does not. Whatever breaks a promise is reported with the case that repeats it.
package final class TortureRun {
  /// One line of the result.
  package struct Row: Sendable {
    /// What was cut short or failed.
    package var name: String
    /// How much of it.
    package var tally = Tally()
    /// How many points, or calls that fail, there are; 0 before the work was done once, and for
    /// processes, of which there is no end.
    package var count = 0
    /// How many of them were tried.
    package var tried = 0
    /// Points that were tried in full: with all states that they may leave, and a second crash.
    package var triedInFull = 0
    /// Whether it was its turn at least once.
    package var isTried = false
  }

  /// A promise that was broken.
  package struct Failure: Sendable {
    /// The case, as `only` takes it.
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
  /// What went wrong.
  package private(set) var failures: [Failure] = []
  /// The names of the cases that were tried, in order.
  package private(set) var tried: [String] = []
  /// Whether nothing is left to try, but to kill more processes.
  package private(set) var isComplete = false

  /// What the names of cases begin with: a part and a kind of work.
  package var kinds: [String] { lanes.map(\.name) }

  private let end: ContinuousClock.Instant
  private let only: String?
  private let lanes: [TortureLane]

  /// A run of so many seconds, with an empty folder for files and the command `annals`, which is
  /// started as the processes that are killed. With `only`, that case alone is tried, or those
  /// whose names begin with it.
  package init(
    seed: UInt64, seconds: Double, folder: String, executable: String, only: String? = nil,
    workloads: [Workload] = Workload.all
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
      ]
  }

  /// Runs it all; with `turns`, each kind of work has no more than so many.
  package func run(turns: Int = .max) {
    var open = lanes.filter { includes($0.name) }
    var turn = 0
    // Processes are killed without end; alone they are killed until the time is over.
    while !open.isEmpty, turn < turns, ContinuousClock.now < end {
      open.removeAll { lane in (0..<lane.turn).contains { _ in !step(lane) } }
      turn += 1
    }
    isComplete = open.isEmpty
  }

  /// Tries the next case of a lane that is to be tried; false if there is none, or nothing more can
  /// be tried in it.
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
      // Without a store to begin with, or with one that lost something, there is nothing to add.
      return name != lane.name
    }
  }

  private func rows(_ part: String) -> [Row] {
    lanes.filter { $0.name.hasPrefix(part) }.map(\.row)
  }

  /// Whether the case is to be tried: all that begin with `only`, or whose name `only` begins with.
  private func includes(_ name: String) -> Bool {
    guard let only else { return true }
    return "\(name)/".hasPrefix("\(only)/") || "\(only)/".hasPrefix("\(name)/")
  }
}
