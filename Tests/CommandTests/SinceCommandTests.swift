import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals since`, and what `diff`, `show` and `log` say of objects and texts.
@Suite struct SinceCommandTests {
  private let folder: CommandFolder

  init() throws {
    folder = try CommandFolder()
    folder.run("put", "@p.annals", "P/a", "x:=1")  // 1
    folder.run("put", "@p.annals", "P/b", "x:=1", "--message", "The second one")  // 2
    folder.run("put", "@p.annals", "P/a", "x:=2")  // 3
    folder.run("delete", "@p.annals", "P/b")  // 4
    folder.run("put", "@p.annals", "P/b", "x:=3")  // 5
    folder.run("put", "@p.annals", "Q/a", "y:=1", "--new")  // 6
  }

  private func first(_ arguments: String...) -> String {
    let run = folder.run(["since", "@p.annals"] + arguments)
    return run.errors + (run.output.split(separator: "\n").first.map(String.init) ?? "")
  }

  @Test func anObject() throws {
    #expect(first("P/a") == "true since transaction 1")
    #expect(first("P/a", "--where", "x == 2") == "true since transaction 3")
    #expect(first("P/a", "--where", "x == 1") == "false since transaction 3")
    #expect(first("P/a", "--where", "x == 1", "--at", "2") == "true since transaction 1")
    #expect(first("P/a", "--where", "x == 9") == "false all the time from 0 to 6")
    let again = folder.run("since", "@p.annals", "P/b").output
    #expect(
      again.hasPrefix(
        """
        true since transaction 5
        note: the key was P#2 before; ask about that by its number

        transaction 5  
        """))
    #expect(again.hasSuffix("\n    + P/b\n"))
    #expect(first("P#2") == "false since transaction 4")
    // Between two lives the key is that of the first one.
    #expect(first("P/b", "--at", "4") == "false since transaction 4")
    #expect(first("P/b", "--at", "3") == "true since transaction 2")
  }

  @Test func aCount() throws {
    #expect(first("--entity", "P") == "true since transaction 1: 2 objects as of 6")
    #expect(first("--entity", "P", "--count", "2") == "true since transaction 5: 2 objects as of 6")
    #expect(
      first("--entity", "P", "--where", "x > 1", "--count", ">=2", "--at", "4")
        == "false all the time from 0 to 4: 1 object as of 4")
    let line = folder.run(
      "since", "@p.annals", "--entity", "P", "--count", "<2", "--format", "jsonl"
    ).output
    #expect(line.hasPrefix(#"{"holds":false,"exact":true,"count":2,"n":5,"timestamp":""#))
  }

  @Test func mistakes() throws {
    #expect(folder.run("since", "@p.annals").status == .usage)
    #expect(folder.run("since", "@p.annals", "P/a", "--entity", "P").status == .usage)
    #expect(folder.run("since", "@p.annals", "P/a", "--count", "3").status == .usage)
    #expect(
      first("--entity", "P", "--count", "many")
        == "annals: --count is >=100, ==0 or <5, not `many`\n")
    #expect(first("--entity", "P", "--where", "z == 1").hasPrefix("annals: --where, column 1: "))
    for name in ["P/z", "P#99"] {
      #expect(first(name) == "annals: there is no object \(name), and there never was one\n")
    }
    #expect(folder.run("since", "@none.annals", "P/z").status == .couldNotRun)
  }

  @Test func aDifferenceOfSome() throws {
    func diff(_ arguments: String...) -> String {
      folder.run(["diff", "@p.annals", "2"] + arguments).output
    }
    #expect(diff() == "~ P/a  x: 1 → 2\n± P/b  x: 1 → 3\n+ Q/a\n    y: 1\n")
    #expect(diff("--entity", "Q") == "+ Q/a\n    y: 1\n")
    #expect(diff("--object", "P/b") == "± P/b  x: 1 → 3\n")
    #expect(diff("--object", "P/b", "--object", "P/a", "--entity", "Q") == "")
    #expect(diff("--object", "P/b", "--format", "jsonl").split(separator: "\n").count == 2)
    let unknown = folder.run("diff", "@p.annals", "2", "--entity", "R")
    #expect(unknown.errors == "annals: the store has no entity R; it has P, Q\n")
    #expect(folder.run("diff", "@p.annals", "2", "--entity", "Q", "--exit-code").status != .done)
  }

  /// A reference that stays is told by every verb, by the name that its object had.
  @Test func whatIsGoneIsNamed() throws {
    let schema = Schema(entities: [
      Entity("Place", attributes: [Attribute("id", .string, isUnique: true)]),
      Entity(
        "Post", attributes: [Attribute("id", .string, isUnique: true)],
        relationships: [Relationship("place", to: "Place", onDelete: .keep)]),
    ])
    try Store.with(path: folder.file("k.annals"), schema: schema) { store in
      let place = try store.write { tx in
        let place = try tx.insert("Place", ["id": "kyoto"])
        try tx.insert("Post", ["id": "a", "place": .object(ObjectReference(place))])
        return place
      }
      try store.write { try $0.delete(place) }
    }
    for words in [
      ["get", "@k.annals", "Post/a"], ["show", "@k.annals", "Post/a"], ["show", "@k.annals", "2"],
      ["blame", "@k.annals", "Post/a"], ["diff", "@k.annals", "1", "head"],
    ] {
      let output = folder.run(words).output
      #expect(output.contains("Place/kyoto"), "\(words): \(output)")
    }
  }

  @Test func messages() throws {
    func numbers(_ text: String) -> [Substring] {
      folder.run("log", "@p.annals", "--message", text, "--oneline").output
        .split(separator: "\n").map { $0.prefix(1) }
    }
    #expect(numbers("SECOND") == ["2"])
    #expect(numbers("third").isEmpty)
    let lines = folder.run("log", "@p.annals", "--message", "second", "--format", "jsonl").output
    #expect(lines.hasPrefix(#"{"n":2,"#) && lines.split(separator: "\n").count == 1)
  }

  @Test func placesInLongTexts() throws {
    var lines = (1...300).map { "line \($0) of a text that is long" }
    folder.run("put", "@p.annals", "P/t", "text=" + lines.joined(separator: "\n"))  // 7
    lines[9] = "another"
    lines.removeLast()
    folder.run("put", "@p.annals", "P/t", "text=" + lines.joined(separator: "\n"))  // 8
    let places = """
      text, line 10: "line 10 of a text that is long\\n" → "another\\n"
      """
    for command in [["show", "@p.annals", "8"], ["diff", "@p.annals", "7", "8"]] {
      let output = folder.run(command).output
      #expect(output.contains(places), "\(output)")
      #expect(output.contains("text, line 299: ") && output.contains(" bytes\n"), "\(output)")
    }
    #expect(!folder.run("log", "@p.annals", "-n", "1").output.contains("line 10"))
  }
}
