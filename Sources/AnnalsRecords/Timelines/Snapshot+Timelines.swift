import AnnalsEngine
import AnnalsModel
import AnnalsQuery
import AnnalsState
import Foundation

extension Snapshot {
  /// The rows of the timeline in this state.
  ///
  /// When something happened and when it was recorded are two axes: the timeline is the first, the
  /// snapshot a point on the second. The present time is that of the store's clock, whatever the
  /// snapshot, unless `now` is given; the kinds and dates of rows do not depend on it.
  ///
  /// In a past state, properties have the names of that time, and one that did not exist is nil, or
  /// its default if it is required.
  /// O(n log n).
  ///
  /// - Parameters:
  ///   - timeline: what to show of the objects, and in what order.
  ///   - zone: the time zone for counting and writing times.
  ///   - now: the present time; nil reads the store's clock.
  /// - Returns: the rows, which read nothing more from the store.
  /// - Throws: `.invalidSchema` if the store has no such entity, `.invalidArgument` for properties
  ///   of unsuitable types, and for a `now` that is infinite or not a number; and as reading an
  ///   object does.
  public func timeline<R: Record>(
    _ timeline: Timeline<R>, in zone: TimeZone = .gmt, now: Date? = nil
  ) throws(AnnalsError) -> TimelineRows {
    try rows(query(timeline, in: zone), now)
  }

  /// The rows of a timeline defined by names, which are those of this state's schema. Otherwise as
  /// the other form.
  public func timeline(
    _ definition: TimelineDefinition, _ order: TimelineOrder = TimelineOrder(),
    in zone: TimeZone = .gmt, now: Date? = nil
  ) throws(AnnalsError) -> TimelineRows {
    try rows(query(definition, order, in: zone), now)
  }

  private func rows(_ query: TimelineQuery, _ now: Date?) throws(AnnalsError) -> TimelineRows {
    let now = try now?.historyPlace.moment ?? clock()
    let columns = try reader.timelineColumns(query.definition, of: query.entity)
    return TimelineRows(
      TimelineEntries(columns, query.order, now: now), TimelineClock(zone: query.zone, now: now),
      store: reader.store)
  }

  /// The timeline with this state's own names.
  package func query<R: Record>(
    _ timeline: Timeline<R>, in zone: TimeZone
  ) throws(AnnalsError) -> TimelineQuery {
    let query = try _query(R.self)
    return TimelineQuery(
      try query.definition(timeline), of: query.binding.entity, timeline.order, in: zone)
  }

  /// The timeline defined by this state's names.
  package func query(
    _ definition: TimelineDefinition, _ order: TimelineOrder, in zone: TimeZone
  ) throws(AnnalsError) -> TimelineQuery {
    try definition.condition?.requireUsableDepth()
    try definition.endCondition?.requireUsableDepth()
    let entity = try entity(everNamed: definition.entity).number
    return TimelineQuery(definition, of: entity, order, in: zone)
  }

  package consuming func with(clock: @escaping @Sendable () -> Timestamp) -> Snapshot {
    var copy = self
    copy.clock = clock
    return copy
  }
}

extension StateReader {
  /// The objects of a timeline, by column.
  package func timelineColumns(
    _ definition: TimelineDefinition, of entity: EntityNumber
  ) throws(AnnalsError) -> TimelineColumns {
    try planning { try TimelineColumns(definition, of: entity, in: state, sources) }
  }
}

extension RecordQuery {
  /// The timeline with the state's own names.
  func definition(_ timeline: Timeline<R>) throws(AnnalsError) -> TimelineDefinition {
    if let other = timeline.stores.first(where: { $0 != reader.store }) {
      throw AnnalsError(
        .otherStore,
        "the timeline names an object of store \(other), and this is store \(reader.store)")
    }
    var definition = timeline.definition
    let start = try path(definition.start)
    definition.hasNoStart = start == nil
    definition.start = start ?? definition.start
    definition.end = try path(definition.end)
    definition.group = try path(definition.group)
    definition.label = try path(definition.label)
    switch definition.openEnd {
    case .never, .whenEndIsNil: break
    case .flag(let flag): definition.openEnd = try path(flag).map { .flag($0) } ?? .never
    case .kind(let kind, let values):
      definition.openEnd = try path(kind).map { .kind($0, values) } ?? .never
    }
    if let condition = definition.endCondition {
      definition.endCondition = try resolved(condition)
    }
    if let condition = definition.condition { definition.condition = try resolved(condition) }
    return definition
  }

  private func path(_ path: PropertyPath?) throws(AnnalsError) -> PropertyPath? {
    guard let path else { return nil }
    return try self.path(path)
  }
}
