/// Transactions that damage destroyed, as named by a gap record in the history of a salvaged store.
///
/// Their numbers are not reused. The record's changes lead from the last state before them to what
/// is known of the state after them.
public struct LostTransactions: Hashable, Sendable {
  /// How many objects of an entity may hold values from before the gap.
  public struct StaleCount: Hashable, Sendable {
    /// The entity.
    public package(set) var entity: EntityNumber
    /// How many of its objects.
    public package(set) var objects: Int64

    /// The count of these parts.
    package init(entity: EntityNumber, objects: Int64) {
      self.entity = entity
      self.objects = objects
    }
  }

  /// The first lost transaction.
  public package(set) var first: Int64
  /// The last lost transaction.
  public package(set) var last: Int64
  /// The greatest timestamp before them; they were made at or after it.
  package var after: Timestamp
  /// The timestamp of the transaction after them; nil if none is left.
  package var before: Timestamp?
  /// Whether the state after them is known exactly, from a checkpoint.
  public package(set) var isExact: Bool
  /// Which objects may be stale, by entity; empty if the state is exact.
  public package(set) var stale: [StaleCount]
  /// When the store was salvaged.
  package var salvaged: Timestamp
  /// The damage, in words.
  public package(set) var reason: String
  /// The openings that the lost transactions introduced, as far as known.
  package var openings: [Opening]

  /// Creates a gap of these numbers, about which nothing else is known.
  package init(first: Int64, last: Int64, after: Timestamp, salvaged: Timestamp) {
    self.first = first
    self.last = last
    self.after = after
    self.salvaged = salvaged
    isExact = false
    stale = []
    reason = ""
    openings = []
  }

  /// The lost numbers.
  public var numbers: ClosedRange<Int64> { first...last }
}

extension LostTransactions: CustomStringConvertible {
  /// `transactions 120 to 122`, or `transaction 120`.
  public var description: String {
    first == last ? "transaction \(first)" : "transactions \(first) to \(last)"
  }
}

extension TransactionRecord {
  /// The first transaction number that this record covers: its own; for a gap record the first lost
  /// one.
  package var firstNumber: Int64 { lost?.first ?? number }
}
