import AnnalsModel
import AnnalsState
import Foundation

/// The ordered rows of a query in a state, which can advance to the next state.
///
/// A value: copies do not change. Positions and sections are those of the window that the query's
/// offset and limit leave.
package struct QueryList: Sendable {
  package let query: ListQuery
  /// All rows found, also those outside the window.
  package internal(set) var found: SortedList
  /// The query in the state in which these are the rows.
  var bound: ListBinding
  var referrers: Referrers
  var buckets: CalendarBuckets?

  /// The rows that a query finds. O(n log n), or by an index.
  package init(
    _ query: ListQuery, in state: State, _ sources: ConditionSources, _ bytes: @escaping LargeBytes
  ) throws(QueryPlan.Failure) {
    self.query = query
    var all = query.rows
    (all.limit, all.offset, all.keys) = (nil, 0, [])
    var rows = try QueryPlan(all, in: state, sources).rows()
    bound = try ListBinding(query, in: state, ListSources(sources, bytes, query.records))
    if case .calendar(let unit, let zone) = query.sections {
      buckets = CalendarBuckets(unit, timeZone: zone)
    }
    referrers = try QueryPlan.Failure.reading { () throws(StateFault) in
      try Referrers(
        query.rows.condition.dependencies
          + (query.rows.keys.map(\.path)
          + QueryList.paths(of: query.records, of: query.rows.entity, in: state))
          .map { PathDependency($0) },
        from: query.rows.entity, in: state)
    }
    found = SortedList()
    do throws(ConditionFault) {
      if let filter = query.records?.filter {
        rows = Array(try filter(ContiguousArray(rows), state))
      }
      var entries: ContiguousArray<ListEntry> = []
      for (word, row) in try order.entries(of: rows) {
        var entry = ListEntry(word: word, row: row)
        if query.sections != nil {
          entry.beginsSection =
            try entries.last.map { (last) throws(ConditionFault) in
              try !isSameSection(last, entry)
            } ?? true
        }
        entries.append(entry)
      }
      found = SortedList(entries)
    } catch {
      throw .evaluation(error)
    }
  }

  /// The paths to objects that are part of the records by whether they exist.
  private static func paths(
    of records: RecordWork?, of number: EntityNumber, in state: State
  ) -> [PropertyPath] {
    guard let records, let entity = state.schema.entity(numbered: number) else { return [] }
    return records.relationships.compactMap { entity.propertyName($0) }.map { [$0] }
  }

  /// The entities whose objects determine which rows there are, and their order.
  package var entities: Set<EntityNumber> { referrers.targets.union([query.rows.entity]) }

  /// The state in which these are the rows.
  package var state: State { bound.state }

  var order: RowOrder { bound.order }

  /// The positions among all rows found that are shown.
  package var window: Range<Int> { query.window(of: found.count) }
}

// Reading. Costs O(log n) unless said.
extension QueryList {
  /// How many rows are shown. O(1).
  package var count: Int { window.count }

  /// The row at a position.
  package func row(at position: Int) -> Int64 {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    return found[window.lowerBound + position].row
  }

  /// The rows at these positions. O(log n) and the rows.
  package func rows(in range: Range<Int>) -> [Int64] {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "no rows at \(range)")
    let start = window.lowerBound
    var result: [Int64] = []
    result.reserveCapacity(range.count)
    found.forEach(in: start + range.lowerBound..<start + range.upperBound) {
      result.append($0.row)
    }
    return result
  }

  /// The position of a row; nil if it is not shown.
  package func position(of row: Int64) throws(ConditionFault) -> Int? {
    var block = RowBlock.none
    guard let entry = try bound.entry(ofMatching: row, &block),
      let position = try found.position(of: entry, by: order)
    else { return nil }
    return window.contains(position) ? position - window.lowerBound : nil
  }

  /// How many sections are shown; none in a list without sections, and in one without rows.
  package var sectionCount: Int {
    let window = window
    guard query.sections != nil, !window.isEmpty else { return 0 }
    if window.count == found.count { return found.sectionCount }
    return found.section(at: window.upperBound - 1) - firstSection + 1
  }

  /// The first section shown, among all.
  private var firstSection: Int {
    let window = window
    return window.lowerBound == 0 || window.isEmpty ? 0 : found.section(at: window.lowerBound)
  }

  /// The positions of a section's rows.
  package func range(ofSection section: Int) -> Range<Int> {
    precondition(section >= 0 && section < sectionCount, "no section \(section)")
    let window = window
    let range = found.range(ofSection: firstSection + section).clamped(to: window)
    return range.lowerBound - window.lowerBound..<range.upperBound - window.lowerBound
  }

  /// Where the row at a position is.
  package func place(of position: Int) -> ListDiff.Place {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    guard query.sections != nil else {
      return ListDiff.Place(position: position, section: 0, item: position)
    }
    let section = found.section(at: window.lowerBound + position) - firstSection
    return ListDiff.Place(
      position: position, section: section,
      item: position - range(ofSection: section).lowerBound)
  }

  /// What the rows of a section have in common.
  package mutating func key(ofSection section: Int) throws(ConditionFault) -> SectionKey {
    try sectionKey(of: row(at: range(ofSection: section).lowerBound))
  }
}

// Keys.
extension QueryList {
  mutating func sectionKey(of row: Int64) throws(ConditionFault) -> SectionKey {
    let value = try order.firstValue(of: row)
    guard case .date(let moment) = value, let bucket = buckets?.bucket(containing: moment) else {
      return .value(value)
    }
    return .bucket(bucket)
  }

  /// Whether two neighbours are in one section.
  mutating func isSameSection(
    _ a: ListEntry, _ b: ListEntry
  ) throws(ConditionFault) -> Bool {
    if a.word == b.word, order.isExact(a.word) { return true }
    return try sectionOutcome(a.row, b.row, in: order) == .equal
  }

  /// How the section of a row here stands to that of a row in the same order of another state.
  mutating func sectionOutcome(
    _ a: Int64, _ b: Int64, in other: RowOrder
  ) throws(ConditionFault) -> Outcome {
    if buckets != nil, case .date(let x) = try order.firstValue(of: a),
      case .date(let y) = try other.firstValue(of: b),
      let bucket = buckets?.bucket(containing: x), bucket.contains(y)
    {
      return .equal
    }
    return try order.keyOutcome(a, b, in: other, order.keys.indices.prefix(1))
  }
}
