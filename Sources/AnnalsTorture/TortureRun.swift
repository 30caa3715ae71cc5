import Annals
import Foundation

/// Everything that a store is put through, within a given time: crashes at every point, failing
/// calls, killed processes.
///
/// What is tried, and in what order, follows from the seed; how far it gets within the time does
/// not. Whatever breaks a promise is reported with the case that repeats it.
package final class TortureRun {
  /// One line of the result.
  package struct Row: Sendable {
    /// What was cut short or failed.
    package var name: String
    /// How much of it.
    package var tally = Tally()
    /// Whether everything was tried before the time was over.
    package var isComplete = false
    /// Whether anything of it was tried.
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
  package private(set) var crashes: [Row] = []
  /// Failing calls, by workload.
  package private(set) var errors: [Row] = []
  /// Killed processes.
  package private(set) var processes: [Row] = []
  /// What went wrong.
  package private(set) var failures: [Failure] = []

  private let seed: UInt64
  private let end: ContinuousClock.Instant
  private let folder: String
  private let executable: String
  private let only: String?

  /// A run of so many seconds, with an empty folder for files and the command `annals`, which is
  /// started as the processes that are killed. With `only`, that case alone is tried, or those
  /// whose names begin with it.
  package init(
    seed: UInt64, seconds: Double, folder: String, executable: String, only: String? = nil
  ) {
    self.seed = seed
    self.folder = folder
    self.executable = executable
    self.only = only
    end = .now + .seconds(seconds)
  }

  /// Runs it all.
  package func run() {
    let groups = ["group", "group-deferred"]
    let start = ContinuousClock.now
    let whole = start.duration(to: end)
    crashes = (Workload.all.map(\.name) + groups).map { Row(name: $0) }
    errors = Workload.all.map { Row(name: $0.name) }
    processes = [Row(name: "kill")]
    share(until: includes("error") ? start + whole * 0.45 : end, crashes, "crash") {
      crash($0, until: $1)
    }
    share(until: includes("kill") ? start + whole * 0.75 : end, errors, "error") {
      fail($0, until: $1)
    }
    kill(until: end)
  }

  /// Runs `body` for each row that is to be tried, with its share of the time that is left.
  private func share(
    until end: ContinuousClock.Instant, _ rows: [Row], _ part: String,
    _ body: (Int, ContinuousClock.Instant) -> Void
  ) {
    let indices = rows.indices.filter { includes("\(part)/\(rows[$0].name)") }
    for (done, index) in indices.enumerated() {
      let now = ContinuousClock.now
      body(index, now + now.duration(to: end) / (indices.count - done))
    }
  }

  /// Whether the case is to be tried: all that begin with `only`, or whose name `only` begins with.
  private func includes(_ name: String) -> Bool {
    guard let only else { return true }
    return "\(name)/".hasPrefix("\(only)/") || "\(only)/".hasPrefix("\(name)/")
  }

  /// Runs one case and notes what broke; returns false if it threw.
  private func attempt(_ name: String, _ body: () throws -> Void) {
    guard includes(name) else { return }
    do {
      try body()
    } catch {
      failures.append(Failure(name: name, what: "\(error)"))
    }
  }

  private func crash(_ index: Int, until deadline: ContinuousClock.Instant) {
    let name = crashes[index].name
    guard includes("crash/\(name)") else { return }
    crashes[index].isTried = true
    var random = SeededNumbers(seed: seed, name)
    attempt("crash/\(name)") {
      let crash: (Int, inout Tally) throws -> Void
      let count: Int
      if let workload = Workload.all.first(where: { $0.name == name }) {
        let trial = try CrashTrial(workload, seed: seed)
        count = trial.pointCount
        crash = { try trial.crash(at: $0, CrashTrial.Extent(), &$1) }
      } else {
        let trial = try GroupTrial(name == "group" ? .full : .deferred, seed: seed)
        count = trial.pointCount
        crash = { try trial.crash(at: $0, &$1) }
      }
      for point in (0..<count).shuffled(using: &random) {
        if ContinuousClock.now >= deadline { return }
        attempt("crash/\(name)/\(point)") { try crash(point, &crashes[index].tally) }
      }
      crashes[index].isComplete = true
    }
  }

  private func fail(_ index: Int, until deadline: ContinuousClock.Instant) {
    let name = errors[index].name
    guard includes("error/\(name)"), let workload = Workload.all.first(where: { $0.name == name })
    else { return }
    errors[index].isTried = true
    attempt("error/\(name)") {
      let trial = try ErrorTrial(workload, seed: seed)
      // The first call of each kind, then the second of each, and so on.
      var open = Array(ErrorTrial.failures.enumerated())
      var number = 0
      while !open.isEmpty {
        var isOver: Set<Int> = []
        for (kind, failure) in open {
          if ContinuousClock.now >= deadline { return }
          attempt("error/\(name)/\(number)/\(kind)") {
            let isThere = try trial.fail(failure, at: number, &errors[index].tally)
            if !isThere { isOver.insert(kind) }
          }
          if !includes("error/\(name)/\(number)/\(kind)"), number > 2_000 { isOver.insert(kind) }
        }
        open.removeAll { isOver.contains($0.offset) }
        number += 1
      }
      errors[index].isComplete = true
    }
  }

  private func kill(until deadline: ContinuousClock.Instant) {
    processes[0].isTried = includes("kill")
    var round: UInt64 = 0
    while round == 0 || ContinuousClock.now < deadline, failures.isEmpty, includes("kill") {
      attempt("kill") {
        let place = "\(folder)/\(round)"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let trial = KillTrial(
          folder: place, executable: executable, seed: seed &+ round &* 0x9e37_79b9)
        for turn in 0..<4 where turn == 0 || ContinuousClock.now < deadline {
          try trial.round(kills: 6, &processes[0].tally)
        }
      }
      round += 1
    }
    processes[0].isComplete = true
  }
}
