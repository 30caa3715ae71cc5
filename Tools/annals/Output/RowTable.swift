/// Writes rows of cells as CSV (RFC 4180, lines ending in LF) or as an aligned table.
final class RowTable {
  private let names: [String]
  private let isCSV: Bool
  private let console: Console
  private var sample: [[String]] = []
  private var widths: [Int]?

  /// The widths of columns come from this many rows. Later cells that are longer are cut.
  private static let sampleSize = 1000
  private static let widestCell = 40

  /// A table with these columns. CSV is written at once; an aligned table begins when enough rows
  /// are known.
  init(_ names: [String], isCSV: Bool, _ console: Console) throws {
    self.names = names
    self.isCSV = isCSV
    self.console = console
    if isCSV {
      try writeCSV(names)
    } else {
      sample.append(names)
    }
  }

  /// Writes a row; nil for no value.
  func write(_ cells: [String?]) throws {
    if isCSV { return try writeCSV(cells) }
    let row = cells.map { ValueText.plain($0 ?? "") }
    if let widths { return try writeRow(row, widths) }
    sample.append(row)
    if sample.count > RowTable.sampleSize { try flush() }
  }

  /// Writes the rows held back to determine widths. Call it after the last row.
  func flush() throws {
    guard !isCSV, widths == nil else { return }
    let found = names.indices.map { column in
      min(sample.map { $0[column].cells }.max() ?? 0, RowTable.widestCell)
    }
    widths = found
    for row in sample { try writeRow(row, found) }
    sample.removeAll()
  }

  private func writeRow(_ row: [String], _ widths: [Int]) throws {
    let cells = zip(row, widths).map { cell, width in
      cell.cut(to: width).padded(right: width)
    }
    var line = cells.joined(separator: "  ")
    while line.last == " " { line.removeLast() }
    if console.terminal.isOutput, let width = console.terminal.width { line = line.cut(to: width) }
    try console.output.line(line)
  }

  /// Writes a line of CSV. It has no escapes, so cells are exact, except on a terminal.
  private func writeCSV(_ cells: [String?]) throws {
    let texts = cells.map { cell in
      guard let cell else { return "" }
      // An empty text is quoted, so that it differs from no value.
      if cell.isEmpty { return "\"\"" }
      return RowTable.quoted(console.terminal.isOutput ? ValueText.plain(cell) : cell)
    }
    let line = texts.joined(separator: ",")
    if console.terminal.isOutput { return try console.output.line(line) }
    try console.output.write(exactly: line + "\n")
  }

  /// A CSV cell, quoted if necessary.
  private static func quoted(_ text: String) -> String {
    let needsQuotes = text.utf8.contains {
      $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0A || $0 == 0x0D
    }
    guard needsQuotes else { return text }
    // By scalars: a quote with a combining accent is one character.
    var result = "\"".unicodeScalars
    for scalar in text.unicodeScalars {
      if scalar == "\"" { result.append(scalar) }
      result.append(scalar)
    }
    return String(result) + "\""
  }
}
