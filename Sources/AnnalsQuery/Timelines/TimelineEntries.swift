import AnnalsModel
import Foundation

/// The ordered rows of a timeline, sixteen bytes each, made from the objects' columns: the row of
/// an entry is the place of its object among them.
package struct TimelineEntries: Sendable {
  package let columns: TimelineColumns
  package let order: TimelineOrder
  /// The present time when the rows were made.
  package let now: Timestamp
  private var entries: ContiguousArray<ListEntry>

  /// The rows of the objects; with `group`, of those in this group. O(n log n).
  package init(
    _ columns: TimelineColumns, _ order: TimelineOrder, now: Timestamp, group: Int? = nil
  ) {
    self.columns = columns
    self.order = order
    self.now = now
    // Local: what a method appends to a property of its own is copied each time.
    var made: ContiguousArray<ListEntry> = []
    made.reserveCapacity(columns.count * (order.hidesEnds ? 1 : 2))
    entries = []
    for index in 0..<columns.count where group == nil || columns.group(index) == group {
      forEachEntry(of: index) { made.append($0) }
    }
    made.sort(by: order.precedes)
    entries = made
  }

  /// Calls `body` with the rows of an object.
  private func forEachEntry(of index: Int, _ body: (ListEntry) -> Void) {
    order.forEachEntry(
      of: Int64(index), start: columns.starts[index], end: columns.ends[index],
      columns.kind(index), now: now, body)
  }

  /// How many rows there are.
  package var count: Int { entries.count }

  /// The row at a position. O(1).
  package subscript(position: Int) -> ListEntry { entries[position] }

  /// The place of a row's object among the columns.
  package func index(_ entry: ListEntry) -> Int { Int(entry.row) }

  /// The positions of an object's rows, rising. O(log n).
  package func positions(of object: ObjectReference) -> [Int] {
    var result: [Int] = []
    for index in columns.places(of: object) {
      forEachEntry(of: index) { entry in
        let found = entries.rank { order.precedes($0, entry) }
        if found < entries.count, entries[found] == entry { result.append(found) }
      }
    }
    return result.sorted()
  }

  /// The positions of the rows that stand at these dates. O(log n).
  package func positions(from start: Int64, to end: Int64) -> Range<Int> {
    func rank(_ date: Int64) -> Int {
      let word = order.word(date)
      return entries.rank { order.isDescending ? $0.word <= word : $0.word < word }
    }
    let (first, last) = (rank(start), rank(end))
    return order.isDescending ? min(first, last)..<first : first..<max(first, last)
  }

  /// The rows in sections, in their order: by the buckets of a unit in a zone, or without a unit
  /// only ongoing rows apart from those with a date. Dates that are written as texts are grouped in
  /// UTC. O(sections × log n), and O(rows) without a unit where ongoing rows stand at the time now.
  ///
  /// What stands at the time now is in the section of that time; otherwise ongoing rows have one of
  /// their own.
  package func sections(by unit: CalendarUnit?, in zone: TimeZone) -> [TimelineSection] {
    let buckets = unit.map {
      CalendarBuckets($0, timeZone: columns.hasWrittenDates ? .gmt : zone)
    }
    return order.sections(
      by: buckets, count: count, { entries[$0] }, { isBefore in entries.rank(isBefore) })
  }
}
