import Foundation

/// What `Store.maintain()` would do, and why not more. It changes nothing.
public struct MaintenancePlan: Sendable {
  /// What comes of it.
  public enum Outcome: String, Hashable, Sendable {
    /// Nothing: the store keeps all history.
    case off
    /// Nothing: the store has nothing but what it keeps.
    case nothingToDrop
    /// Nothing: `blockers` have not seen what could go.
    case blocked
    /// Nothing: the file would hardly be smaller, and had to be written anew for it.
    case littleGained
    /// History before `prune`'s floor goes.
    case prunes
  }

  /// How much the store keeps.
  public let retention: Retention
  /// What comes of it.
  public let outcome: Outcome
  /// The oldest transaction that the retention keeps.
  public let wantedFloor: Int64
  /// What would go, as far as consumers have seen it; nil if nothing would, whatever is gained.
  public let prune: PrunePlan?
  /// The blocking consumers with running leases that keep more than the retention does.
  public let blockers: [ConsumerStatus]
  /// About how many bytes would be given back.
  public let bytesGained: UInt64
}

/// What `Store.maintain()` did.
public struct MaintenanceReport: Sendable {
  /// What it was to do.
  public let plan: MaintenancePlan
  /// What the prune did; nil if nothing was to be dropped.
  public let rewrite: RewriteSummary?

  /// The oldest transaction now if history was dropped; nil if none was.
  public var floor: Int64? { rewrite == nil ? nil : plan.prune?.floor }
}
