import Annals
import AnnalsInspector
import Testing

@testable import AnnalsCommand

@Suite struct OutputTests {
  static let numbers: [(Int64, String)] = [
    (0, "0"), (999, "999"), (1000, "1,000"), (-26588, "-26,588"), (1_234_567, "1,234,567"),
    (.min, "-9,223,372,036,854,775,808"),
  ]

  @Test(arguments: numbers)
  func groupsThousands(value: Int64, text: String) { #expect(Numerals.grouped(value) == text) }

  @Test func writesSizesAndTimes() {
    #expect(Numerals.size(1) == "1 byte" && Numerals.size(999) == "999 bytes")
    #expect(Numerals.size(38_200_000) == "38.2 MB" && Numerals.size(1_000) == "1.0 kB")
    #expect(Numerals.clock(7) == "0:07" && Numerals.clock(3750) == "1:02:30")
    #expect(Numerals.share(1, of: 3) == "33.3%" && Numerals.share(0, of: 0) == "0.0%")
    #expect(
      Numerals.counted(1, "change") == "1 change" && Numerals.counted(2, "change") == "2 changes")
  }

  @Test func drawsABarThatFits() {
    let text = ProgressBar.text(
      count: 12_345, noun: "transaction", fraction: 0.42, elapsed: 10, width: 100)
    #expect(
      text == "[############..................]  42%  12,345 transactions  1,234/s  0:13 left")
    for width in 1...100 {
      let text = ProgressBar.text(
        count: 12_345, noun: "transaction", fraction: 0.42, elapsed: 10, width: width)
      #expect(text.count < width || width <= 1)
    }
    #expect(
      ProgressBar.text(count: 1, noun: "commit", fraction: nil, elapsed: 1, width: 80)
        == "1 commit  1/s")
  }

  static let texts: [(String, String)] = [
    ("plain \u{e9}", "plain \u{e9}"), ("a\nb\tc", "a\\nb\\tc"), ("\u{1b}[31mred", "\\u001b[31mred"),
    ("\u{9b}31m", "\\u009b31m"), ("\u{7f}", "\\u007f"),
  ]

  @Test(arguments: texts)
  func showsControlCharacters(text: String, shown: String) {
    #expect(ValueText.plain(text) == shown)
  }

  @Test func showsValues() throws {
    let values = ValueText(zone: berlin, limit: 5)
    let showing = ValueShowing(.whole(), LargeValues())
    func text(_ value: Value) throws -> String { values.text(try showing.shown(value)) }
    #expect(try text(.string("abcde")) == "\"abcde\"")
    #expect(try text(.string("abcdef\"")) == "\"abcde…\"")
    #expect(try text(.string("a\"b")) == "\"a\\\"b\"")
    #expect(try text(.date(Timestamp(microseconds: 0))) == "1970-01-01 01:00:00 +0100")
    #expect(try text(.null) == "none" && text(.double(1)) == "1.0" && text(.string("")) == "\"\"")
    #expect(try text(.data([1, 2])) == "(2 bytes)" && text(.data([])) == "(0 bytes)")
  }

  @Test func rangesSplitAtTwoDots() {
    #expect(RangeArgument("1..5").map { [$0.from, $0.to] } == ["1", "5"])
    #expect(RangeArgument("..5").map { [$0.from, $0.to] } == ["base", "5"])
    #expect(RangeArgument("head~3..").map { [$0.from, $0.to] } == ["head~3", "head"])
    #expect(RangeArgument("5") == nil)
  }

  @Test func assignmentsSplitAtTheFirstSign() throws {
    #expect(try Assignment("a=b=c") == Assignment(name: "a", content: .text("b=c")))
    #expect(try Assignment("a:=[1]") == Assignment(name: "a", content: .json("[1]")))
    #expect(try Assignment("a=") == Assignment(name: "a", content: .text("")))
    #expect(try Assignment("a b=:=c") == Assignment(name: "a b", content: .text(":=c")))
    for bad in ["", "a", "=b", "a:=", "a:=x"] {
      #expect(throws: CommandFailure.self) { try Assignment(bad) }
    }
  }

  @Test func statNamesFiveAuthorsAndCountsTheOthers() throws {
    let folder = try CommandFolder()
    func authors() -> String? {
      folder.run("stat", "@a.annals").output.split(separator: "\n")
        .first { $0.hasPrefix("authors") }.map(String.init)
    }
    for author in ["a", "b", "c", "d", "e"] {
      folder.run("put", "@a.annals", "Post/a", "title=\(author)", "--author", author)
    }
    #expect(authors() == "authors       5: a 1, b 1, c 1, d 1, e 1")
    folder.run("put", "@a.annals", "Post/a", "title=f", "--author", "f")
    #expect(authors() == "authors       6: a 1, b 1, c 1, d 1, e 1, … 1 more")
  }

  @Test func statNamesEightEntitiesAndCountsTheOthers() throws {
    let folder = try CommandFolder()
    for entity in 0..<10 { folder.run("put", "@a.annals", "E\(entity)/a", "t=x", "--new") }
    let stat = folder.run("stat", "@a.annals").output
    let all = (0..<8).map { "E\($0) 1" }.joined(separator: ", ")
    #expect(stat.contains("\nobjects       10: \(all), … 2 more\n"), "\(stat)")
  }

  /// The message about a failure stood behind the bar.
  @Test func anExportThatFailsRemovesItsBar() throws {
    let folder = try CommandTests.posts()
    folder.terminal.isErrors = true
    folder.outputLimit = 1
    let run = folder.run("export", "@posts.annals")
    #expect(run.errors.contains("transaction"), "\(run)")
    #expect(run.errors.hasSuffix("\u{1B}[K\r\u{1B}[K"), "\(run)")
  }

  @Test func listsOfReferencesNameTenAndCountTheOthers() throws {
    let folder = try CommandFolder()
    let schema = Schema(entities: [
      Entity("E", relationships: [Relationship("to", to: "E", isToMany: true)])
    ])
    let store = try Store(.file(folder.file("a.annals")), schema: schema, environment: folder.store)
    defer { try? store.close() }
    try store.write { tx in for _ in 0..<11 { try tx.insert("E") } }
    let showing = ValueShowing(.whole(), store.version)
    func text(_ count: Int64) throws -> String {
      let list = (1...count).map { ObjectReference(entity: 1, row: $0) }
      let shown = try showing.shown(.objects(list)) { () throws(AnnalsError) in
        store.version.snapshot.reader
      }
      return ValueText(zone: berlin).text(shown)
    }
    let ten = (1...10).map { "E#\($0)" }.joined(separator: ", ")
    #expect(try text(10) == "[\(ten)]")
    #expect(try text(11) == "[\(ten), … 1 more]")
  }
}

/// No large values.
private struct LargeValues: LargeValueSource {
  func bytes(of value: LargeValue) throws(AnnalsError) -> ContiguousArray<UInt8> { [] }
}
