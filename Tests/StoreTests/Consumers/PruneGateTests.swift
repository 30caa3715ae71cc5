import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsStorage
import Testing

/// A prune waits for blocking consumers whose leases run.
struct PruneGateTests {
  private let lab = ConsumerLab()

  private func blockers(
    _ store: Store, before number: Int64
  ) throws(AnnalsError) -> [String] {
    let plan = try store.prunePlan(before: number)
    let planned = plan.blockers.map(\.name)
    do {
      try store.prune(plan)
      #expect(planned.isEmpty)
      return []
    } catch {
      #expect(error.code == .blocked)
      #expect(error.blockers == planned)
      for name in planned { #expect(error.message.contains("`\(name)`")) }
      return planned
    }
  }

  @Test func whoBlocksWhat() throws {
    let store = try lab.open(notes: 9)
    _ = try store.consumer("idle")
    let slow = try store.consumer("slow", blocking: true)
    let fast = try store.consumer("fast", blocking: true)
    try fast.advance(to: store.token(at: 6))
    #expect(try blockers(store, before: 2) == ["slow"])
    try slow.advance(to: store.token(at: 3))
    // It needs what comes behind 3, and the state as of 3.
    #expect(try blockers(store, before: 4) == [])
    #expect(store.base.number == 3)
    #expect(try blockers(store, before: 5) == ["slow"])
    #expect(try blockers(store, before: 8) == ["fast", "slow"])
    try store.removeConsumer("slow")
    #expect(try blockers(store, before: 7) == [])
    #expect(try fast.history().numbers() == [7, 8, 9, 10])
    try store.close()
    #expect(try lab.frames(.consumerChange) == 2)
  }

  @Test func leasesRunOut() throws {
    let store = try lab.open(notes: 9)
    let sync = try store.consumer("sync", blocking: true, lease: .seconds(100))
    lab.wait(seconds: 100)
    #expect(try blockers(store, before: 3) == ["sync"])
    lab.wait(seconds: 0.000_001)
    #expect(try !sync.status.isLeaseRunning)
    #expect(try blockers(store, before: 3) == [])
    // Opening it renews the lease, at once; and so does advancing.
    _ = try store.consumer("sync")
    #expect(try blockers(store, before: 4) == ["sync"])
    #expect(try lab.open(.readOnly).consumers.map(\.isLeaseRunning) == [true])
    lab.wait(seconds: 90)
    try sync.advance(to: store.token(at: 3))
    lab.wait(seconds: 90)
    #expect(try blockers(store, before: 4) == [])
    #expect(try blockers(store, before: 5) == ["sync"])
    lab.wait(seconds: 11)
    #expect(try blockers(store, before: 5) == [])
  }

  @Test func byForce() throws {
    let store = try lab.open(notes: 9)
    let sync = try store.consumer("sync", blocking: true)
    let plan = try store.prunePlan(before: Int64(5))
    #expect(plan.blockers.map(\.name) == ["sync"])
    try store.prune(plan, force: true)
    #expect(store.base.number == 4)
    do {
      _ = try sync.history()
      Issue.record("history that was pruned")
    } catch {
      #expect(error.code == .pruned)
      #expect(error.gap?.oldestValid.number == 4)
    }
    let lag = try sync.lag()
    #expect((lag.transactions, lag.changes, lag.isPruned) == (10, 6, true))
    try sync.advance(to: store.token)
    #expect(try sync.history().numbers() == [])
  }

  /// One that another process registers while the plan is looked at counts.
  @Test func oneThatComesLate() throws {
    let (store, other) = (try lab.open(notes: 9), try lab.open())
    let plan = try store.prunePlan(before: Int64(5))
    #expect(plan.blockers.isEmpty)
    _ = try other.consumer("late", blocking: true)
    do {
      try store.prune(plan)
      Issue.record("it was not waited for")
    } catch {
      #expect(error.blockers == ["late"])
    }
    #expect(store.base.number == 0)
    try store.note("still whole")
    try other.consumer("late").advance(to: other.token(at: 8))
    try other.note("with it")
    try store.prune(plan)
    #expect(store.base.number == 4)
    #expect(try store.consumer("late").history().numbers() == [9, 10, 11, 12])
  }
}
