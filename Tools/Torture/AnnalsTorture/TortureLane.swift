import Annals
import Foundation

/// The cases of one kind of trial on one workload, in an order that the seed determines.
final class TortureLane {
  /// One case: a point, a failing call, or a round of kills.
  struct Case {
    /// Its name, as `Tools/torture --only` takes it.
    let name: String
    /// Runs the case and counts what it did.
    let run: (inout TortureRun.Row) throws -> Void
  }

  /// The prefix of the names of all cases.
  let name: String
  /// The counts so far.
  private(set) var row: TortureRun.Row
  /// The number of cases in one turn.
  let turn: Int
  private let makeCases: (inout TortureRun.Row) throws -> AnyIterator<Case>
  private var cases: AnyIterator<Case>?

  /// A lane whose cases `makeCases` determines when the first one is needed.
  init(
    _ part: String, _ name: String, turn: Int = 1,
    makeCases: @escaping (inout TortureRun.Row) throws -> AnyIterator<Case>
  ) {
    self.name = "\(part)/\(name)"
    row = TortureRun.Row(name: name)
    self.turn = turn
    self.makeCases = makeCases
  }

  /// The next case; nil after the last.
  ///
  /// - Throws: what the work throws in its first run; it should not throw.
  func next() throws -> Case? {
    row.isTried = true
    if cases == nil { cases = try makeCases(&row) }
    return cases?.next()
  }

  /// Runs a case.
  ///
  /// - Throws: `BrokenPromise`.
  func run(_ next: Case) throws { try next.run(&row) }
}

/// The crash trials by workload. Each is made once, however many lanes need it.
final class Rehearsals {
  private let seed: UInt64
  private var trials: [String: CrashTrial] = [:]

  init(seed: UInt64) { self.seed = seed }

  /// The trial of a workload. Runs the workload the first time.
  func trial(_ workload: Workload) throws -> CrashTrial {
    if let trial = trials[workload.name] { return trial }
    let trial = try CrashTrial(workload, seed: seed)
    trials[workload.name] = trial
    return trial
  }
}

extension TortureLane {
  /// Power cuts at every point, first in brief, then in full.
  static func crashes(
    _ workload: Workload, _ rehearsals: Rehearsals, seed: UInt64
  ) -> TortureLane {
    TortureLane("crash", workload.name) { row in
      let trial = try rehearsals.trial(workload)
      return crashes(workload.name, trial.pointCount, seed: seed, &row) { point, isFull, tally in
        try trial.crash(at: point, isFull ? CrashTrial.Extent() : .brief, &tally)
      }
    }
  }

  /// Power cuts while several threads share syncs.
  static func crashes(
    _ name: String, _ durability: StoreOptions.Durability, seed: UInt64
  ) -> TortureLane {
    TortureLane("crash", name) { row in
      let trial = try GroupTrial(durability, seed: seed)
      return crashes(name, trial.pointCount, seed: seed, &row) { point, isFull, tally in
        try trial.crash(at: point, survivors: isFull ? 24 : 2, &tally)
      }
    }
  }

  private static func crashes(
    _ name: String, _ count: Int, seed: UInt64, _ row: inout TortureRun.Row,
    _ crash: @escaping (_ point: Int, _ isFull: Bool, inout Tally) throws -> Void
  ) -> AnyIterator<Case> {
    row.count = count
    var random = SeededNumbers(seed: seed, name)
    let points = (0..<count).shuffled(using: &random)
    let brief = points.map { point in
      Case(name: "crash/\(name)/\(point)/brief") { row in
        row.tried += 1
        try crash(point, false, &row.tally)
      }
    }
    let full = points.map { point in
      Case(name: "crash/\(name)/\(point)/full") { row in
        row.triedInFull += 1
        try crash(point, true, &row.tally)
      }
    }
    return AnyIterator((brief + full).makeIterator())
  }

  /// Every operating system call, failing in every way.
  static func errors(
    _ workload: Workload, _ rehearsals: Rehearsals, seed: UInt64
  ) -> TortureLane {
    TortureLane("error", workload.name, turn: 3) { row in
      let trial = try ErrorTrial(rehearsals.trial(workload))
      return errors(workload.name, seed: seed, &row, trial.callCount) { failure, number, tally in
        _ = try trial.fail(failure, at: number, &tally)
      }
    }
  }

  /// Failing calls while two stores take turns.
  static func errors(pair name: String, seed: UInt64) -> TortureLane {
    TortureLane("error", name, turn: 3) { row in
      let trial = try PairTrial(name, seed: seed)
      return errors(name, seed: seed, &row, trial.callCount) { failure, number, tally in
        _ = try trial.fail(failure, at: number, &tally)
      }
    }
  }

  private static func errors(
    _ name: String, seed: UInt64, _ row: inout TortureRun.Row,
    _ callCount: (ErrorTrial.Failure) -> Int,
    _ fail: @escaping (ErrorTrial.Failure, _ number: Int, inout Tally) throws -> Void
  ) -> AnyIterator<Case> {
    var random = SeededNumbers(seed: seed, name)
    let calls = ErrorTrial.failures.enumerated().flatMap { kind, failure in
      (0..<callCount(failure)).map { (kind: kind, failure: failure, number: $0) }
    }
    row.count = calls.count
    let cases = calls.shuffled(using: &random).map { call in
      Case(name: "error/\(name)/\(call.number)/\(call.kind)") { row in
        row.tried += 1
        try fail(call.failure, call.number, &row.tally)
      }
    }
    return AnyIterator(cases.makeIterator())
  }

  /// Rounds of killed processes, without end; a new store after every four rounds.
  static func kills(
    _ name: String, _ work: KillTrial.Work, seed: UInt64, folder: String, executable: String
  ) -> TortureLane {
    TortureLane("kill", name) { _ in
      let place = folder + "/" + name
      var count: UInt64 = 0
      var trial: KillTrial?
      return AnyIterator {
        Case(name: "kill/\(name)") { row in
          row.tried += 1
          if count % 4 == 0 {
            try? FileManager.default.removeItem(atPath: place)
            try FileManager.default.createDirectory(
              atPath: place, withIntermediateDirectories: true)
            trial = KillTrial(
              work, folder: place, executable: executable,
              seed: seed &+ (count / 4) &* 0x9e37_79b9)
          }
          count += 1
          try trial?.round(kills: 6, &row.tally)
        }
      }
    }
  }
}
