import Annals
import AnnalsInspector
import AnnalsQuery

/// Writes a timeline as lines: date, role, name, group, length, time since the row above, and time
/// to now. On a terminal, columns are left out and names are cut so that a line fits.
struct TimelineText {
  private let sheet: TimelineSheet
  private let console: Console
  /// The greatest length of a name, and the greatest number of unplaced objects listed.
  private static let longestName = 60
  /// On a narrow terminal, columns are left out before names become shorter than this.
  private static let shortName = 24
  private static let mostListed = 20

  private struct Line {
    var date: String
    var role: TimelineRole
    var name: String
    var group: String
    var length: String
    var gap: String
    var elapsed: String
    var remark: String
  }

  init(_ sheet: TimelineSheet, _ console: Console) {
    self.sheet = sheet
    self.console = console
  }

  func write() throws {
    // Widths come from the first thousand rows. A wider cell later shifts its line.
    var pending: [Line] = []
    var widths: Widths?
    var previous: Int64?
    for position in sheet.positions {
      let line = try line(position, &previous)
      if let widths { try write(line, widths) } else { pending.append(line) }
      if pending.count == 1_000 {
        let found = Widths(pending, console.terminal)
        for line in pending { try write(line, found) }
        (pending, widths) = ([], found)
      }
    }
    let found = Widths(pending, console.terminal)
    for line in pending { try write(line, found) }
    try writeUnplaced()
  }

  private func line(_ position: Int, _ previous: inout Int64?) throws -> Line {
    let entry = sheet.entries[position]
    let index = sheet.entries.index(entry)
    let role = entry.role
    let date = sheet.entries.order.date(entry)?.microseconds
    var gap = ""
    if let date, let previous, date != previous {
      gap = "+" + sheet.span(from: min(previous, date), to: max(previous, date)).description
    }
    previous = date
    let elapsed = sheet.elapsed(index, since: date)
    let isToday = sheet.columns.marks(index).contains(.days) && elapsed == CalendarSpan.none
    let isFuture = elapsed.isNegative
    let label = try sheet.label(index)
    let shown = ValueText.plain(label.shortened(to: TimelineText.longestName))
    let text =
      switch role {
      case .single, .start: sheet.startText(index)
      case .end: sheet.endText(index)
      case .ongoing: "…"
      }
    return Line(
      date: text, role: role, name: shown, group: sheet.showsGroups ? sheet.groupName(index) : "",
      length: lengthText(index, role),
      gap: gap,
      elapsed: role == .ongoing
        ? "goes on" : isToday ? "today" : isFuture ? "in \(elapsed)" : "\(elapsed) ago",
      remark: role == .end && !sheet.columns.marks(index).contains(.inverted)
        ? "" : sheet.remark(index))
  }

  /// An object's length; empty at the start of an ongoing object, and for an object that ends
  /// before it starts or is in the future.
  private func lengthText(_ index: Int, _ role: TimelineRole) -> String {
    guard let length = sheet.length(index), !length.isNegative,
      sheet.columns.kind(index) != .ongoing || role == .ongoing
    else { return "" }
    return "for \(length)"
  }

  /// The widths of columns; 0 for one that is empty or left out. On a narrow terminal the column of
  /// names shrinks, and the last columns are left out.
  private struct Widths {
    var date = 0
    var name = 0
    var group = 0
    var length = 0
    var gap = 0
    var elapsed = 0
    var most: Int?

    init(_ lines: [Line], _ terminal: Console.Terminal) {
      for line in lines {
        date = max(date, line.date.cells)
        name = max(name, line.name.cells)
        group = max(group, line.group.cells)
        length = max(length, line.length.cells)
        gap = max(gap, line.gap.cells)
        elapsed = max(elapsed, line.elapsed.cells)
      }
      guard terminal.isOutput, let width = terminal.width else { return }
      most = width
      let wanted = min(name, TimelineText.shortName)
      for column in [\Widths.elapsed, \.gap, \.length, \.group] where room(in: width) < wanted {
        self[keyPath: column] = 0
      }
      name = min(name, max(room(in: width), 12))
    }

    /// What the other columns leave for names.
    private func room(in width: Int) -> Int {
      let others = [date, 7, group, length, gap, elapsed].filter { $0 > 0 }
      return width - others.reduce(0) { $0 + $1 + 2 }
    }
  }

  private func write(_ line: Line, _ widths: Widths) throws {
    var cells = [line.date.padded(right: widths.date), line.role.text.padded(right: 7)]
    cells.append(line.name.cut(to: widths.name).padded(right: widths.name))
    if widths.group > 0 { cells.append(line.group.padded(right: widths.group)) }
    if widths.length > 0 { cells.append(line.length.padded(right: widths.length)) }
    if widths.gap > 0 { cells.append(line.gap.padded(right: widths.gap)) }
    if widths.elapsed > 0 { cells.append(line.elapsed) }
    if !line.remark.isEmpty { cells.append("(\(line.remark))") }
    var text = cells.joined(separator: "  ")
    while text.last == " " { text.removeLast() }
    if let most = widths.most { text = text.cut(to: most) }
    let style: Style? =
      switch line.role {
      case .start: .inserted
      case .end: .deleted
      case .ongoing: .updated
      case .single: nil
      }
    if let style { try console.output.line(text, style) } else { try console.output.line(text) }
  }

  private func writeUnplaced() throws {
    let unplaced = sheet.columns.unplaced
    guard !unplaced.isEmpty else { return }
    if !sheet.positions.isEmpty { try console.output.line() }
    try console.output.line("without a place: \(Numerals.counted(unplaced.count, "object"))")
    for (object, reason) in unplaced.prefix(TimelineText.mostListed) {
      try console.output.line("    \(ValueText.plain(try sheet.name(object))): \(reason.text)")
    }
    let more = unplaced.count - TimelineText.mostListed
    if more > 0 {
      try console.output.line("    … \(Numerals.grouped(more)) more: --format jsonl lists them")
    }
  }
}

extension TimelineRole {
  /// The role in a word.
  var text: String {
    switch self {
    case .single: ""
    case .start: "start"
    case .end: "end"
    case .ongoing: "ongoing"
    }
  }
}
