/// Transactions that damage has destroyed, as a gap record in the history of a salvaged store names
/// them.
///
/// Their numbers are not given again. The record's changes lead from the last state before to what
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

  /// The first transaction that is missing.
  public package(set) var first: Int64
  /// The last one.
  public package(set) var last: Int64
  /// The greatest timestamp of the transactions before, at or after which they were made.
  package var after: Timestamp
  /// The timestamp of the transaction behind them; nil if none is left.
  package var before: Timestamp?
  /// Whether the state behind them is known exactly, from a checkpoint.
  public package(set) var isExact: Bool
  /// Which objects may be stale, by entity; empty if the state is exact.
  public package(set) var stale: [StaleCount]
  /// When the store was salvaged.
  package var salvaged: Timestamp
  /// What was wrong with the damaged file, in words.
  public package(set) var reason: String
  /// Openings that the lost transactions began, as far as known.
  package var openings: [Opening]

  /// The gap of these numbers, of which nothing else is known.
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

  /// The numbers that are missing.
  public var numbers: ClosedRange<Int64> { first...last }
}

extension LostTransactions: CustomStringConvertible {
  /// `transactions 120 to 122`, or `transaction 120`.
  public var description: String {
    first == last ? "transaction \(first)" : "transactions \(first) to \(last)"
  }
}

extension TransactionRecord {
  /// The number that this record must follow by one: its own, or the first one that it covers.
  package var firstNumber: Int64 { lost?.first ?? number }
}
