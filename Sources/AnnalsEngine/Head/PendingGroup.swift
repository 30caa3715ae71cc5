import AnnalsLog
import AnnalsModel
import AnnalsState

/// A group of commits that are appended to the log but not yet acknowledged, and will be published
/// together.
///
/// A group of one small commit has no version of its own until somebody asks for it: when it is
/// acknowledged, the published version applies its batch in place and copies nothing. When a second
/// commit joins, the group's version is made, and applies later batches in place.
struct PendingGroup {
  /// The position after the group's last commit.
  var position: LogPosition
  /// The log up to that position.
  var view: LogView
  /// The version at that position; nil until one is made.
  var version: StoreVersion?
  /// The state at that position; nil once there is a version.
  var state: State?
  /// All changes of a single small commit; nil if there are several commits.
  var batch: ChangeBatch?
  /// Whether the group accepts no more commits because its sync has begun.
  var isClosed = false
}

/// The most recently published transactions, and their changes.
package struct PublishedChanges: Sendable {
  /// The transactions are those after this number…
  package let after: Int64
  /// … up to and including this one.
  package let through: Int64
  /// All of their changes. Nil if they are many or another process made them; then readers get them
  /// from the log.
  package internal(set) var batch: ChangeBatch?
}
