import AnnalsFormat
import AnnalsModel

/// Where a transaction comes from, besides its changes.
package struct TransactionOrigin: Sendable {
  package var author: String?
  package var context: String?
  package var metadata: [String: Value] = [:]
  /// The transaction's own moment, kept as it is; nil takes the clock's.
  package var timestamp: Timestamp?
  /// The opening that the transaction names; nil names this one.
  package var opening: Opening?
  /// Whether the transaction is recorded even if nothing changed.
  package var isAlwaysRecorded = false
  /// Whether relationships may name objects that do not exist: for imports of what another store
  /// once allowed.
  package var allowsDangling = false
  /// Whether required values may be missing: what led over a gap knows some no more.
  package var allowsMissing = false

  /// What the transaction uses that the file may not have yet.
  package var features = Features.none
  /// What the transaction erases, for its record.
  package var erasure: Erasure?

  package init(author: String? = nil, context: String? = nil, metadata: [String: Value] = [:]) {
    self.author = author
    self.context = context
    self.metadata = metadata
  }
}
