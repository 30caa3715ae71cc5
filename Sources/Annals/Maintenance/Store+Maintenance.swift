import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Foundation

extension Store {
  /// How much history the store keeps at least, for everybody who opens it; off unless set. Call
  /// `refresh()` to see what others have set.
  public var retention: Retention { Retention(policy: writer.log.retention) }

  /// Sets how much history the store keeps at least. Synced before this returns. Drops nothing:
  /// `maintain()` does.
  ///
  /// Throws `.invalidArgument` for a retention of no days or no transactions, and as `write` does.
  public func setRetention(_ retention: Retention) throws(AnnalsError) {
    let parts = [retention.policy.age, retention.policy.transactions].compactMap { $0 }
    guard parts.allSatisfy({ $0 > 0 }) else {
      throw AnnalsError(
        .invalidArgument,
        "a store keeps history of more than no days, and at least one transaction; or everything"
      )
    }
    try writer.setRetention(retention.policy)
  }

  /// What `maintain` would do now.
  ///
  /// Reads the history that would be dropped, without values. Throws as
  /// `history(after:before:where:)` does.
  public func maintenancePlan(minimumGain: Double = 0.1) throws(AnnalsError) -> MaintenancePlan {
    let retention = retention
    let version = version
    func plan(
      _ outcome: MaintenancePlan.Outcome, floor: Int64, _ prune: PrunePlan? = nil,
      _ blockers: [ConsumerStatus] = [], share: Double = 0
    ) -> MaintenancePlan {
      MaintenancePlan(
        retention: retention, outcome: outcome, wantedFloor: floor, prune: prune,
        blockers: blockers, shareDropped: share)
    }
    let old = version.view.floor
    if retention.isOff { return plan(.off, floor: old) }
    let wanted = try version.floor(keeping: retention.policy, now: environment.clock())
    guard wanted > old else { return plan(.nothingToDrop, floor: old) }
    let blockers = consumers.filter { $0.blocks(floor: wanted) }
    let seen = blockers.map(\.token.number).min() ?? wanted
    let floor = version.floorOutsideGaps(min(wanted, seen + 1))
    guard floor > old else { return plan(.blocked, floor: wanted, nil, blockers) }
    let prune = try prunePlan(before: floor)
    let share = Double(prune.changes) / Double(max(version.view.changeCount, 1))
    let isWorthIt =
      version.view.end < Store.smallFile || share >= minimumGain
      || Int64(prune.transactions) >= prune.transactionsKept
    return plan(
      isWorthIt ? .prunes : .littleGained, floor: wanted, prune, blockers, share: share)
  }

  /// A file that is rewritten quickly, so that any gain is worth it.
  private static let smallFile: UInt64 = 1 << 20

  /// Drops the history that the store's retention does not keep, and frees its space. Does nothing
  /// if retention is off. Never drops what a blocking consumer with a running lease has not read;
  /// the plan in the report names the consumers that keep more than the retention.
  ///
  /// Dropping history rewrites the file, as `prune(_:author:force:)` does. So it happens only for a
  /// file below 1 MiB, or if at least `minimumGain` of the changes in the history are dropped, or
  /// half of the transactions; so it may be called often. Throws as `prune(_:author:force:)` does,
  /// and `.readOnly`.
  @discardableResult
  public func maintain(
    author: String? = nil, minimumGain: Double = 0.1
  ) throws(AnnalsError) -> MaintenanceReport {
    guard !options.isReadOnly else { throw .readOnlyStore(writer.log.path) }
    var isFirst = true
    while true {
      try refresh()
      let plan = try maintenancePlan(minimumGain: minimumGain)
      guard plan.outcome == .prunes, let prune = plan.prune else {
        return MaintenanceReport(plan: plan, rewrite: nil)
      }
      do throws(AnnalsError) {
        return MaintenanceReport(plan: plan, rewrite: try self.prune(prune, author: author))
      } catch {
        // Another process has pruned, or registered a consumer, since the plan was made.
        guard isFirst, error.code == .blocked || error.code == .conflict else { throw error }
        isFirst = false
      }
    }
  }
}

extension StoreVersion {
  /// The oldest transaction that a policy keeps; at least the newest one is kept.
  ///
  /// By age, the first that may have been made since: clocks go back, so one behind another is no
  /// older than that, whatever its timestamp says. A timestamp beyond now says nothing.
  fileprivate func floor(
    keeping policy: RetentionPolicy, now: Timestamp
  ) throws(AnnalsError) -> Int64 {
    var floor = view.head.number
    if let age = policy.age {
      let (start, overflow) = now.microseconds.subtractingReportingOverflow(age)
      let old = try AnnalsError.translating { () throws(LogError) in
        try view.number(
          certainlyBefore: Timestamp(microseconds: overflow ? .min : start), now: now)
      }
      floor = min(floor, old + 1)
    }
    if let count = policy.transactions { floor = min(floor, firstNumber(ofNewest: count)) }
    return floorOutsideGaps(max(floor, view.floor))
  }

  /// The first of so many of the newest transactions, not counting lost ones; before the floor if
  /// there are fewer.
  private func firstNumber(ofNewest count: Int64) -> Int64 {
    var last = view.head.number
    var rest = count
    for gap in view.gaps.reversed() where gap.last > view.base {
      if last - gap.last >= rest { break }
      rest -= last - gap.last
      last = gap.first - 1
    }
    return last - rest + 1
  }

  /// The floor, or an earlier one if it would divide a gap.
  fileprivate func floorOutsideGaps(_ floor: Int64) -> Int64 {
    guard let gap = view.gap(at: floor - 1), gap.last >= floor else { return floor }
    return max(gap.first, view.floor)
  }
}
