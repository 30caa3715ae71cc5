import AnnalsTestSupport
import AnnalsTorture
import Testing

/// Two stores on one file, a call of one of them failing: some of the calls, or all with
/// `ANNALS_LONG=1`.
@Suite struct PairTrialTests {
  @Test(arguments: PairTrial.names)
  func everyCallMayFail(name: String) throws {
    let trial = try PairTrial(name, seed: CrashTrialTests.seed)
    var tally = Tally()
    for (kind, failure) in ErrorTrial.failures.enumerated() {
      let isWrite = ["sync", "write"].contains { failure.description.hasPrefix($0) }
      let most = isWrite ? 12 : 2
      let numbers = CrashTrialTests.some(most, of: trial.callCount(failure), "\(name) \(kind)")
      for number in numbers {
        do {
          _ = try trial.fail(
            failure, at: number, survivors: isLong ? 4 : 1, &tally)
        } catch {
          Issue.record("Tools/torture --only error/\(name)/\(number)/\(kind): \(error)")
        }
      }
    }
    #expect(tally.errors > 100 && tally.errorsUnknown > 10, "\(tally)")
  }
}
