import Annals
import AnnalsTestSupport
import AnnalsTorture
import Foundation
import Testing

/// Every workload, its power cut.
///
/// At some of the points, and of the states left there a few: what `Tools/torture` does at length,
/// and this too with `Tools/test --long`. The seed decides which.
@Suite struct CrashTrialTests {
  static let seed: UInt64 = 1
  /// What is cut short; the long ones only if there is time.
  static let workloads = Workload.all.filter { isLong || !$0.isLong }.map(\.name)

  /// Some of the numbers below `count`, others with another name; all if there is time.
  static func some(_ most: Int, of count: Int, _ name: String) -> [Int] {
    var numbers = SeededNumbers(seed: seed, name)
    return isLong ? Array(0..<count) : Array((0..<count).shuffled(using: &numbers).prefix(most))
  }

  private func extent(oneIn: UInt64, recoveries: Int) -> CrashTrial.Extent {
    var extent = CrashTrial.Extent()
    guard !isLong else { return extent }
    extent.survivors = 8
    extent.oneIn = oneIn
    extent.recoveries = recoveries
    return extent
  }

  @Test(arguments: CrashTrialTests.workloads)
  func powerFails(name: String) throws {
    let workload = try #require(Workload.all.first { $0.name == name })
    let trial = try CrashTrial(workload, seed: CrashTrialTests.seed)
    #expect(trial.pointCount > 3)
    var tally = Tally()
    for point in CrashTrialTests.some(2, of: trial.pointCount, name) {
      do {
        try trial.crash(at: point, extent(oneIn: 10, recoveries: 0), &tally)
      } catch {
        Issue.record("Tools/torture --only crash/\(name)/\(point): \(error)")
      }
    }
    #expect(tally.survivors > tally.points)
  }

  @Test(arguments: ["commits", "unclean"])
  func powerFailsAgainDuringRecovery(name: String) throws {
    let workload = try #require(Workload.all.first { $0.name == name })
    let trial = try CrashTrial(workload, seed: CrashTrialTests.seed)
    var tally = Tally()
    for point in CrashTrialTests.some(1, of: trial.pointCount, "again " + name) {
      do {
        try trial.crash(at: point, extent(oneIn: 1_000, recoveries: 1), &tally)
      } catch {
        Issue.record("Tools/torture --only crash/\(name)/\(point): \(error)")
      }
    }
    #expect(tally.recoveries > 0)
  }

  @Test(arguments: [true, false])
  func powerFailsWhileThreadsShareASync(isDeferred: Bool) throws {
    let trial = try GroupTrial(isDeferred ? .deferred : .full, seed: CrashTrialTests.seed)
    var tally = Tally()
    for point in CrashTrialTests.some(3, of: trial.pointCount, "group") {
      do {
        try trial.crash(at: point, survivors: isLong ? 24 : 2, &tally)
      } catch {
        Issue.record("\(error)")
      }
    }
    #expect(tally.survivors > 0)
  }

  /// The canary: a check that finds nothing wrong with a store that lost something is no check.
  @Test func aLostTransactionIsNoticed() throws {
    let workload = Workload("canary") { session in
      let store = try session.open(.deferred)
      for _ in 0..<3 { try session.commitSomething(store) }
      // Not so: only written.
      session.pretendSynced()
      try session.close(store)
    }
    let trial = try CrashTrial(workload, seed: 1)
    var tally = Tally()
    var broken = 0
    for point in 0..<trial.pointCount where broken == 0 {
      let extent = extent(oneIn: 4, recoveries: 0)
      do { try trial.crash(at: point, extent, &tally) } catch { broken += 1 }
    }
    #expect(broken > 0)
  }
}
