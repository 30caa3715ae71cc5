import AnnalsModel
import AnnalsQuery
import Foundation

/// The time zone and the present time of a timeline.
package struct TimelineClock: Sendable {
  package let zone: TimeZone
  package let now: Timestamp

  package init(zone: TimeZone, now: Timestamp) { (self.zone, self.now) = (zone, now) }

  /// The day that the zone's calendar shows now.
  var today: CalendarDay { CalendarDay(of: now) { zone.secondsFromGMT(for: Date($0)) } }

  func span(from: Timestamp, to: Timestamp) -> CalendarSpan {
    CalendarSpan(from: from, to: to, offset: { zone.secondsFromGMT(for: Date($0)) })
  }

  /// RFC 3339 in the zone.
  func text(_ moment: Timestamp) -> String {
    let seconds = zone.secondsFromGMT(for: Date(moment))
    let (shown, overflow) = moment.microseconds.addingReportingOverflow(Int64(seconds) * 1_000_000)
    guard seconds != 0, !overflow else { return moment.description }
    let minutes = abs(seconds) / 60
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return Timestamp(microseconds: shown).description.dropLast()
      + "\(seconds < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
  }
}

/// One object on a timeline.
public struct TimelineSpan: Sendable, Identifiable {
  package let columns: TimelineColumns
  /// Its index among them.
  package let index: Int
  let clock: TimelineClock
  private let store: RawUUID

  package init(_ columns: TimelineColumns, _ index: Int, _ clock: TimelineClock, store: RawUUID) {
    self.columns = columns
    self.index = index
    self.clock = clock
    self.store = store
  }

  /// The object.
  public var objectID: ObjectID {
    let object = columns.objects[index]
    return ObjectID(store: store, entity: object.entity, row: object.row)
  }

  /// The same as `objectID`.
  public var id: ObjectID { objectID }

  /// The kind of the object.
  public var kind: TimelineKind { columns.kind(index) }

  /// The oddities of the object.
  public var marks: TimelineMarks { columns.marks(index) }

  /// The day of its start, or its single day; nil if its dates are no days.
  public var startDay: CalendarDay? { columns.days(index)?.first }

  /// The last day of a range; nil for others, and if its dates are no days.
  public var endDay: CalendarDay? { kind == .range ? columns.days(index)?.last : nil }

  /// Its start, or its single date; of a day, its beginning in UTC.
  public var start: Date { Date(startMoment) }

  /// Its end; of a day, its beginning in UTC. Nil unless it is a range.
  public var end: Date? { endMoment.map { Date($0) } }

  /// Its label; empty if the timeline has no labels. Long texts are cut.
  public var label: String { columns.labels[index] }

  /// The value that the timeline is grouped by; nil for none.
  public var group: Value? { columns.group(index).map { columns.groups[$0] } }

  /// The start as written; for a day, `2019-10-06`; for a date, RFC 3339 in the timeline's zone.
  public var startText: String {
    if let startDay { return startDay.description }
    let written = columns.startTexts[index]
    return written.isEmpty ? clock.text(startMoment) : written
  }

  /// The end as written, even if it cannot be read; empty if there is none.
  public var endText: String {
    if let endDay { return endDay.description }
    let written = columns.endTexts[index]
    return written.isEmpty ? endMoment.map { clock.text($0) } ?? "" : written
  }

  /// The time from start to end; for an ongoing object until now (`isNegative` if it lies in the
  /// future); nil for a single date. Of days both count, so a single day is one day.
  public var length: CalendarSpan? {
    if let length = columns.length(ofDays: index, today: clock.today) { return length }
    return switch kind {
    case .single: nil
    case .range: clock.span(from: startMoment, to: endMoment ?? startMoment)
    case .ongoing: clock.span(from: startMoment, to: clock.now)
    }
  }

  package var startMoment: Timestamp { Timestamp(microseconds: columns.starts[index]) }

  package var endMoment: Timestamp? {
    kind == .range ? Timestamp(microseconds: columns.ends[index]) : nil
  }
}

/// One row of a timeline: a date of an object, or that the object is ongoing. The object's record
/// is `snapshot.object(Trip.self, row.objectID)`.
@dynamicMemberLookup
public struct TimelineRow: Sendable, Identifiable {
  /// The object.
  public let span: TimelineSpan
  /// What the row shows of it.
  public let role: TimelineRole

  package init(_ span: TimelineSpan, _ role: TimelineRole) {
    self.span = span
    self.role = role
  }

  /// Identifies a row within its timeline.
  public struct ID: Hashable, Sendable {
    let object: ObjectID
    let start: Timestamp
    let role: TimelineRole
  }

  /// Identifies the row within its timeline.
  public var id: ID { ID(object: span.objectID, start: span.startMoment, role: role) }

  /// A property of the object: `row.label` is `row.span.label`.
  public subscript<T>(dynamicMember keyPath: KeyPath<TimelineSpan, T>) -> T {
    span[keyPath: keyPath]
  }

  /// The row's date; nil if it shows that the object is ongoing.
  public var date: Date? { moment.map { Date($0) } }

  /// The row's date as written; for a date, RFC 3339 in the timeline's zone; empty if the row shows
  /// that the object is ongoing.
  public var dateText: String {
    switch role {
    case .single, .start: span.startText
    case .end: span.endText
    case .ongoing: ""
    }
  }

  /// The time between the row's date and now; for an ongoing object, since its start. `isNegative`
  /// in the future. Of days, the time until today.
  public var elapsed: CalendarSpan {
    if let first = span.startDay {
      let day = role == .end ? span.endDay ?? first : first
      return CalendarSpan(from: day, to: span.clock.today)
    }
    return span.clock.span(from: moment ?? span.startMoment, to: span.clock.now)
  }

  package var moment: Timestamp? {
    switch role {
    case .single, .start: span.startMoment
    case .end: span.endMoment
    case .ongoing: nil
    }
  }
}
