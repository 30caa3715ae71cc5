import AnnalsModel
import AnnalsState
import Foundation

// What is of timelines alone: objects have a row for each of their dates, or no place; what goes
// on may stand at the time now; and rows show more than their properties.

extension QueryList {
  /// The entries of all objects, in order. Notes those without a place.
  mutating func timelineEntries(
    _ timeline: BoundTimeline
  ) throws(StateFault) -> ContiguousArray<ListEntry> {
    // Local: what a method appends to a property of its own is copied each time.
    var entries: ContiguousArray<ListEntry> = []
    var others: ContiguousArray<ListEntry> = []
    try timeline.forEachObject { row, standing in
      timeline.forEachEntry(of: row, standing) { entries.append($0) }
      if case .absent(let reason) = standing {
        others.append(ListEntry(word: 0, row: row, part: reason.rawValue))
      }
    }
    absent = SortedList(others)
    entries.sort(by: timeline.order.precedes)
    return entries
  }

  /// The objects whose rows stand at the time now, if that is another than before.
  func rowsPassedByTime(_ next: ListBinding) -> [Int64] {
    guard let old = bound.timeline, let new = next.timeline, old.now != new.now,
      old.order.ongoing == .atNow, !old.order.hidesOngoing
    else { return [] }
    let words = [old.now, new.now].map { old.order.word($0.microseconds) }.sorted()
    var rows: [Int64] = []
    let start = found.rank { $0.word < words[0] }
    found.forEach(in: start..<found.rank { $0.word <= words[1] }) { entry in
      if entry.role == .ongoing { rows.append(entry.row) }
    }
    return rows
  }

  /// Notes which rows of changed objects are in the list before and after, and what moves between
  /// those with and without a place.
  func classify(
    _ moves: inout ListMoves, _ old: BoundTimeline, _ new: BoundTimeline
  ) throws(StateFault) {
    for index in moves.changed.indices {
      let row = moves.changed[index].row
      let (before, after) = (try old.standing(of: row), try new.standing(of: row))
      var showsOtherwise = before != after
      if !showsOtherwise, moves.changed[index].properties.isEmpty {
        showsOtherwise = try new.showsOthersOtherwise(row, than: old)
      }
      moves.changed[index].showsOtherwise = showsOtherwise
      var entries = new.entries(of: row, after)
      for entry in old.entries(of: row, before) {
        let place = entries.firstIndex { $0.identity == entry.identity }
        let partner = place.map { entries.remove(at: $0) }
        if partner == entry {
          moves.update(index, entry)
        } else {
          moves.move(index, entry, partner)
        }
      }
      for entry in entries { moves.move(index, nil, entry) }
      let position = absent.rank { $0.row < row }
      if case .absent(let reason) = after {
        let entry = ListEntry(word: 0, row: row, part: reason.rawValue)
        moves.absence.append(EntryEdit(position, entry))
      }
      if case .absent = before { moves.absence.append(EntryEdit(position, nil)) }
    }
  }

  /// Whether the rows of an object show something else than in another list: kind, dates, label or
  /// group by another definition, or what an object that it leads to gives.
  func showsOtherwise(_ row: Int64, than old: QueryList) throws(StateFault) -> Bool {
    guard let timeline = bound.timeline, let before = old.bound.timeline,
      let definition = query.timeline?.definition, let other = old.query.timeline?.definition
    else { return false }
    guard definition.label == other.label, definition.group == other.group else { return true }
    if definition == other, referrers.isEmpty { return false }
    if try timeline.standing(of: row) != before.standing(of: row) { return true }
    return try timeline.showsOthersOtherwise(row, than: before)
  }
}

// Reading timelines.
extension QueryList {
  /// The present time of a timeline's rows.
  package var now: Timestamp { bound.timeline?.now ?? .min }

  /// The objects without a place on the timeline, rising, with the reason.
  package var unplaced: [(row: Int64, reason: TimelineAbsence)] {
    absent.entries(in: 0..<absent.count).map {
      ($0.row, TimelineAbsence(rawValue: $0.part) ?? .noStart)
    }
  }

  /// How many objects have no place. O(1).
  package var unplacedCount: Int { absent.count }

  /// The rows of a timeline in sections, as those of `TimelineEntries`. O(sections × log n), and
  /// O(rows) without a unit where ongoing rows stand at the time now.
  package func sections(by unit: CalendarUnit?) -> [TimelineSection] {
    guard let timeline = query.timeline else { return [] }
    let isWritten = bound.timeline?.hasWrittenDates == true
    let buckets = unit.map { CalendarBuckets($0, timeZone: isWritten ? .gmt : timeline.zone) }
    return timeline.order.sections(
      by: buckets, count: count, { found[$0] }, { isBefore in found.rank(isBefore) })
  }

  /// The objects of a timeline's rows at these positions by column, each row's at the place that it
  /// has among them. O(log n) and the rows.
  package func columns(at positions: Range<Int>) throws(StateFault) -> TimelineColumns {
    var columns = TimelineColumns()
    guard let reading = bound.timeline?.reading else { return columns }
    columns.hasWrittenDates = reading.hasWrittenDates
    var numbering = ValueNumbering()
    try found.forEach(in: positions) { (entry) throws(StateFault) in
      _ = try reading.scan.readRow(entry.row) { cells, endCounts in
        columns.read(
          ObjectReference(entity: query.rows.entity, row: entry.row), cells, endCounts, reading,
          &numbering)
      }
    }
    columns.groups = numbering.values
    return columns
  }
}
