import AnnalsModel
import AnnalsQuery
import Foundation

/// The rows of a timeline in order; it never changes, and reads nothing more of the store.
///
/// Any row costs O(1), whatever the number of rows: showing a page touches none but its own.
public struct TimelineRows: Sendable, RandomAccessCollection {
  package let entries: TimelineEntries
  let clock: TimelineClock
  let store: RawUUID

  init(_ entries: TimelineEntries, _ clock: TimelineClock, store: RawUUID) {
    self.entries = entries
    self.clock = clock
    self.store = store
  }

  /// 0.
  public var startIndex: Int { 0 }

  /// How many rows there are.
  public var endIndex: Int { entries.count }

  /// The row at a position. O(1).
  public subscript(position: Int) -> TimelineRow {
    precondition(position >= 0 && position < entries.count, "no row at \(position)")
    let entry = entries[position]
    return TimelineRow(span(entry.index), entries.role(entry))
  }

  /// The zone in which times are counted and told.
  public var zone: TimeZone { clock.zone }

  /// The time that counts as now.
  public var now: Date { Date(clock.now) }

  /// Which rows there are, and in what order.
  public var order: TimelineOrder { entries.order }

  /// The values by which the objects are grouped, each once.
  public var groups: [Value] { entries.columns.groups }

  /// The objects that have no place, since they have no start or none that can be read, in the
  /// order of their ids.
  public var unplaced: [Unplaced] {
    entries.columns.unplaced.map { object, reason in
      Unplaced(
        objectID: ObjectID(store: store, entity: object.entity, row: object.row), reason: reason)
    }
  }

  /// An object that has no place on a timeline.
  public struct Unplaced: Hashable, Sendable {
    /// The object.
    public let objectID: ObjectID
    /// Why it has none.
    public let reason: TimelineAbsence
  }

  /// The positions of the object's rows, rising; empty if it has none. O(log n).
  public func positions(of object: ObjectID) -> [Int] {
    guard object.store == store else { return [] }
    return entries.positions(of: ObjectReference(object))
  }

  /// The positions of the rows that stand from one date up to another, which is not among them.
  /// O(log n).
  public func positions(from start: Date, to end: Date) -> Range<Int> {
    entries.positions(from: Timestamp(start).microseconds, to: Timestamp(end).microseconds)
  }

  /// The rows in sections by a unit of the calendar, what goes on apart behind every date; without
  /// a unit, only that apart from what has a date. O(sections × log n).
  ///
  /// Dates that are written as texts have no zone, and are grouped as written.
  public func sections(by unit: CalendarUnit?) -> [TimelineSection] {
    entries.sections(by: unit, in: clock.zone)
  }

  /// The time between the row at a position and the next one; nil behind the last, and where one of
  /// them has no date.
  public func gap(after position: Int) -> CalendarSpan? {
    guard position + 1 < count, let date = self[position].moment,
      let next = self[position + 1].moment
    else { return nil }
    return clock.span(from: Swift.min(date, next), to: Swift.max(date, next))
  }

  /// The same objects in another order; with `group`, those of this group alone. Reads nothing of
  /// the store. O(n log n).
  public func ordered(_ order: TimelineOrder, group: Value? = nil) -> TimelineRows {
    // A group that there is not has no rows.
    let number = group.map { group in groups.firstIndex { $0 == group } ?? groups.count }
    return TimelineRows(
      TimelineEntries(entries.columns, order, now: clock.now, group: number), clock, store: store)
  }

  /// The objects as intervals, for questions of what was when. O(n log n): make it once, ask often.
  public func intervals() -> TimelineIntervals {
    TimelineIntervals(
      IntervalIndex(entries.columns, now: clock.now), entries.columns, clock, store: store)
  }

  private func span(_ index: Int) -> TimelineSpan {
    TimelineSpan(entries.columns, index, clock, store: store)
  }
}
