import AnnalsReplication
import AnnalsTestSupport
import Testing

@testable import AnnalsTorture

/// Replicas of a log with faults, cut off, killed and without power: and the check of what was said
/// to their writers and readers.
@Suite(.deadline) struct ReplicaTrialTests {
  @Test(arguments: 1...4) func promisesAreKept(_ seed: UInt64) async throws {
    let log = InMemorySharedLog()
    let history = try await ReplicaTrial.inMemory(seed: seed, log: log)
    #expect(history.events.count > 96, "seed \(seed)")
    #expect(history.batched > 0, "seed \(seed)")
    print(
      "seed \(seed): \(history.acknowledged) acknowledged, \(history.batched) of them in batches, "
        + "\(history.reads) reads, the log has \(log.contents.first) to \(log.contents.last)")
  }

  /// A history of events at these moments.
  private func history(
    _ events: [(replica: Int, began: Int, ended: Int, kind: ReplicaHistory.Kind)]
  ) -> ReplicaHistory {
    var history = ReplicaHistory()
    var moment = 0
    for event in events.sorted(by: { $0.ended < $1.ended }) {
      while moment < event.ended - 1 { moment = history.moment() }
      history.add(event.kind, by: event.replica, opening: 1, began: event.began)
      moment = event.ended
    }
    return history
  }

  private let marks: [Int64: String] = [2: "a", 3: "b", 5: "c"]

  @Test func whatIsInOrderPasses() throws {
    let history = history([
      (0, 1, 2, .write(mark: "a", .committed(2))), (1, 3, 6, .write(mark: "c", .committed(5))),
      (0, 4, 5, .write(mark: "b", .committed(3))), (0, 7, 8, .read(number: 3, marks: 2, total: 2)),
      (1, 7, 9, .read(number: 5, marks: 3, total: 3)), (2, 7, 10, .write(mark: "d", .refused)),
      (2, 11, 12, .write(mark: "e", .unknown)),
    ])
    try history.check(marks)
    #expect(history.acknowledged == 3 && history.reads == 2)
  }

  @Test(arguments: [
    // Lost, doubled, with another number; refused and there.
    [(0, 1, 2, ReplicaHistory.Kind.write(mark: "d", .committed(4)))],
    [(0, 1, 2, .write(mark: "a", .committed(3)))],
    [(0, 1, 2, .write(mark: "a", .refused))],
    // In another order than one after the other.
    [(0, 1, 2, .write(mark: "b", .committed(3))), (1, 3, 4, .write(mark: "a", .committed(2)))],
    // Half of a state; an addition that was lost.
    [(0, 1, 2, .read(number: 3, marks: 1, total: 2))],
    [(0, 1, 2, .read(number: 3, marks: 2, total: 1))],
    // Back in time; not what was written here.
    [
      (0, 1, 2, .read(number: 5, marks: 3, total: 3)),
      (0, 3, 4, .read(number: 3, marks: 2, total: 2)),
    ],
    [
      (0, 1, 2, .write(mark: "c", .committed(5))), (0, 3, 4, .read(number: 3, marks: 2, total: 2)),
    ],
  ])
  func whatIsNotIsFound(
    _ events: [(replica: Int, began: Int, ended: Int, kind: ReplicaHistory.Kind)]
  ) {
    #expect(throws: BrokenPromise.self) { try history(events).check(marks) }
  }

  @Test func aMarkThatIsThereTwiceIsFound() {
    #expect(throws: BrokenPromise.self) { try history([]).check([2: "a", 3: "a"]) }
  }
}
