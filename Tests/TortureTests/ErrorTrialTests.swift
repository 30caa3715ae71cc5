import AnnalsTestSupport
import AnnalsTorture
import Testing

/// Every workload, its calls to the operating system failing one at a time: a few of them, or all
/// with `ANNALS_LONG=1`.
@Suite struct ErrorTrialTests {
  @Test(arguments: CrashTrialTests.workloads)
  func everyCallMayFail(name: String) throws {
    let workload = try #require(Workload.all.first { $0.name == name })
    let trial = try ErrorTrial(workload, seed: CrashTrialTests.seed)
    var tally = Tally()
    let kinds = ErrorTrial.failures.indices.filter { trial.callCount(ErrorTrial.failures[$0]) > 0 }
    for kind in CrashTrialTests.some(6, of: kinds.count, name).map({ kinds[$0] }) {
      let count = trial.callCount(ErrorTrial.failures[kind])
      var number = isLong ? 0 : kind % min(count, 3)
      while true {
        do {
          let isThere = try trial.fail(
            ErrorTrial.failures[kind], at: number, survivors: isLong ? 4 : 0, &tally)
          guard isThere, isLong || tally.errors < 4 else { break }
        } catch {
          Issue.record("Tools/torture --only error/\(name)/\(number)/\(kind): \(error)")
        }
        number += isLong ? 1 : 7
      }
    }
    #expect(tally.errors > 0)
  }
}
