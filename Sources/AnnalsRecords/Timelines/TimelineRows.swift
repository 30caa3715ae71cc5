import AnnalsModel
import AnnalsQuery
import Foundation

/// The rows of a timeline in order. Immutable; reads nothing more from the store.
///
/// Any row costs O(1), whatever the number of rows: showing a page reads only its own.
public struct TimelineRows: Sendable, RandomAccessCollection {
  package let entries: TimelineEntries
  let clock: TimelineClock
  let store: RawUUID

  package init(_ entries: TimelineEntries, _ clock: TimelineClock, store: RawUUID) {
    self.entries = entries
    self.clock = clock
    self.store = store
  }

  /// 0.
  public var startIndex: Int { 0 }

  /// The number of rows.
  public var endIndex: Int { entries.count }

  /// The row at a position. O(1).
  public subscript(position: Int) -> TimelineRow {
    insist(position >= 0 && position < entries.count, "no row at \(position)")
    let entry = entries[position]
    return TimelineRow(span(entries.index(entry)), entry.role)
  }

  /// The time zone for counting and writing times.
  public var zone: TimeZone { clock.zone }

  /// The time that counts as present.
  public var now: Date { Date(clock.now) }

  /// Which rows there are, and in what order.
  public var order: TimelineOrder { entries.order }

  /// The values that the objects are grouped by, each once.
  public var groups: [Value] { entries.columns.groups }

  /// The objects without a place, in id order: they have no start, or none that can be read.
  public var unplaced: [Unplaced] {
    entries.columns.unplaced.map { object, reason in
      Unplaced(
        objectID: ObjectID(store: store, entity: object.entity, row: object.row), reason: reason)
    }
  }

  /// An object without a place on a timeline.
  public struct Unplaced: Hashable, Sendable {
    /// The object.
    public let objectID: ObjectID
    /// Why it has no place.
    public let reason: TimelineAbsence

    package init(objectID: ObjectID, reason: TimelineAbsence) {
      (self.objectID, self.reason) = (objectID, reason)
    }
  }

  /// The positions of the object's rows, rising; empty if it has none. O(log n).
  public func positions(of object: ObjectID) -> [Int] {
    guard object.store == store else { return [] }
    return entries.positions(of: ObjectReference(object))
  }

  /// The positions of the rows from one date up to another, exclusive; none if one is not a number.
  /// O(log n).
  public func positions(from start: Date, to end: Date) -> Range<Int> {
    if [start, end].contains(where: \.timeIntervalSinceReferenceDate.isNaN) { return 0..<0 }
    return entries.positions(from: Timestamp(start).microseconds, to: Timestamp(end).microseconds)
  }

  /// The rows in sections by a calendar unit, with ongoing rows after every date in one of their
  /// own. Without a unit, only separates those from rows with a date. O(sections × log n).
  ///
  /// Days, and dates written as texts, are grouped in UTC: those without an offset as they are
  /// written. Rows are in the order of their moments, so one with an offset cannot be grouped as
  /// written, as `groups(_:by:)` does.
  public func sections(by unit: CalendarUnit?) -> [TimelineSection] {
    entries.sections(by: unit, in: clock.zone)
  }

  /// The time between the row at a position and the next one; nil after the last, and if one of
  /// them has no date.
  public func gap(after position: Int) -> CalendarSpan? {
    guard position + 1 < count, let date = self[position].moment,
      let next = self[position + 1].moment
    else { return nil }
    let (first, second) = (Swift.min(date, next), Swift.max(date, next))
    if self[position].span.startDay != nil, self[position + 1].span.startDay != nil {
      return CalendarSpan(
        from: CalendarDay(inUTC: first.microseconds), to: CalendarDay(inUTC: second.microseconds))
    }
    return clock.span(from: first, to: second)
  }

  /// The same objects in another order; with `group`, only those of this group. Reads nothing from
  /// the store. O(n log n).
  public func ordered(_ order: TimelineOrder, group: Value? = nil) -> TimelineRows {
    // An unknown group has no rows.
    let number = group.map { group in groups.firstIndex { $0 == group } ?? groups.count }
    return TimelineRows(
      TimelineEntries(entries.columns, order, now: clock.now, group: number), clock, store: store)
  }

  /// The objects as intervals, for questions about what happened when. O(n log n): make it once,
  /// ask often.
  public func intervals() -> TimelineIntervals {
    TimelineIntervals(
      IntervalIndex(entries.columns, now: clock.now), entries.columns, clock, store: store)
  }

  private func span(_ index: Int) -> TimelineSpan {
    TimelineSpan(entries.columns, index, clock, store: store)
  }
}
