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

  package init(
    timestamp: Timestamp, author: String? = nil, context: String? = nil,
    metadata: [MetadataEntry] = [], schemaChange: [EntityChange] = [],
    extensions: ContiguousArray<UInt8> = [], opening: Opening? = nil
  ) {
    self.timestamp = timestamp
    self.author = author
    self.context = context
    self.metadata = metadata
    self.schemaChange = schemaChange
    self.extensions = extensions
    self.opening = opening
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
}

/// The numbers of interned names, by their bytes.
///
/// Caches the strings asked for last, as authors and contexts repeat, so that the usual commit
/// needs no look-up.
struct NameNumbers: Sendable {
  private var numbers: [ContiguousArray<UInt8>: NameNumber] = [:]
  /// How many of the log's names are in `numbers`.
  private var count = 0
  private var recent: ContiguousArray<(name: String, number: NameNumber)> = []
  /// Which of `recent` is replaced next.
  private var oldest = 0

  /// How many strings are cached: few enough to compare with each.
  private static let memory = 8

  /// The number of a name that the log knows; nil if it is new.
  mutating func number(of name: String, in names: [String]) -> NameNumber? {
    let known = recent.withUnsafeBufferPointer { recent in
      recent.indices.first { recent[$0].name.hasSameBytes(as: name) }
    }
    if let known { return recent[known].number }
    while count < names.count {
      count += 1
      numbers[ContiguousArray(names[count - 1].utf8)] = NameNumber(count)
    }
    guard let number = numbers[ContiguousArray(name.utf8)] else { return nil }
    if recent.count < NameNumbers.memory {
      recent.append((name, number))
    } else {
      recent[oldest] = (name, number)
      oldest = (oldest + 1) % NameNumbers.memory
    }
    return number
  }
}
