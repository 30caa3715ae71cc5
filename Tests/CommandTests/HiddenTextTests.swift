import Annals
import AnnalsStorage
import Foundation
import Testing

@testable import AnnalsCommand

/// Nothing that is stored or typed reaches a terminal as anything but visible text.
///
/// A consumer's name set the title of the window, and a value turned the direction of its line.
@Suite struct HiddenTextTests {
  /// Characters that no output may have: a title's escape sequence, DEL, C1, direction, separators,
  /// zero width, a byte order mark, and a tag.
  private static let hidden =
    "\u{1B}]0;owned\u{7}\u{7F}\u{9B}31m\u{61C}\u{202E}\u{2066}\u{2028}\u{2029}"
    + "\u{200B}\u{200D}\u{2060}\u{FEFF}\u{E0041}\r"
  /// The same as part of a name, which cannot have control characters below U+0080.
  private static let name = String(
    String.UnicodeScalarView(("N" + hidden + "x").unicodeScalars.filter { $0.value > 0x7F }))
  private static let text = "T\(hidden)\nx"

  private let folder: CommandFolder
  private let file: String

  init() throws {
    folder = try CommandFolder()
    file = folder.file("\(HiddenTextTests.text.replacing("/", with: "")).annals")
    let (name, text) = (HiddenTextTests.name, HiddenTextTests.text)
    let schema = Schema {
      Entity("E\(name)") {
        Attribute("k\(name)", .string, isUnique: true)
        Attribute("v\(name)", .string)
        Attribute("j\(name)", .json)
        Attribute("u\(name)", .url)
        Attribute("d\(name)", .date)
        Attribute("r\(name)", .string, validation: Validation(maximumLength: 3))
        Relationship("o\(name)", to: "E\(name)", isToMany: true)
      }
    }
    let store = try Store(.file(file), schema: schema, environment: folder.store)
    try store.write(author: "a\(text)", context: "c\(text)", metadata: ["message": .string(text)]) {
      try $0.insert(
        "E\(name)",
        [
          "k\(name)": .string(text), "v\(name)": .string(text),
          "j\(name)": .json("{\"a\":\"\u{202E}\u{2028}\u{9B}\"}"), "u\(name)": .url("x:\(text)"),
          "d\(name)": .date(Timestamp(microseconds: 1_571_768_400_000_000)),
        ])
    }
    try store.write(author: "a\(text)", metadata: [text: .string(text)]) {
      try $0.insert("E\(name)", ["k\(name)": "second", "v\(name)": .string(text)])
    }
    _ = try store.consumer(
      "c\(text)", kind: text, blocking: true, lease: .forever, startingAfter: 0)
    try store.close()
  }

  /// The command lines of every verb.
  private func lines() throws -> [[String]] {
    let (name, text) = (HiddenTextTests.name, HiddenTextTests.text)
    let (entity, object) = ("E\(name)", "E\(name)#1")
    let dump = ["dump", file]
    let query = ["query", file, entity]
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"New","id":"n","set":{"x":1}}]}"#, to: "lines")
    var lines: [[String]] = [
      ["log", file], ["log", file, "--oneline"], ["log", file, "--format", "jsonl"],
      ["log", file, "--author", text], ["show", file, "1"], ["show", file, object],
      ["show", file, object, "--format", "jsonl"], ["show", file, "1", "--format", "jsonl"],
      ["diff", file, "1", "2"], ["diff", file, "0", "2", "--format", "jsonl"],
      ["blame", file, object], ["blame", file, object, "--format", "jsonl"],
      ["get", file, object], ["get", file, object, "--format", "jsonl"],
      ["get", file, "\(entity)/\(text)"], ["get", file, "\(entity)/no\(text)"],
      ["state", file], ["state", file, "--format", "csv"], ["state", file, "--format", "table"],
      ["state", file, "--entity", "no\(text)"],
      query, query + ["--format", "csv"], query + ["--format", "table"], query + ["--explain"],
      query + ["--where", "`v\(name)` == \"\(text)"],
      query + ["--group-by", "`v\(name)`"],
      query + ["--properties", "`v\(name)`", "--format", "csv"],
      ["timeline", file, "--lifetimes"], ["timeline", file, "--lifetimes", "--svg", "-"],
      ["timeline", file, "--lifetimes", "--format", "jsonl"],
      ["timeline", file, "--lifetimes", "--svg", file + ".svg"],
      ["schema", file], ["index", file, "add", entity, "i\(name)", "--", "`v\(name)`"],
      ["index", file], dump, dump + ["--bytes"], dump + ["--format", "jsonl"],
      dump + ["--bytes", "--format", "jsonl"], ["verify", file], ["stat", file],
      ["put", file, "\(entity)/\(text)2", "v\(name)=\(text)", "--author", text],
      ["put", file, "\(entity)/\(text)2", "r\(name)=\(text)"],
      ["put", file, "\(entity)/\(text)2", "new\(text)=\(text)"],
      ["delete", file, "\(entity)/\(text)2"], ["revert", file, "3", "--yes"],
      ["undo", file, "--author", text, "--dry-run"], ["undo", file, "--author", text],
      ["redo", file, "--author", text], ["undo", file, "--author", "no" + text],
      ["consumers", file], ["consumers", file, "add", "d\(text)", "--kind", text],
      ["consumers", file, "remove", "d\(text)"], ["consumers", file, "remove", "none\(text)"],
      ["retain", file, "--transactions", "1"], ["maintain", file, "--dry-run", "--all"],
      ["maintain", file, "--all"], ["prune", file, "--before", "2", "--dry-run"],
      ["prune", file, "--before", "2"], ["prune", file, "--before", text],
      ["backup", file, file + ".copy"], ["ship", file, file + ".f"],
      ["restore", file + ".f", "--list"], ["restore", file + ".f", file + ".restored"],
      ["replay", file, file + ".replayed", "--to", "2"],
      ["salvage", file, file + ".salvaged"], ["compact", file],
      ["export", file], ["import", file, "@lines", "--new"], ["import", file, text],
      ["watch", file, entity, "--steps", "1"],
      ["watch", file, entity, "--steps", "1", "--format", "jsonl"],
      ["erase", file, "\(entity)#2", "--reason", text, "--yes"], ["log", file],
    ]
    // Mistakes: no such file, no such option, too many words.
    let verbs = AnnalsCommand.verbs
    for verb in verbs {
      lines.append([verb, file + "none", text, text])
      lines.append([verb, file, "--\(text)"])
    }
    lines += [[text], ["help", text]]
    #expect(Set(lines.compactMap(\.first)).isSuperset(of: verbs))
    return lines
  }

  /// What a run writes, without the styles of a terminal and the bars of progress.
  private func written(_ line: [String]) async throws -> String {
    let run = line.first == "watch" ? try await watched(line) : folder.run(line)
    return (run.output + run.errors).replacing(/\r[^\r\u{1B}]*\u{1B}\[K/, with: "")
      .replacing(/\u{1B}\[[0-9]*m/, with: "")
  }

  /// Runs `watch` on a thread of its own, as it waits for tasks, while an object is changed
  /// again and again.
  private func watched(_ line: [String]) async throws -> CommandRun {
    let result = Monitor<CommandRun?>(nil)
    nonisolated(unsafe) let folder = folder
    Thread.detachNewThread {
      let run = folder.run(line)
      result.withLock { $0 = run }
    }
    for _ in 0..<600 where result.withLock({ $0 }) == nil {
      changeValue()
      try await Task.sleep(for: .milliseconds(50))
    }
    return try #require(result.withLock { $0 }, "watch did not end")
  }

  /// Commits a change of the first object, as another process would.
  private func changeValue() {
    do {
      let other = try Store(.file(file), environment: folder.store)
      let found = try other.snapshot().objects(of: "E\(HiddenTextTests.name)").first
      let object = try #require(found).objectID
      let value = "\(HiddenTextTests.text)\(other.token.number)"
      try other.write {
        try $0.update(object, ["v\(HiddenTextTests.name)": .string(value)])
      }
      try other.close()
    } catch {
      Issue.record(error)
    }
  }

  @Test(arguments: [true, false]) func noVerbPrintsIt(isTerminal: Bool) async throws {
    folder.terminal.isOutput = isTerminal
    folder.terminal.isErrors = isTerminal
    folder.terminal.width = isTerminal ? 2_000 : nil
    let forbidden = Set(
      HiddenTextTests.hidden.unicodeScalars.filter { $0.value < 32 || $0.value > 126 })
    var lengths = 0
    for line in try lines() {
      // CSV in a file is exact, and so is a state in canonical form.
      if !isTerminal, line.contains("csv") || line == ["state", file] { continue }
      let text = try await written(line)
      lengths += text.utf8.count
      let found = text.unicodeScalars.first { forbidden.contains($0) }
      #expect(found == nil, "\(line.map { $0.debugDescription }): \(text.debugDescription)")
    }
    #expect(lengths > 10_000)
  }

  @Test func aStateInAFileIsExact() throws {
    let run = folder.run("state", file)
    #expect(run.output.contains("\u{202E}") && run.output.unicodeScalars.contains("\u{E0041}"))
  }

  @Test func csvInAFileIsExact() throws {
    let run = folder.run("query", file, "E\(HiddenTextTests.name)", "--format", "csv")
    #expect(run.output.utf8.count > 0 && run.output.contains("\u{202E}"))
    #expect(run.output.unicodeScalars.contains("\u{E0041}"))
  }

  /// Joiners that join something, as in emoji and in Persian, are text.
  @Test func joinersStayWhereTheyJoin() {
    let texts = [
      "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{2764}\u{FE0F}\u{200D}\u{1F525}",
      "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}", "\u{845B}\u{E0100}",
    ]
    for text in texts { #expect(ValueText.plain(text) == text) }
    #expect(ValueText.plain("a\u{200D}b") == "a\\u200db")
    #expect(ValueText.plain("\u{200D}\u{1F469}") == "\\u200d\u{1F469}")
    #expect(ValueText.plain("\u{E0041}") == "\\udb40\\udc41")
  }

  @Test func aCharacterCutInTwoIsWhole() throws {
    var written: [UInt8] = []
    let output = Output(limit: 1) { written += $0 }
    let bytes = Array("ä\u{1F469}\u{202E}\u{FFFD}".utf8) + [0xC3, 0x28]
    for byte in bytes { try output.write(ContiguousArray([byte])) }
    #expect(
      String(decoding: written, as: UTF8.self) == "ä\u{1F469}\\u202e\u{FFFD}\u{FFFD}(")
  }

  @Test func longNamesAreCutInMessages() throws {
    let name = String(repeating: "n", count: 5_000_000)
    let spaced = String(repeating: "no name ", count: 600_000)
    for name in [name, spaced] {
      try folder.write(
        #"{"changes":[{"op":"update","entity":"\#(name)","id":1,"set":{}}]}"#, to: "l")
      let run = folder.run("import", "@new.annals", "@l")
      #expect(run.status == .foundProblems && run.errors.utf8.count < 4_000, "\(run.errors.count)")
      #expect(run.errors.contains("@l:1: ") && run.errors.hasSuffix("Nothing was imported.\n"))
    }
  }
}
