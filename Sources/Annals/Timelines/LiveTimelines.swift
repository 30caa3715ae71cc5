import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

extension Store {
  /// The rows of a timeline that stay current: a live view.
  ///
  /// Ask about intervals through the state: `update.rows.snapshot.timeline(trips).intervals()`.
  /// Where a row shows something of another object, a label or a group, a change of that is an
  /// update of the row, without changed properties.
  ///
  /// - Parameters:
  ///   - timeline: what to show of the objects, and in what order.
  ///   - unit: the calendar unit of sections; ongoing rows after every date have one of their own.
  ///     Nil for no sections.
  ///   - zone: the time zone for counting and writing times.
  /// - Returns: a view that reads nothing yet; its iterators throw as `Snapshot.timeline(_:)` does.
  public func live<R: Record>(
    _ timeline: Timeline<R>, sections unit: CalendarUnit? = nil, in zone: TimeZone = .gmt
  ) -> LiveView<TimelineRow> {
    LiveView(self, .timeline(timeline, (zone, unit)), RowList.timelineReader)
  }

  /// The rows of a timeline defined by names, which stay current; as the other form.
  public func live(
    _ definition: TimelineDefinition, _ order: TimelineOrder = TimelineOrder(),
    sections unit: CalendarUnit? = nil, in zone: TimeZone = .gmt
  ) -> LiveView<TimelineRow> {
    LiveView(self, .timeline(definition, order, (zone, unit)), RowList.timelineReader)
  }
}

extension LiveRows where Row == TimelineRow {
  /// Reads the rows of a timeline of what is pending in an editing context, and follows them.
  /// O(n log n), then O(log n) for each changed object; throws as `Snapshot.timeline(_:)` does.
  public convenience init<R: Record>(
    _ timeline: Timeline<R>, sections unit: CalendarUnit? = nil, zone: TimeZone = .gmt,
    in context: EditingContext
  ) throws(AnnalsError) {
    try self.init(.timeline(timeline, (zone, unit)), in: context, RowList.timelineReader)
  }

  /// Replaces the timeline, as `LiveView.change(to:)` does, and for a context the sections and the
  /// zone, too.
  public func change<R: Record>(
    to timeline: Timeline<R>, sections unit: CalendarUnit? = nil, zone: TimeZone = .gmt
  ) {
    view?.change(to: timeline)
    changePending(to: .timeline(timeline, (zone, unit)))
  }
}

extension LiveView where Row == TimelineRow {
  /// Replaces the timeline, in place: each iterator yields one update from its rows to the new
  /// ones. A change of the order alone makes few moves or many.
  public func change<R: Record>(to timeline: Timeline<R>) {
    core.change { .timeline(timeline, $0.calendar) }
  }

  /// Replaces the timeline by one defined by names; as the other form.
  public func change(
    to definition: TimelineDefinition, _ order: TimelineOrder = TimelineOrder()
  ) {
    core.change { .timeline(definition, order, $0.calendar) }
  }

  /// Reads the clock: rows placed at the present time move. Each commit does so too. Has no effect
  /// if ongoing rows come after every date.
  public func tick() { core.tick() }
}

extension RowList where Row == TimelineRow {
  /// Reads the dates of objects.
  static var timelineReader: Reader {
    { content, range throws(AnnalsError) in
      let list = content.list
      let columns = try AnnalsError.translating { try list.columns(at: range) }
      let clock = TimelineClock(zone: list.query.timeline?.zone ?? .gmt, now: list.now)
      return columns.objects.indices.map { index in
        TimelineRow(
          TimelineSpan(columns, index, clock, store: content.snapshot.reader.store),
          list.entry(at: range.lowerBound + index).role)
      }
    }
  }

  /// The time that counts as present.
  public var now: Date { Date(list.now) }

  /// Which rows there are, and in what order.
  public var order: TimelineOrder { list.query.timeline?.order ?? TimelineOrder() }

  /// The rows in sections by any calendar unit, as `TimelineRows.sections(by:)` gives them.
  public func sections(by unit: CalendarUnit?) -> [TimelineSection] { list.sections(by: unit) }

  /// The number of objects without a place. O(1).
  public var unplacedCount: Int { list.unplacedCount }

  /// The objects without a place, in id order.
  public var unplaced: [TimelineRows.Unplaced] {
    list.unplaced.map { row, reason in
      TimelineRows.Unplaced(
        objectID: ObjectID(store: snapshot.reader.store, entity: entity, row: row),
        reason: reason)
    }
  }
}

extension LiveSource {
  /// The dates of a timeline's objects.
  fileprivate static func timeline<R: Record>(
    _ timeline: Timeline<R>, _ calendar: (zone: TimeZone, unit: CalendarUnit?)
  ) -> LiveSource {
    LiveSource(R.entity.name, nil, nil, calendar) { snapshot throws(AnnalsError) in
      ListQuery(try snapshot.query(timeline, in: calendar.zone), sections: calendar.unit)
    }
  }

  /// The dates of a timeline's objects, by names.
  fileprivate static func timeline(
    _ definition: TimelineDefinition, _ order: TimelineOrder,
    _ calendar: (zone: TimeZone, unit: CalendarUnit?)
  ) -> LiveSource {
    LiveSource(definition.entity, nil, nil, calendar) { snapshot throws(AnnalsError) in
      ListQuery(
        try snapshot.query(definition, order, in: calendar.zone), sections: calendar.unit)
    }
  }
}
