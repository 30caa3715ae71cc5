import AnnalsModel
import AnnalsState
import Foundation

/// The ordered rows of a query in a state, which can advance to the next state: one for each object
/// found, or those that a timeline has of it.
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
  /// The objects without a place on a timeline, by row; their part is the reason.
  var absent = SortedList()

  /// The rows that a query finds. O(n log n), or by an index.
  package init(
    _ query: ListQuery, in state: State, _ sources: ListSources
  ) throws(StateFault) {
    self.query = query
    let bound = try ListBinding(query, in: state, sources)
    self.bound = bound
    buckets = query.buckets(bound)
    referrers = try Referrers(
      query.dependencies(in: state, sources.records), from: query.rows.entity, in: state)
    found = SortedList()
    let rows = try query.timeline == nil ? rowsFound() : []
    var entries =
      if let timeline = bound.timeline {
        try timelineEntries(timeline)
      } else {
        try objectEntries(of: rows)
      }
    if query.sections != nil, !entries.isEmpty {
      entries[0].beginsSection = true
      for index in entries.indices.dropFirst() {
        entries[index].beginsSection = try !isSameSection(entries[index - 1], entries[index])
      }
    }
    found = SortedList(entries)
  }

  /// The objects that meet the condition, in any order.
  private func rowsFound() throws(StateFault) -> [Int64] {
    var all = query.rows
    (all.limit, all.offset, all.keys) = (nil, 0, [])
    return try QueryPlan(all, in: state, bound.sources.conditions).rows()
  }

  private func objectEntries(
    of rows: [Int64]
  ) throws(StateFault) -> ContiguousArray<ListEntry> {
    var rows = rows
    if let filter = bound.sources.records?.filter {
      rows = Array(try filter(ContiguousArray(rows), state))
    }
    let ordered = try order.entries(of: rows)
    return ContiguousArray(ordered.lazy.map { ListEntry(word: $0.word, row: $0.row) })
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

  /// The entry at a position.
  package func entry(at position: Int) -> ListEntry {
    precondition(position >= 0 && position < count, "no row at position \(position)")
    return found[window.lowerBound + position]
  }

  /// The object of the row at a position.
  package func row(at position: Int) -> Int64 { entry(at: position).row }

  /// The objects of the rows at these positions. O(log n) and the rows.
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

  /// The positions of an object's rows, rising; none if it is not shown.
  package func positions(of row: Int64) throws(StateFault) -> [Int] {
    let window = window
    var result: [Int] = []
    for entry in try bound.entries(of: row) {
      if let position = try found.position(of: entry, by: order), window.contains(position) {
        result.append(position - window.lowerBound)
      }
    }
    return result.sorted()
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
  package mutating func key(ofSection section: Int) throws(StateFault) -> SectionKey {
    try sectionKey(of: entry(at: range(ofSection: section).lowerBound))
  }
}

// Keys.
extension QueryList {
  private mutating func sectionKey(of entry: ListEntry) throws(StateFault) -> SectionKey {
    if let timeline = query.timeline {
      return timeline.order.section(of: entry, &buckets).bucket.map { .bucket($0) } ?? .value(.null)
    }
    let value = try order.firstValue(of: entry.row)
    guard let moment = moment(of: value), let bucket = buckets?.bucket(containing: moment) else {
      return .value(value)
    }
    return .bucket(bucket)
  }

  /// The moment by which a value is in a bucket: of a date, and of a day where all are days, whose
  /// buckets are those of UTC.
  private func moment(of value: Value) -> Timestamp? {
    switch value {
    case .date(let moment): moment
    case .day(let day): order.beginsWithDays ? day.startInUTC : nil
    default: nil
    }
  }

  /// Whether two neighbours are in one section.
  mutating func isSameSection(
    _ a: ListEntry, _ b: ListEntry
  ) throws(StateFault) -> Bool {
    if a.word == b.word, order.isExact(a.word), query.timeline == nil { return true }
    return try sectionOutcome(a, b, in: order) == .equal
  }

  /// How the section of a row here stands to that of a row in the same order of another state.
  mutating func sectionOutcome(
    _ a: ListEntry, _ b: ListEntry, in other: RowOrder
  ) throws(StateFault) -> Outcome {
    if let timeline = query.timeline?.order {
      if timeline.isIn(timeline.section(of: a, &buckets), b) { return .equal }
      return timeline.precedes(a, b) ? .less : .greater
    }
    if buckets != nil, let x = moment(of: try order.firstValue(of: a.row)),
      let y = moment(of: try other.firstValue(of: b.row)),
      let bucket = buckets?.bucket(containing: x), bucket.contains(y)
    {
      return .equal
    }
    return try order.keyOutcome(a.row, b.row, in: other, order.keys.indices.prefix(1))
  }
}
