import AnnalsFormat
import AnnalsModel

/// Where replaying starts: the caller restores the state from it.
package struct LogStart: Sendable {
  /// The checkpoint's directory; nil for the empty state.
  package var directory: CheckpointDirectory?
  /// The transaction that the state is as of.
  package var number: Int64
  /// The schema at that transaction.
  package var schema: Schema
  /// The file that holds the chunks.
  package var file: LogGeneration
}
