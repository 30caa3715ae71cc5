import AnnalsModel
import AnnalsState

/// What only the records of rows decide, which the layer above reads: whether a row that a
/// condition lets through is wanted, and which comes first.
///
/// The answer for a row depends on the state alone.
package protocol RecordWork: Sendable {
  /// Whether some rows are not wanted.
  var filters: Bool { get }
  /// Whether records have an order.
  var orders: Bool { get }
  /// The to-one relationships of the records: whether their targets exist is part of a record.
  var relationships: [PropertyNumber] { get }
  /// Those of these rows that are wanted, in the same order.
  func wanted(
    _ rows: ContiguousArray<Int64>, in state: State
  ) throws(ConditionFault) -> ContiguousArray<Int64>
  /// For each of the rows its rank by the order of records; the same for equal ones. O(n log n).
  func ranks(
    of rows: ContiguousArray<Int64>, in state: State
  ) throws(ConditionFault) -> ContiguousArray<Int>
  /// How the record of a row in a state stands to that of a row in another.
  func outcome(
    _ a: Int64, in stateA: State, _ b: Int64, in stateB: State
  ) throws(ConditionFault) -> Outcome
}

/// The order of records in one state, as a part of the order of rows.
final class RecordOrder: Sendable {
  let work: any RecordWork
  let state: State
  /// How many keys count more.
  let place: Int

  init(_ work: any RecordWork, in state: State, behind place: Int) {
    self.work = work
    self.state = state
    self.place = place
  }

  func outcome(
    _ a: Int64, _ b: Int64, in other: RecordOrder
  ) throws(ConditionFault) -> Outcome {
    try work.outcome(a, in: state, b, in: other.state)
  }
}

extension RowOrder {
  /// The rows in an order in which records count, each with its word. O(n log n).
  func recordEntries(
    of rows: [Int64], by records: RecordOrder
  ) throws(ConditionFault) -> ContiguousArray<(word: UInt64, row: Int64)> {
    let ranks = try records.work.ranks(of: ContiguousArray(rows), in: records.state)
    var entries: ContiguousArray<(word: UInt64, rank: Int, row: Int64)> = []
    entries.reserveCapacity(rows.count)
    for (row, rank) in zip(rows, ranks) { entries.append((try word(of: row), rank, row)) }
    do {
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
    } catch let fault as ConditionFault {
      throw fault
    } catch {
      throw .record(error)
    }
    return ContiguousArray(entries.lazy.map { ($0.word, $0.row) })
  }
}
