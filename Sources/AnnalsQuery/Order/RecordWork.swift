import AnnalsModel
import AnnalsState

/// What only the records of rows decide, which the layer above reads: whether a row that a
/// condition lets through is wanted, and which comes first.
///
/// The answer for a row depends on the state alone.
package struct RecordWork: Sendable {
  /// Returns those of the rows that are wanted, in the same order.
  package typealias Filter =
    @Sendable (_ rows: ContiguousArray<Int64>, State) throws(StateFault)
    -> ContiguousArray<Int64>

  /// The order of records, as functions of rows and of the states that they are read from.
  package struct Order: Sendable {
    /// For each of the rows its rank by the order; the same for equal ones. O(n log n).
    package typealias Ranks =
      @Sendable (_ rows: ContiguousArray<Int64>, State) throws(StateFault)
      -> ContiguousArray<Int>
    /// How the record of a row in a state stands to that of a row in another.
    package typealias Comparison =
      @Sendable (Int64, State, Int64, State) throws(StateFault) -> Outcome

    let ranks: Ranks
    let outcome: Comparison

    /// Creates the order from its two functions, which must agree.
    package init(ranks: @escaping Ranks, outcome: @escaping Comparison) {
      self.ranks = ranks
      self.outcome = outcome
    }
  }

  /// Finds the wanted ones of some rows; nil if all are wanted.
  let filter: Filter?
  /// The order of the records; nil if they have none.
  let order: Order?
  /// The to-one relationships of the records: whether their targets exist is part of a record.
  let relationships: [PropertyNumber]

  /// Creates the work of a fetch.
  package init(filter: Filter?, order: Order?, relationships: [PropertyNumber]) {
    self.filter = filter
    self.order = order
    self.relationships = relationships
  }
}

/// The order of records in one state, as a part of the order of rows.
final class RecordOrder: Sendable {
  private let order: RecordWork.Order
  private let state: State
  /// How many keys count more.
  let place: Int

  init(_ order: RecordWork.Order, in state: State, behind place: Int) {
    self.order = order
    self.state = state
    self.place = place
  }

  func outcome(
    _ a: Int64, _ b: Int64, in other: RecordOrder
  ) throws(StateFault) -> Outcome {
    try order.outcome(a, state, b, other.state)
  }

  /// For each of the rows its rank; the same for equal records. O(n log n).
  func ranks(of rows: [Int64]) throws(StateFault) -> ContiguousArray<Int> {
    try order.ranks(ContiguousArray(rows), state)
  }
}

extension RowOrder {
  /// The rows in an order in which records count, each with its word. O(n log n).
  func recordEntries(
    of rows: [Int64], by records: RecordOrder
  ) throws(StateFault) -> ContiguousArray<(word: UInt64, row: Int64)> {
    let ranks = try records.ranks(of: rows)
    var entries: ContiguousArray<(word: UInt64, rank: Int, row: Int64)> = []
    entries.reserveCapacity(rows.count)
    for (row, rank) in zip(rows, ranks) { entries.append((try word(of: row), rank, row)) }
    try StateFault.translating {
      try entries.sort { a, b in
        if a.word != b.word { return a.word < b.word }
        let first = isExact(a.word) ? 1 : 0
        if first < records.place {
          let outcome = try keyOutcome(a.row, b.row, in: self, first..<records.place)
          if outcome != .equal { return outcome == .less }
        }
        if a.rank != b.rank { return a.rank < b.rank }
        let outcome = try keyOutcome(a.row, b.row, in: self, records.place..<keys.count)
        return (outcome == .equal ? ties(a.row, b.row) : outcome) == .less
      }
    }
    return ContiguousArray(entries.lazy.map { ($0.word, $0.row) })
  }
}
