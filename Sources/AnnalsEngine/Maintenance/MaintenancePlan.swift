/// What `Store.maintain()` would do, and what keeps it from doing more. Changes nothing.
public struct MaintenancePlan: Sendable {
  /// The result of the maintenance.
  public enum Outcome: String, Hashable, Sendable {
    /// Does nothing: retention is off, so all history is kept.
    case off
    /// Does nothing: the store holds no more than its retention keeps.
    case nothingToDrop
    /// Does nothing: `blockers` have not read what could be dropped.
    case blocked
    /// Does nothing: little would be dropped, and the file would have to be rewritten.
    case littleGained
    /// Drops the history before `prune`'s floor.
    case prunes
  }

  /// The store's retention.
  public let retention: Retention
  /// The result.
  public let outcome: Outcome
  /// The oldest transaction that the retention keeps.
  public let wantedFloor: Int64
  /// What would be dropped, as far as blocking consumers have read it; nil if nothing would.
  public let prune: PrunePlan?
  /// The blocking consumers with running leases that keep more than the retention does.
  public let blockers: [ConsumerStatus]
  /// The share of the changes in the history that would be dropped, from 0 to 1.
  public let shareDropped: Double
}

/// What `Store.maintain()` has done.
public struct MaintenanceReport: Sendable {
  /// The plan that was carried out.
  public let plan: MaintenancePlan
  /// What the prune did; nil if nothing was dropped.
  public let rewrite: RewriteSummary?

  /// The oldest transaction, if history was dropped; otherwise nil.
  public var floor: Int64? { rewrite == nil ? nil : plan.prune?.floor }
}

extension MaintenancePlan: CustomStringConvertible {
  /// What would be done, or why nothing: `keeps 30 days: drops 3 transactions before 12 (…)`.
  public var description: String {
    let what =
      switch outcome {
      case .off: "all history is kept"
      case .nothingToDrop: "nothing to drop"
      case .blocked: "blocked by \(blockers.nameList)"
      case .littleGained: "too little to drop, \(prune.map { "\($0.changes)" } ?? "no") changes"
      case .prunes: prune?.description ?? "drops history"
      }
    return "keeps \(retention): \(what)"
  }
}

extension MaintenanceReport: CustomStringConvertible {
  /// The plan, and what it did to the file.
  public var description: String {
    rewrite.map { "\(plan); \($0)" } ?? "\(plan)"
  }
}
