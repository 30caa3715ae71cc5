import AnnalsFormat
import AnnalsModel

/// What a caller provides of a transaction besides its changes.
package struct TransactionEnvelope: Sendable {
  package var timestamp: Timestamp
  package var author: String?
  package var context: String?
  /// Key-value pairs, keys rising by UTF-8 bytes.
  package var metadata: [MetadataEntry]
  /// The complete new definitions of changed entities.
  package var schemaChange: [EntityChange]
  /// The tagged extension area's raw bytes.
  package var extensions: ContiguousArray<UInt8>
  /// The opening that wrote it; nil for the log's own. Imports and replays keep the original.
  package var opening: Opening?
  /// The features that it uses: announced before it, unless the file has them.
  package var features = Features.none
}

extension TransactionEnvelope {
  package init(
    timestamp: Timestamp, author: String? = nil, context: String? = nil,
    metadata: [MetadataEntry] = [], schemaChange: [EntityChange] = [],
    extensions: ContiguousArray<UInt8> = [], opening: Opening? = nil
  ) {
    // By way of the initialiser of all properties: one that sets each by itself makes a copy.
    self.init(
      timestamp: timestamp, author: author, context: context, metadata: metadata,
      schemaChange: schemaChange, extensions: extensions, opening: opening, features: .none)
  }
}

/// A transaction that was begun and is neither committed nor aborted.
///
/// Guarded by the log's mutex, as part of its state. A class, since it has many parts to copy.
final class OpenTransaction: @unchecked Sendable {
  /// The record that its parts share; nil until it was described.
  @exclusivity(unchecked) var record: TransactionRecord?
  /// The length of the record's details.
  @exclusivity(unchecked) var detailsLength = 0
  /// The large values written so far.
  @exclusivity(unchecked) var largeValues: [LargeValueEntry] = []
  /// Whether pieces of the last of them are missing.
  @exclusivity(unchecked) var isWithinLargeValue = false
  /// The parts that were appended, and whether the last was.
  @exclusivity(unchecked) var parts = TransactionParts()
  @exclusivity(unchecked) var isComplete = false
  /// The consumer changes that are written along with it.
  @exclusivity(unchecked) var consumers: [ConsumerChange] = []
  /// The features that are announced before its first part.
  @exclusivity(unchecked) var features = Features.none
  /// Where its unit begins, if that is after an announcement, which is a unit of its own.
  @exclusivity(unchecked) var start: UInt64?
  /// Whether the transaction records this log's own opening.
  @exclusivity(unchecked) var recordsOwnOpening = false

  /// Empties the transaction for the next one, and keeps its memory.
  func reset() {
    record = nil
    detailsLength = 0
    if !largeValues.isEmpty { largeValues = [] }
    isWithinLargeValue = false
    parts.removeAll()
    isComplete = false
    if !consumers.isEmpty { consumers = [] }
    features = .none
    start = nil
    recordsOwnOpening = false
  }
}
