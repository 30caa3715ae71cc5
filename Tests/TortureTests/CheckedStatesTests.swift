import Annals
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import Testing

@testable import AnnalsTorture

/// Which states a trial need not check again.
@Suite struct CheckedStatesTests {
  /// A closed store of three transactions, and what was promised of it.
  private func store() throws -> WorkSession {
    let session = WorkSession(FaultyFileSystem(), seed: 1, isRehearsing: true)
    let store = try session.open()
    for _ in 0..<2 { try session.commitSomething(store) }
    try session.close(store)
    return session
  }

  private func run(
    _ checked: CheckedStates, _ files: FaultyFileSystem, _ pledge: Pledge, _ chronicle: Chronicle
  ) throws -> Bool {
    let disk = files.afterKill()
    return try checked.run(
      SurvivorCheck(pledge, chronicle, afterPowerCut: true), on: disk, disk.fingerprint)
  }

  @Test func theSameStateIsCheckedOnceForEachExpectation() throws {
    let session = try store()
    let checked = CheckedStates()
    #expect(try run(checked, session.files, session.pledge, session.chronicle))
    #expect(try !run(checked, session.files, session.pledge, session.chronicle))
    // More may be there: nothing wrong with that, but another question.
    var more = session.pledge
    more.attempted += 1
    #expect(try run(checked, session.files, more, session.chronicle))
    // Transactions were promised that are not there.
    var promised = session.pledge
    promised.durable = 9
    promised.attempted = 9
    for _ in 0..<2 {
      #expect(throws: BrokenPromise.self) {
        try run(checked, session.files, promised, session.chronicle)
      }
    }
    // They should have been others.
    #expect(throws: BrokenPromise.self) {
      try run(checked, session.files, session.pledge, Chronicle())
    }
    // One more transaction is another disk.
    let again = try session.open()
    try session.commitSomething(again)
    try session.close(again)
    #expect(try run(checked, session.files, session.pledge, session.chronicle))
  }

  /// Most states at most points are new; some are not.
  @Test func aTrialChecksFewerStatesThanAreLeft() throws {
    let workload = try #require(Workload.all.first { $0.name == "commits" })
    let trial = try CrashTrial(workload, seed: 1)
    var tally = Tally()
    var extent = CrashTrial.Extent.brief
    extent.oneIn = 1
    for point in 3..<6 { try trial.crash(at: point, extent, &tally) }
    let first = tally
    #expect(first.distinct > first.points && first.distinct <= first.survivors)
    for point in 3..<6 { try trial.crash(at: point, extent, &tally) }
    #expect(tally.distinct == first.distinct && tally.survivors == 2 * first.survivors)
  }
}
