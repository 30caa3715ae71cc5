import AnnalsLog
import AnnalsModel
import AnnalsState

/// Commits appended to the log and not acknowledged yet, that are published together.
///
/// One commit alone has no version of its own as long as nobody asks for it: when it is
/// acknowledged, the version that readers see takes its batch over in place, which copies nothing.
/// Where others join it, the group's version is made, and takes over theirs in place.
struct PendingGroup {
  /// The position after the last of them.
  var position: LogPosition
  /// The log up to it.
  var view: LogView
  /// The version after it; nil as long as none was made.
  var version: StoreVersion?
  /// The state after it; nil if there is a version.
  var state: State?
  /// All changes of the one commit, where they are few; nil if there are several commits.
  var batch: ChangeBatch?
  /// Whether no other commit joins it: its sync has begun.
  var isClosed = false
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
