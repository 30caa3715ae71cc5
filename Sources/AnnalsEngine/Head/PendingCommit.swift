import AnnalsLog
import AnnalsModel
import AnnalsState

/// A commit that is appended to the log and not acknowledged yet.
///
/// One behind which another is expected soon has no version of its own: when it is acknowledged,
/// the version that readers see takes its batch over in place, which copies nothing.
struct PendingCommit {
  /// The position after it.
  let position: LogPosition
  /// The version after it; nil as long as none was made.
  var version: StoreVersion?
  /// All of its changes, where they are few.
  var batch: ChangeBatch?
  /// The state after it.
  let state: State
  /// The log up to it.
  let view: LogView
}

/// What was published last: which transactions, and their changes.
package struct PublishedChanges: Sendable {
  /// The transactions are those after this number…
  package let after: Int64
  /// … up to and with this one.
  package let through: Int64
  /// All of their changes; nil where they are many, or another process made them: then they are
  /// read from the log.
  package let batch: ChangeBatch?
}
