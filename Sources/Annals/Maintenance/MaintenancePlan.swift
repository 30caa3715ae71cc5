import Foundation

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
    /// Does nothing: the file would hardly become smaller, and would have to be rewritten.
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
  /// Roughly how many bytes would be freed.
  public let bytesGained: UInt64
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
