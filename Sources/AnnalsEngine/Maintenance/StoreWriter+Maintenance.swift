import AnnalsLog
import AnnalsModel

extension StoreWriter {
  /// What maintenance would do now. Reads the history that would be dropped, without values.
  package func maintenancePlan(minimumGain: Double) throws(AnnalsError) -> MaintenancePlan {
    let retention = Retention(policy: log.retention)
    let version = head.published
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
    let wanted = try version.floor(keeping: retention.policy, now: now())
    guard wanted > old else { return plan(.nothingToDrop, floor: old) }
    let blockers = blockers(ofFloor: wanted)
    let seen = blockers.map(\.token.number).min() ?? wanted
    let floor = version.floorOutsideGaps(min(wanted, seen + 1))
    guard floor > old else { return plan(.blocked, floor: wanted, nil, blockers) }
    let prune = try prunePlan(after: floor - 1, in: version)
    let share = Double(prune.changes) / Double(max(version.view.changeCount, 1))
    let isWorthIt =
      version.view.end < StoreWriter.smallFile || share >= minimumGain
      || Int64(prune.transactions) >= prune.transactionsKept
    return plan(
      isWorthIt ? .prunes : .littleGained, floor: wanted, prune, blockers, share: share)
  }

  /// A file that is rewritten quickly, so that any gain is worth it.
  private static let smallFile: UInt64 = 1 << 20

  /// Drops the history that the retention does not keep. As `Store.maintain`.
  package func maintain(
    author: String?, minimumGain: Double
  ) throws(AnnalsError) -> MaintenanceReport {
    guard !options.isReadOnly else { throw .readOnlyStore(log.path) }
    var isFirst = true
    while true {
      try AnnalsError.translating { try refresh() }
      let plan = try maintenancePlan(minimumGain: minimumGain)
      guard plan.outcome == .prunes, let wanted = plan.prune else {
        return MaintenanceReport(plan: plan, rewrite: nil)
      }
      do throws(AnnalsError) {
        return MaintenanceReport(
          plan: plan, rewrite: try prune(wanted, author: author, force: false))
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
      let old = try AnnalsError.translating {
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
