import AnnalsEngine
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
    try writer.maintenancePlan(minimumGain: minimumGain)
  }

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
    try writer.maintain(author: author, minimumGain: minimumGain)
  }
}

extension PrunePlan {
  /// The date of the oldest dropped transaction; nil if none would be dropped.
  public var oldest: Date? { span.map { Date($0.lowerBound) } }
  /// The date of the newest dropped transaction; nil if none would be dropped.
  public var newest: Date? { span.map { Date($0.upperBound) } }
  /// The first date with a state afterwards; nil if every date has one.
  public var firstDate: Date? { firstMoment.map { Date($0) } }
}
