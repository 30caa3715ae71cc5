import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

/// What of a fetch only records decide, for lists that are kept up to date, and for groups. A
/// class, so that the functions of its work retain one object.
package final class FetchedRecords<R: Record>: Sendable {
  private let tests: [RecordTest<R>]
  private let order: [SortDescriptor<R>]
  private let binding: RecordBinding<R>
  private let store: RawUUID
  private let largeValues: any LargeValueSource

  /// The tests and the order of a fetch, with records read as `query` reads them.
  package init(_ fetch: Fetch<R>, _ query: RecordQuery<R>) {
    tests = fetch.tests
    order = fetch.recordOrder
    binding = query.binding
    store = query.reader.store
    largeValues = query.reader.largeValues
  }

  /// The same for queries by numbers, which know no records.
  package var work: RecordWork {
    let filter: RecordWork.Filter = { (rows, state) throws(StateFault) in
      try self.wanted(rows, in: state)
    }
    let order = RecordWork.Order(
      ranks: { (rows, state) throws(StateFault) in try self.ranks(of: rows, in: state) },
      outcome: { (a, stateA, b, stateB) throws(StateFault) in
        try self.outcome(a, in: stateA, b, in: stateB)
      })
    return RecordWork(
      filter: tests.isEmpty ? nil : filter, order: self.order.isEmpty ? nil : order,
      relationships: relationships)
  }

  private var relationships: [PropertyNumber] {
    binding.layout.columns.compactMap {
      $0.isRelationship && !$0.isToMany && $0.property > 0 ? $0.property : nil
    }
  }

  private func wanted(
    _ rows: ContiguousArray<Int64>, in state: State
  ) throws(StateFault) -> ContiguousArray<Int64> {
    var wanted: ContiguousArray<Int64> = []
    try forEachRecord(of: rows, in: state) { record, row throws(AnnalsError) in
      for test in tests where try !test.holds(record, row: row) { return }
      wanted.append(row)
    }
    return wanted
  }

  private func ranks(
    of rows: ContiguousArray<Int64>, in state: State
  ) throws(StateFault) -> ContiguousArray<Int> {
    var records: ContiguousArray<R> = []
    records.reserveCapacity(rows.count)
    try forEachRecord(of: rows, in: state) { record, _ in records.append(record) }
    let sorted = records.indices.sorted { order.outcome(records[$0], records[$1]) == .less }
    var ranks = ContiguousArray(repeating: 0, count: rows.count)
    var rank = 0
    for (place, index) in sorted.enumerated() where place > 0 {
      if order.outcome(records[sorted[place - 1]], records[index]) != .equal { rank = place }
      ranks[index] = rank
    }
    return ranks
  }

  private func outcome(
    _ a: Int64, in stateA: State, _ b: Int64, in stateB: State
  ) throws(StateFault) -> Outcome {
    do throws(AnnalsError) {
      return order.outcome(try record(a, stateA), try record(b, stateB))
    } catch {
      throw .interrupted(error)
    }
  }

  private func record(_ row: Int64, _ state: State) throws(AnnalsError) -> R {
    try binding.read(row, from: state, store: store, largeValues: largeValues)
  }

  private func forEachRecord(
    of rows: ContiguousArray<Int64>, in state: State,
    _ body: (R, Int64) throws(AnnalsError) -> Void
  ) throws(StateFault) {
    var records = binding.reader(of: state, store: store, largeValues: largeValues)
    do throws(AnnalsError) {
      for row in rows { try body(try binding.read(row, &records), row) }
    } catch {
      throw .interrupted(error)
    }
  }
}

extension Array {
  /// How two records stand to each other by the descriptors.
  func outcome<R: Record>(_ a: R, _ b: R) -> Outcome where Element == SortDescriptor<R> {
    for descriptor in self {
      switch descriptor.compare(a, b) {
      case .orderedAscending: return .less
      case .orderedDescending: return .greater
      case .orderedSame: continue
      }
    }
    return .equal
  }
}
