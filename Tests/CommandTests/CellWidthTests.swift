import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Columns are as wide as a terminal shows them.
@Suite struct CellWidthTests {
  static let widths: [(String, Int)] = [
    ("", 0), ("abc", 3), ("\u{E9}", 1), ("e\u{301}", 1), ("\u{65E5}\u{672C}", 4),
    ("\u{FF21}", 2), ("\u{FF71}", 1), ("\u{AC00}", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
    ("\u{1F469}", 2), ("\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", 2), ("\u{1F1E9}\u{1F1EA}", 2),
    ("\u{2764}", 1), ("\u{2764}\u{FE0F}", 2), ("1\u{FE0F}\u{20E3}", 2), ("\u{1F44D}\u{1F3FD}", 2),
    ("\u{301}", 0), ("\u{20000}", 2), ("\u{3042}\u{3099}", 2), ("\u{303F}", 1), ("\u{3000}", 2),
    ("\u{2026}", 1), ("\u{1100}", 2), ("\u{3FFFD}", 2),
    ("\u{10FFFF}", 1),
  ]

  @Test(arguments: widths) func cells(of text: String, are width: Int) {
    #expect(text.cells == width)
  }

  @Test func textIsCutBetweenCharacters() {
    let text = "\u{65E5}\u{672C}\u{8A9E}"
    #expect(text.cut(to: 6) == text && text.cut(to: 5) == "\u{65E5}\u{672C}…")
    #expect(text.cut(to: 4) == "\u{65E5}…" && text.cut(to: 1) == "…")
    #expect("abcdef".cut(to: 6) == "abcdef" && "abcdef".cut(to: 5) == "abcd…")
    #expect("e\u{301}e\u{301}".cut(to: 2) == "e\u{301}e\u{301}")
    #expect(text.padded(right: 8) == text + "  " && text.padded(left: 7) == " " + text)
  }

  /// Rows with Chinese names stood apart.
  @Test func tablesAndTimelinesAreAligned() throws {
    let folder = try CommandFolder()
    for (key, title) in [("1", "\u{65E5}\u{672C}\u{8A9E}"), ("2", "e\u{301}"), ("3", "\u{1F469}!")]
    {
      folder.run(
        "put", "@a.annals", "Note/\(key)", "title=\(title)", "day=2019-10-2\(key)", "z=end")
    }
    let table = folder.run("query", "@a.annals", "Note", "--format", "table").output
    for line in table.split(separator: "\n").dropFirst() {
      let column = line.range(of: "end").map { String(line[..<$0.lowerBound]).cells }
      #expect(column == table.split(separator: "\n").first.map { String($0.dropLast(1)).cells })
    }
    let timeline = folder.run(
      "timeline", "@a.annals", "--entity", "Note", "--start", "day", "--label", "title")
    let columns = timeline.output.split(separator: "\n").map { line in
      line.range(of: " ago").map { String(line[..<$0.upperBound]).cells }
    }
    #expect(columns.count == 3 && columns[0] != nil, "\(timeline)")
    folder.terminal.isOutput = true
    folder.terminal.width = 20
    for line in folder.run("query", "@a.annals", "Note", "--format", "table").output.split(
      separator: "\n")
    {
      #expect(String(line).cells <= 20)
    }
  }
}
