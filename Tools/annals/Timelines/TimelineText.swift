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

  init(_ sheet: TimelineSheet, _ console: Console) {
    self.sheet = sheet
    self.console = console
  }

  func write() throws {
    var rows = TimelineRows(sheet)
    try write(rows: { try rows.next() })
    try writeUnplaced(isFirst: rows.total == 0)
  }

  /// Writes the rows that `next` returns until it returns nil.
  func write(rows next: () throws -> TimelineDocument.Row?) throws {
    // Widths come from the first thousand rows. A wider cell later shifts its line.
    var pending: [Line] = []
    var widths: Widths?
    while let row = try next() {
      let line = Line(row)
      if let widths { try write(line, widths) } else { pending.append(line) }
      if pending.count == 1_000 {
        let found = Widths(pending, console.terminal)
        for line in pending { try write(line, found) }
        (pending, widths) = ([], found)
      }
    }
    let found = Widths(pending, console.terminal)
    for line in pending { try write(line, found) }
  }

  private struct Line {
    let date: String
    let role: TimelineDocument.Row.Role
    let name: String
    let group: String
    let length: String
    let gap: String
    let elapsed: String
    let remark: String

    init(_ row: TimelineDocument.Row) {
      (role, elapsed) = (row.role, row.elapsed)
      date = role == .ongoing ? "…" : row.date
      name = ValueText.plain(row.label.shortened(to: TimelineText.longestName))
      (group, remark) = (row.group ?? "", row.remark ?? "")
      length = row.length.map { "for " + $0 } ?? ""
      gap = row.gap.map { "+" + $0 } ?? ""
    }
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

  private func writeUnplaced(isFirst: Bool) throws {
    let unplaced = sheet.columns.unplaced
    guard !unplaced.isEmpty else { return }
    if !isFirst { try console.output.line() }
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

extension TimelineDocument.Row.Role {
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
