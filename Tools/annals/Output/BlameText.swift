import Annals
import AnnalsInspector

/// Formats who last set each property of an object.
struct BlameText {
  private let console: Console
  private let values: ValueText

  init(_ console: Console) {
    self.console = console
    values = ValueText(zone: console.zone, limit: 200)
  }

  /// Writes a line for each property: number, date and author of the transaction, and the value.
  func write(_ document: BlameDocument) throws {
    let base = document.moment.base
    var rows: [[String]] = []
    if let deleted = document.deleted {
      let what = "deleted; before that it had"
      rows.append(row(deleted.number, deleted.us, deleted.author, what))
    }
    for line in document.lines {
      let what = "\(ValueText.plain(line.property)): \(values.text(line.value))"
      if let origin = line.setBy {
        rows.append(row(origin.number, origin.us, origin.author, what))
      } else {
        rows.append(["-", base > 0 ? "at or before \(base)" : "default", "", what])
      }
    }
    let widths = (0..<3).map { column in rows.map { $0[column].cells }.max() ?? 0 }
    for row in rows {
      let date = row[1].padded(right: widths[1])
      try console.output.line(
        row[0].padded(left: widths[0]), .heading,
        "  \(date)  \(row[2].padded(right: widths[2]))  \(row[3])")
    }
  }

  private func row(_ number: Int64, _ us: Int64, _ author: String?, _ what: String) -> [String] {
    let date = console.zone.text(Timestamp(microseconds: us))
    return ["\(number)", date, ValueText.plain(author ?? ""), what]
  }
}
