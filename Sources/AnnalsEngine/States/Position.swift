import AnnalsModel

/// A position in the history of an open store.
package struct Position: Hashable, Sendable {
  /// The number of the last transaction; 0 before the first.
  package var number: Int64 = 0
  /// The timestamp of that transaction.
  package var timestamp = Timestamp(microseconds: 0)
  /// The id of the opening that wrote it; 0 for none.
  package var opening: UInt64 = 0

  package init() {}

  package init(number: Int64, timestamp: Timestamp, opening: UInt64) {
    self.number = number
    self.timestamp = timestamp
    self.opening = opening
  }
}
