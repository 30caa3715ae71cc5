import Annals
import Foundation

/// One way of being hard on one kind of work, case by case, in an order that follows from the seed.
final class TortureLane {
  /// What is tried at once: a point, a call, a round of kills.
  struct Case {
    /// Its name, as `annals torture --only` takes it.
    let name: String
    /// Tries it, and counts what was done.
    let run: (inout TortureRun.Row) throws -> Void
  }

  /// The beginning of the names of all cases.
  let name: String
  /// What was done so far.
  private(set) var row: TortureRun.Row
  /// How many cases make up one turn.
  let turn: Int
  private let prepare: (inout TortureRun.Row) throws -> AnyIterator<Case>
  private var cases: AnyIterator<Case>?

  /// A lane whose cases `prepare` finds out when the first is asked for.
  init(
    _ part: String, _ name: String, turn: Int = 1,
    prepare: @escaping (inout TortureRun.Row) throws -> AnyIterator<Case>
  ) {
    self.name = "\(part)/\(name)"
    row = TortureRun.Row(name: name)
    self.turn = turn
    self.prepare = prepare
  }

  /// The next case; nil after the last.
  ///
  /// - Throws: what the work throws when it is done for the first time; it should not.
  func next() throws -> Case? {
    row.isTried = true
    if cases == nil { cases = try prepare(&row) }
    return cases?.next()
  }

  /// Tries a case.
  ///
  /// - Throws: `BrokenPromise`.
  func run(_ next: Case) throws { try next.run(&row) }
}

/// The trials of each workload: each is done once, however many lanes ask for it.
final class Rehearsals {
  private let seed: UInt64
  private var trials: [String: CrashTrial] = [:]

  init(seed: UInt64) { self.seed = seed }

  /// The trial of this workload; the first time it does the work.
  func trial(_ workload: Workload) throws -> CrashTrial {
    if let trial = trials[workload.name] { return trial }
    let trial = try CrashTrial(workload, seed: seed)
    trials[workload.name] = trial
    return trial
  }
}

extension TortureLane {
  /// Power cuts at every point, in brief; then again at every point, in full.
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

  /// The same while threads share a sync.
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

  /// Each call to the operating system failing in each way.
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

  /// The same while two stores take turns.
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

  /// Processes killed, for ever: a new store after every four rounds.
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
