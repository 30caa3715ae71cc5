import Annals
import AnnalsModel
import AnnalsQuery

/// A timeline to be printed or drawn: its rows, with names and texts for people.
package struct TimelineSheet {
  package let entries: TimelineEntries
  /// The title.
  package let title: String
  /// The names of the groups, by number.
  package let groupNames: [String]
  /// Whether objects are shown with their groups.
  package let showsGroups: Bool
  /// The name of an object as it is typed, `Entity/KEY`.
  package let name: (ObjectReference) throws -> String
  /// The zone of dates: the local one, but UTC if dates are stored as texts.
  package let zone: LocalZone
  /// The span of time that is shown.
  package let window: Window
  /// The day that the local calendar shows now.
  package let today: CalendarDay
  private let showsDays: Bool

  /// A span of time, both ends included.
  package struct Window: Hashable {
    package var first = Int64.min
    package var last = Int64.max

    package init() {}

    package var isWhole: Bool { first == .min && last == .max }
  }

  package init(
    _ entries: TimelineEntries, title: String, groupNames: [String], showsGroups: Bool,
    zone: LocalZone, today: CalendarDay, window: Window,
    name: @escaping (ObjectReference) throws -> String
  ) {
    self.entries = entries
    self.title = title
    self.groupNames = groupNames
    self.showsGroups = showsGroups
    self.zone = zone
    self.today = today
    self.window = window
    self.name = name
    let columns = entries.columns
    showsDays = (0..<columns.count).allSatisfy { index in
      zone.isMidnight(columns.starts[index])
        && (columns.kind(index) != .range || zone.isMidnight(columns.ends[index]))
    }
  }

  package var columns: TimelineColumns { entries.columns }
  package var now: Timestamp { entries.now }

  /// The positions of the rows that are shown: those with a date in the window, and ongoing objects
  /// that began before its end.
  package var positions: [Int] {
    if window.isWhole { return Array(0..<entries.count) }
    return (0..<entries.count).filter { position in
      let entry = entries[position]
      guard let date = entries.order.date(entry) else {
        return columns.starts[entries.index(entry)] <= window.last
      }
      return (window.first...window.last).contains(date.microseconds)
    }
  }

  /// Whether an object overlaps the window.
  package func isShown(_ index: Int) -> Bool {
    let first = columns.starts[index]
    let end = columns.ends[index]
    let last =
      if let days = columns.days(index) {
        days.last == nil ? end : end + TimelineSheet.dayLength - 1
      } else {
        columns.kind(index) == .range && end > first ? end - 1 : end
      }
    return min(first, last) <= window.last && max(first, last) >= window.first
  }

  /// A day in microseconds.
  package static let dayLength: Int64 = 86_400_000_000

  /// A date as it is stored as text, or in the zone; only the day if all dates are days.
  package func text(_ moment: Int64, written: String) -> String {
    if !written.isEmpty { return TextEscaping.line.text(written) }
    let moment = Timestamp(microseconds: moment)
    guard showsDays else { return zone.exactText(moment) }
    return CivilDate(moment, offset: zone.offset(moment)).dayText
  }

  package func startText(_ index: Int) -> String {
    if let days = columns.days(index) { return days.first.description }
    return text(columns.starts[index], written: columns.startTexts[index])
  }

  /// The end of a range, or the text of an unreadable end; empty if there is none.
  package func endText(_ index: Int) -> String {
    if let day = columns.days(index)?.last { return day.description }
    let written = columns.endTexts[index]
    if columns.kind(index) != .range { return TextEscaping.line.text(written) }
    return text(columns.ends[index], written: written)
  }

  /// The name of an object's group; empty for none.
  package func groupName(_ index: Int) -> String {
    columns.group(index).map { groupNames[$0] } ?? ""
  }

  /// The object's name on the timeline.
  package func label(_ index: Int) throws -> String {
    let label = columns.labels[index]
    return label.isEmpty ? try name(columns.objects[index]) : label
  }

  package func span(from: Int64, to: Int64) -> CalendarSpan {
    CalendarSpan(
      from: Timestamp(microseconds: from), to: Timestamp(microseconds: to), offset: zone.offset)
  }

  /// The length of a range, until now for an ongoing object; nil for a single date. Of days both
  /// count.
  package func length(_ index: Int) -> CalendarSpan? {
    if let length = columns.length(ofDays: index, today: today) { return length }
    return switch columns.kind(index) {
    case .single: nil
    case .range: span(from: columns.starts[index], to: columns.ends[index])
    case .ongoing: span(from: columns.starts[index], to: now.microseconds)
    }
  }

  /// The time between a row's date and now: of a day until today, of an ongoing object since its
  /// start.
  package func elapsed(_ index: Int, since date: Int64?) -> CalendarSpan {
    let date = date ?? columns.starts[index]
    guard columns.marks(index).contains(.days) else {
      return span(from: date, to: now.microseconds)
    }
    return CalendarSpan(from: CalendarDay(inUTC: date), to: today)
  }

  /// What is unusual about an object, in words; usually empty.
  package func remark(_ index: Int) -> String {
    let marks = columns.marks(index)
    var words: [String] = []
    if marks.contains(.inverted) { words.append("ends before it starts") }
    if marks.contains(.unreadableEnd) {
      words.append("no date: \"\(TextEscaping.quoted.text(columns.endTexts[index]))\"")
    }
    if marks.contains(.startsEarlier) { words.append("or earlier") }
    return words.joined(separator: ", ")
  }
}

extension LocalZone {
  package func isMidnight(_ microseconds: Int64) -> Bool {
    let date = CivilDate(
      Timestamp(microseconds: microseconds), offset: offset(Timestamp(microseconds: microseconds)))
    return date.hour == 0 && date.minute == 0 && date.second == 0 && date.microsecond == 0
  }
}

extension TimelineAbsence {
  /// Why an object has no place on the timeline, in words.
  package var text: String {
    switch self {
    case .noStart: "no start"
    case .unreadableStart: "a start that is no date"
    }
  }
}
