import AnnalsTestSupport
import AnnalsTorture
import Foundation
import Testing

/// What a run of `Tools/torture` gets to, and in which order.
@Suite struct TortureRunTests {
  private func run(seed: UInt64, only: String? = nil, turns: Int) throws -> TortureRun {
    try TemporaryFolder.with { folder in
      let run = TortureRun(
        seed: seed, seconds: 3_600, folder: folder, executable: try TemporaryFolder.torture,
        only: only,
        workloads: Workload.all.filter { ["creation", "commits"].contains($0.name) },
        hasReplicas: false)
      run.run(turns: turns)
      #expect(run.failures.isEmpty, "seed \(seed): \(run.failures)")
      return run
    }
  }

  @Test func everyKindHasATurnBeforeAnyHasTwo() throws {
    let run = try run(seed: 5, turns: 1)
    #expect(run.crashes.map(\.name) == ["creation", "commits", "group", "group-deferred"])
    #expect(run.errors.map(\.name) == ["creation", "commits"] + PairTrial.names)
    for row in run.crashes { #expect(row.tried == 1 && row.count > 3, "\(row.name)") }
    for row in run.errors { #expect(row.tried == 3 && row.count > 30, "\(row.name)") }
    #expect(run.processes.map(\.name) == ["kill", "follow", "erase"])
    #expect(run.processes.map(\.tally.kills) == [11, 11, 11])
    #expect(!run.isComplete)
  }

  @Test func theSeedDecidesWhatIsTried() throws {
    let one = try run(seed: 5, only: "error/commits", turns: 4)
    #expect(one.tried.count == 12 && Set(one.tried).count == 12)
    #expect(try run(seed: 5, only: "error/commits", turns: 4).tried == one.tried)
    #expect(try run(seed: 6, only: "error/commits", turns: 4).tried != one.tried)
  }

  @Test func pointsAreTriedInBriefAndThenInFull() throws {
    let run = try run(seed: 5, only: "crash/creation", turns: .max)
    let row = try #require(run.crashes.first { $0.name == "creation" })
    #expect(row.tried == row.count && row.triedInFull == row.count && run.isComplete)
    #expect(run.tried.prefix(row.count).allSatisfy { $0.hasSuffix("/brief") })
    #expect(run.tried.count == 2 * row.count && Set(run.tried).count == run.tried.count)
    #expect(run.crashes.allSatisfy { $0.isTried == ($0.name == "creation") })
  }
}
