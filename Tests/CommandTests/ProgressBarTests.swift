import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// The lines that long verbs draw on a terminal: what they count, how often, and that the last one
/// is removed. Each look at the clock takes 40 ms here, so one in three is drawn.
@Suite struct ProgressBarTests {
  private static let count = 40

  private let folder: CommandFolder
  /// 40 lines of 20 kB, longer together than what is read at once.
  private let lines: String

  init() throws {
    folder = try CommandFolder()
    folder.lookLength = 40_000
    let text = String(repeating: "x", count: 20_000)
    lines = (1...Self.count).map { number in
      #"{"changes":[{"op":"insert","entity":"Post","id":"\#(number)","set":{"t":"\#(text)"}}]}"#
        + "\n"
    }.joined()
    try folder.write(lines, to: "c.jsonl")
  }

  /// What was drawn, one over the other; an empty text removes it.
  private func drawn(_ run: CommandRun) -> [String] {
    run.errors.components(separatedBy: "\r").dropFirst().map {
      $0.components(separatedBy: "\u{1B}[K")[0]
    }
  }

  /// The counts of what was drawn; the last line is removed.
  private func counts(_ run: CommandRun, _ noun: String) -> [Int] {
    #expect(run.errors.hasSuffix("\r\u{1B}[K"), "\(run.errors)")
    return drawn(run).filter { $0.contains(noun) }.map { text in
      let found = text.firstMatch(of: #/([0-9,]+) ([a-z]+) /#)
      let count = found.flatMap { Int($0.1.replacing(",", with: "")) } ?? -1
      #expect(found.map { String($0.2) } == (count == 1 ? noun : noun + "s"), "\(text)")
      return count
    }
  }

  private func percents(_ run: CommandRun) -> [Int] {
    drawn(run).filter { $0.contains("transaction") }.compactMap { text in
      text.firstMatch(of: #/([0-9]+)%/#).flatMap { Int($0.1) }
    }
  }

  private let thirds = Array(stride(from: 1, through: ProgressBarTests.count, by: 3))

  @Test func anImportTellsOfItsTransactionsAndOfTheFile() throws {
    #expect(folder.run("import", "@quiet.annals", "@c.jsonl").errors == "")
    folder.terminal.isErrors = true
    let run = folder.run("import", "@t.annals", "@c.jsonl")
    #expect(run.output == "imported 40 transactions; the newest is 40\n", "\(run)")
    #expect(counts(run, "transaction") == thirds, "\(run.errors)")
    let percents = percents(run)
    #expect(percents.count == thirds.count && percents == percents.sorted(), "\(run.errors)")
    for (count, percent) in zip(thirds, percents) {
      // What is read ahead are at most two buffers.
      let read = count * 100 / Self.count
      #expect(percent >= read && percent <= min(read + 40, 100), "\(run.errors)")
    }
  }

  @Test func anImportFromAPipeTellsOfItsTransactionsAlone() throws {
    folder.terminal.isErrors = true
    folder.input = Array(lines.utf8)
    let run = folder.run("import", "@t.annals", "-")
    #expect(counts(run, "transaction") == thirds && percents(run) == [], "\(run)")
  }

  @Test func whatAnImportSaysComesAfterTheBar() throws {
    folder.terminal.isErrors = true
    try folder.write(lines + "{", to: "bad.jsonl")
    let run = folder.run("import", "@t.annals", "@bad.jsonl")
    #expect(run.status == .foundProblems)
    let last = run.errors.components(separatedBy: "\r\u{1B}[K").last ?? ""
    #expect(last.hasPrefix("annals: @bad.jsonl:41: ") && !last.contains("\r"), "\(run)")
  }

  /// A schema that is given may have something to do for all objects.
  @Test func anImportTellsOfObjectsThatTheSchemaChanges() throws {
    func schema(_ derived: [Attribute]) -> Schema {
      Schema(entities: [Entity("Post", attributes: [Attribute("t", .string)] + derived)])
    }
    let store = try Store(
      path: folder.file("t.annals"), schema: schema([]), environment: folder.store)
    try store.write { tx in
      for number in 0..<5_000 { try tx.insert("Post", ["t": .string("\(number)")]) }
    }
    try store.close()
    let derived = [Attribute("key", .string, derived: .normalized("t"))]
    try Store(path: folder.file("d.annals"), schema: schema(derived)).close()
    try folder.write(folder.schema("@d.annals"), to: "d.json")
    try folder.write(#"{"changes":[]}"# + "\n", to: "one.jsonl")
    folder.terminal.isErrors = true
    let run = folder.run("import", "@t.annals", "@one.jsonl", "--schema", "@d.json")
    #expect(run.status == .done, "\(run)")
    let texts = drawn(run)
    #expect(texts.first?.contains(" 81%  4,096 objects  ") == true, "\(run)")
    #expect(texts.last == "" && texts.contains { $0.contains("1 transaction  ") }, "\(run)")
  }

  @Test func anExportTellsOfItsTransactions() throws {
    folder.run("import", "@t.annals", "@c.jsonl")
    #expect(folder.run("export", "@t.annals").errors == "")
    folder.terminal.isErrors = true
    for (options, first) in [([], 0), (["--after", "7"], 7), (["--after", "7", "--to", "23"], 7)] {
      let last = options.count == 4 ? 23 : Self.count
      let run = folder.run(["export", "@t.annals"] + options)
      let counts = counts(run, "transaction")
      #expect(counts.isEmpty == false && counts == counts.sorted(), "\(run.errors)")
      #expect(counts == Array(stride(from: 1, through: last - first, by: 3)), "\(run.errors)")
      #expect(percents(run) == counts.map { $0 * 100 / (last - first) }, "\(run.errors)")
    }
    // A bar would mix with what is printed.
    folder.terminal.isOutput = true
    #expect(folder.run("export", "@t.annals").errors == "")
  }
}
