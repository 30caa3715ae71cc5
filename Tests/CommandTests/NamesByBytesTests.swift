import Annals
import AnnalsInspector
import Foundation
import Testing

@testable import AnnalsCommand

/// Names and values are bytes: an accent is one character with the sign before it, and the sign is
/// still there. And none of them plays with a terminal.
@Suite struct NamesByBytesTests {
  @Test func signsAreFoundBeforeAccents() throws {
    #expect(try ObjectArgument("Post/\u{301}x") == .key(entity: "Post", key: "\u{301}x"))
    #expect(
      try Assignment("title=\u{338}b") == Assignment(name: "title", content: .text("\u{338}b")))
    let folder = try CommandFolder()
    let put = folder.run("put", "@p.annals", "Post/\u{301}x", "title=\u{338}b")
    #expect(put.status == .done, "\(put)")
    let state = folder.run("state", "@p.annals").output
    let line = "{\"entity\":\"Post\",\"id\":\"\u{301}x\",\"title\":\"\u{338}b\"}\n"
    #expect(state.utf8.elementsEqual(line.utf8))
    #expect(folder.run("get", "@p.annals", "Post/\u{301}x").status == .done)
    #expect(folder.run("show", "@p.annals", "Post/\u{301}x").status == .done)
  }

  @Test func cellsAreQuotedByBytes() throws {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "P/a", "x=\"\u{301}q", "y=", "z=\"\"")
    folder.run("put", "@p.annals", "P/b,c", "x=1")
    let expected = "entity,id,x,y,z\nP,a,\"\"\"\u{301}q\",\"\",\"\"\"\"\"\"\nP,\"b,c\",1,,\n"
    let csv = folder.run("state", "@p.annals", "--format", "csv").output
    #expect(csv.utf8.elementsEqual(expected.utf8), "\(csv)")
  }

  @Test func noTextPlaysWithTheTerminal() throws {
    let folder = try CommandFolder()
    let nasty = "a\u{1B}[31m\u{9B}2J\u{202E}b\u{2066}"
    folder.run("put", "@p.annals", "P/\(nasty)", "x=\(nasty)", "--author", nasty)
    let shown = "a\\u001b[31m\\u009b2J\\u202eb\\u2066"
    for arguments in [
      ["log"], ["show", "head"], ["show", "P/\(nasty)"], ["get", "P/\(nasty)"], ["diff", "0"],
      ["blame", "P/\(nasty)"], ["state", "--format", "table"], ["stat"], ["get", "Q/\(nasty)"],
      ["get", "P/\(nasty)?"], ["log", "--author", nasty, "--entity", nasty],
    ] {
      let run = folder.run([arguments[0], "@p.annals"] + arguments.dropFirst())
      let text = run.output + run.errors
      #expect(text.contains(shown) || arguments.last == "Q/\(nasty)", "\(arguments): \(text)")
      for scalar in text.unicodeScalars where scalar != "\n" {
        let isControl = scalar.properties.generalCategory == .control
        #expect(
          !isControl
            && !nasty.unicodeScalars.dropFirst().contains { $0 == scalar && $0.value > 0x7F })
      }
    }
  }

  @Test func linesOfAMessageEndInLFOrCRLF() throws {
    #expect(ValueText.lines(of: "a\r\nb\n\rc\n") == ["a", "b", "\rc", ""])
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "P/a", "--message", "one\r\ntwo")
    #expect(folder.run("log", "@p.annals").output.contains("\n    one\n    two\n"))
  }
}
