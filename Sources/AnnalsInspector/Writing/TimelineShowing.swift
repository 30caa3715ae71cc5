import Annals
import AnnalsModel
import AnnalsQuery

/// Shows what is on a timeline: its bars in the order of their starts, and its rows.
package struct TimelineShowing {
  package let sheet: TimelineSheet
  /// The objects that overlap the window, by their starts.
  let shown: [Int]

  package init(_ sheet: TimelineSheet) {
    self.sheet = sheet
    let columns = sheet.columns
    shown = (0..<columns.count).filter(sheet.isShown)
      .sorted { (columns.starts[$0], $0) < (columns.starts[$1], $1) }
  }

  /// When a bar begins and ends; the last day of days counts.
  func span(_ index: Int) -> (Int64, Int64) {
    let columns = sheet.columns
    let start = columns.starts[index]
    switch columns.kind(index) {
    case .single: return (start, start)
    case .ongoing: return (start, max(start, sheet.now.microseconds))
    case .range:
      let isOfDays = columns.days(index) != nil
      return (start, columns.ends[index] + (isOfDays ? TimelineSheet.dayLength : 0))
    }
  }

  /// A bar, in no lane yet.
  func bar(_ index: Int, _ object: ShownObject? = nil) throws -> TimelineDocument.Bar {
    let columns = sheet.columns
    let (start, end) = span(index)
    let remark = sheet.remark(index)
    var length: String?
    if let span = sheet.length(index), !span.isNegative { length = "\(span)" }
    return TimelineDocument.Bar(
      object: object, label: try sheet.label(index),
      kind: TimelineDocument.Bar.Kind(columns.kind(index)),
      startUs: start, endUs: end, start: sheet.startText(index), end: sheet.endText(index),
      group: sheet.showsGroups ? columns.group(index) : nil, lane: 0,
      remark: remark.isEmpty ? nil : remark, length: length,
      isInverted: columns.marks(index).contains(.inverted) ? true : nil)
  }

  /// The document of the first bars alone, for a picture.
  package func document(
    bars most: Int, at moment: ShownMoment, command: CommandWords
  ) throws -> TimelineDocument {
    TimelineDocument(
      moment: moment, title: sheet.title, groups: sheet.showsGroups ? sheet.groupNames : [],
      nowUs: sheet.now.microseconds, hasDays: sheet.columns.hasWrittenDates,
      bars: try shown.prefix(most).map { try bar($0) }, rows: [], lanes: [], offset: 0,
      total: shown.count, rowTotal: 0, unplaced: [], unplacedCount: sheet.columns.unplaced.count,
      command: command.text)
  }
}

/// Shows the rows of a timeline, one after the other.
package struct TimelineRows {
  private let sheet: TimelineSheet
  /// The places of the rows that are left.
  private var positions: ArraySlice<Int>
  /// How many rows there are in all.
  package let total: Int
  /// The date of the row before.
  private var previous: Int64?

  /// The rows from a place on.
  package init(_ sheet: TimelineSheet, from offset: Int = 0) {
    self.sheet = sheet
    let all = sheet.positions
    total = all.count
    positions = all.dropFirst(offset)
    if offset > 0, offset <= all.count {
      previous = sheet.entries.order.date(sheet.entries[all[offset - 1]])?.microseconds
    }
  }

  /// The next row for whoever prints one after the other, with what a bar would have; nil at the
  /// end.
  package mutating func next() throws -> TimelineDocument.Row? {
    try nextRow(isAlone: true)?.row
  }

  /// The next row, and the object that it is about; nil at the end.
  mutating func nextRow(
    isAlone: Bool = false
  ) throws -> (row: TimelineDocument.Row, index: Int)? {
    guard let position = positions.popFirst() else { return nil }
    let entry = sheet.entries[position]
    let index = sheet.entries.index(entry)
    let date = sheet.entries.order.date(entry)?.microseconds
    var gap: String?
    if let date, let previous, date != previous {
      gap = sheet.span(from: min(previous, date), to: max(previous, date)).description
    }
    previous = date
    let text =
      switch entry.role {
      case .single, .start: sheet.startText(index)
      case .end: sheet.endText(index)
      case .ongoing: ""
      }
    var row = TimelineDocument.Row(
      role: TimelineDocument.Row.Role(entry.role), label: try sheet.label(index), date: text,
      us: date, gap: gap, elapsed: elapsed(index, date, entry.role))
    if isAlone { complete(&row, index) }
    return (row, index)
  }

  /// Adds what a bar has.
  private func complete(_ row: inout TimelineDocument.Row, _ index: Int) {
    if sheet.showsGroups { row.group = sheet.groupName(index) }
    if row.role == .ongoing || sheet.columns.kind(index) != .ongoing,
      let length = sheet.length(index), !length.isNegative
    {
      row.length = length.description
    }
    if row.role != .end || sheet.columns.marks(index).contains(.inverted) {
      let remark = sheet.remark(index)
      if !remark.isEmpty { row.remark = remark }
    }
  }

  private func elapsed(_ index: Int, _ date: Int64?, _ role: TimelineRole) -> String {
    if role == .ongoing { return "goes on" }
    let elapsed = sheet.elapsed(index, since: date)
    let isToday = sheet.columns.marks(index).contains(.days) && elapsed == CalendarSpan.none
    return isToday ? "today" : elapsed.isNegative ? "in \(elapsed)" : "\(elapsed) ago"
  }
}

extension TimelineDocument.Bar.Kind {
  fileprivate init(_ kind: TimelineKind) {
    self =
      switch kind {
      case .single: .single
      case .range: .range
      case .ongoing: .ongoing
      }
  }
}

extension TimelineDocument.Row.Role {
  fileprivate init(_ role: TimelineRole) {
    self =
      switch role {
      case .single: .single
      case .start: .start
      case .end: .end
      case .ongoing: .ongoing
      }
  }
}
