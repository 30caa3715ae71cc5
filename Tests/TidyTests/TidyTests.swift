import Testing

/// The whole package keeps the rules; and the rules find what breaks them.
@Suite struct TidyTests {
  @Test func everyFileIsTidy() throws {
    let files = try SourceFile.all()
    #expect(files.count > 20, "the files were not found")
    #expect(files.contains { $0.module == "AnnalsCommand" })
    let violations = files.flatMap(TidyRules.violations) + FolderRules.violations(in: files)
    for violation in violations { Issue.record("\(violation)") }
  }

  /// The canary: each line breaks just the rule behind it.
  @Test(arguments: [
    ("import AnnalsLog", "AnnalsState may not import AnnalsLog"),
    ("@testable import AnnalsLog", "AnnalsState may not import AnnalsLog"),
    ("package import struct AnnalsLog.LogFile", "AnnalsState may not import AnnalsLog"),
    ("import Foundation", "AnnalsState may not import Foundation"),
    ("#if canImport(Glibc)", "a platform is named outside AnnalsStorage"),
    ("let size = Mutex(0)", "the thread sanitizer does not see a Mutex: use Locked"),
    ("let size: Mutex<Int>", "the thread sanitizer does not see a Mutex: use Locked"),
    ("let size = try! read()", "an optional or an error is forced"),
    ("let size = sizes[0]!", "an optional or an error is forced"),
    ("let size = read()!.count", "an optional or an error is forced"),
    ("var size: Int!", "an optional or an error is forced"),
    ("let table = value as! Table", "an optional or an error is forced"),
    ("final class FileManager {}", "a name that says nothing of what it owns"),
    ("enum ByteUtils {}", "a name that says nothing of what it owns"),
    ("let text = \"x; annals verify\"", "the library names the command"),
    ("let text = \"annals get FILE\"", "the library names the command"),
    ("// TO" + "DO: more", "a note for later: write an issue"),
    ("let a = \(String(repeating: "1", count: 100))", "more than 100 characters in a line"),
  ])
  func findsABrokenRule(line: String, rule: String) {
    let text = "struct A {}\n\(line)\nstruct B {}\n"
    let file = SourceFile(path: "Sources/AnnalsState/A.swift", text: text)
    #expect(
      TidyRules.violations(in: file)
        == [Violation(path: "Sources/AnnalsState/A.swift", line: 2, rule: rule)])
  }

  @Test(arguments: [
    "import AnnalsModel", "import Synchronization", "if !isEmpty && a != b {}",
    "// what a Manager is: import AnnalsLog, read()!", "let text = \"a! \\(b(\"c!\")) d!\"",
    "let text = #\"try! \"# + \"x\"", "/* x! /* y! */ z! */", "let manager = FileManager.default",
    "let mutex = Locked(0)", "/// As a Mutex.",
  ])
  func leavesGoodLinesAlone(line: String) {
    let file = SourceFile(path: "Sources/AnnalsState/A.swift", text: line)
    #expect(TidyRules.violations(in: file) == [])
  }

  @Test func findsVerbsThatFitAnyOperation() {
    let text = "func take(_ a: Int) {}\nfunc takeWaiters() {}\nfunc finish() {}\n"
    for (module, count) in [("AnnalsLog", 2), ("AnnalsTorture", 0)] {
      let file = SourceFile(path: "Sources/\(module)/A.swift", text: text)
      #expect(TidyRules.violations(in: file).count == count)
    }
  }

  @Test func findsLongFilesAndFunctions() {
    let lines = { (count: Int) in String(repeating: "  let a = 1\n", count: count) }
    let file = SourceFile(path: "Sources/AnnalsState/A.swift", text: lines(501))
    #expect(TidyRules.violations(in: file).map(\.rule) == ["more than 500 lines in a file"])
    let text = """
      protocol P {
        func a() -> [Int]
        func b(_ body: () -> Void = {})
        init()
      }
      func short(
        _ body: () -> Void = { if true {} }
      ) {
      \(lines(60))}
      struct A {
        init(a: Int) throws(E) {
      \(lines(69))  }
        func last() {}
      }
      """
    let long = SourceFile(path: "Sources/AnnalsState/A.swift", text: text)
    let found = TidyRules.violations(in: long)
    #expect(found.map(\.rule) == ["more than 70 lines in a function"])
    #expect(found.first.map { long.lines[$0.line - 1] } == "  init(a: Int) throws(E) {")
  }

  /// A folder uses those below it, not those above; private types have no folder.
  @Test func findsAFolderThatUsesOneAbove() {
    let texts = [
      ("Walk/A.swift", "package struct Walk {}\n// Dump, Other, Hidden\nlet a: [Other]\n"),
      ("Frames/B.swift", "@frozen package final class Dump: Walk {}\nprivate enum Hidden {}\n"),
      ("Frames/C.swift", "enum Other {\n  struct Walk {}\n}\n"),
      ("Walk/D.swift", "let b = [Dump(), Hidden()]\n"), ("Odd/E.swift", "struct E {}\n"),
      ("Frames/F.swift", "extension Walk {\n  var ownBytes: Int { 0 }\n  var twoOfThem = 0\n}\n"),
      ("Walk/G.swift", "let c = walk.ownBytes + walk.twoOfThem\nlet twoOfThem = 1\n"),
    ]
    let files = texts.map { SourceFile(path: "Sources/AnnalsInspection/\($0)", text: $1) }
    #expect(
      FolderRules.violations(in: files).map { "\($0)".dropFirst(25) } == [
        "Odd/E.swift:1: the order of folders does not have this one",
        "Walk/A.swift:3: Other is of Frames, a folder above",
        "Walk/D.swift:1: Dump is of Frames, a folder above",
        "Walk/G.swift:1: ownBytes is of Frames, a folder above",
      ])
  }

  @Test func findsNamesOfFiles() {
    let file = SourceFile(path: "Sources/AnnalsState/TableUtils.swift", text: "struct A {}")
    #expect(TidyRules.violations(in: file).count == 1)
  }
}
