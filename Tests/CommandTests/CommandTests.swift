import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// The output of every command on a small store, byte for byte.
@Suite struct CommandTests {
  /// A folder with the store `posts.annals`: four transactions.
  static func posts() throws -> CommandFolder {
    let folder = try CommandFolder()
    folder.run(
      "put", "@posts.annals", "Post/a", "title=Fog", "stars:=3", "--author", "Ann", "--message",
      "first\n\nwith a body")
    folder.run("put", "@posts.annals", "Post/b", "title=Mist", "ok:=true", "--author", "Ben")
    folder.run(
      "put", "@posts.annals", "Post/a", "title=Misty Morning", "--unset", "stars", "--author", "Ben"
    )
    folder.run("delete", "@posts.annals", "Post/b", "--author", "-x-", "--message", "no more")
    return folder
  }

  @Test func overviewIsOneScreen() throws {
    let run = try CommandFolder().run()
    #expect(run.status == .done && run.output == Overview.text && run.errors == "")
    let lines = Overview.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 36 && lines.allSatisfy { $0.count <= 80 })
    #expect(try CommandFolder().run("--help").output == Overview.text)
    let names = lines.compactMap { line -> String? in
      guard line.count > 18, line.prefix(8).allSatisfy({ $0 == " " || $0.isLetter }) else {
        return nil
      }
      let name = line.dropFirst(9).prefix { $0 != " " }
      return line.hasPrefix("annals") || name.isEmpty ? nil : String(name)
    }
    #expect(names.count == 32)
    for name in names {
      let help = try CommandFolder().run(name, "--help")
      #expect(help.status == .done && help.output.contains("USAGE: annals \(name)"), "\(name)")
    }
  }

  @Test func putSaysWhatItDid() throws {
    let folder = try CommandFolder()
    let first = folder.run("put", "@posts.annals", "Post/a", "title=Fog", "stars:=3")
    #expect(first.output == "transaction 1\n" && first.errors == "")
    let again = folder.run("put", "@posts.annals", "Post/a", "title=Fog")
    #expect(again.output == "nothing to change\n")
    let more = folder.run("put", "@posts.annals", "Post/a", "day=2019-10-22", "--author", "Ann")
    #expect(more.output == "transaction 2\n")
    #expect(more.errors == "annals: added the attribute Post.day (string)\n")
    let wrong = folder.run("put", "@posts.annals", "Post/a", "stars=many")
    #expect(wrong.status == .couldNotRun)
    #expect(
      wrong.errors == "annals: Post.stars is of type int64, and `many` is no such value; "
        + "write a whole number\n")
  }

  @Test func logText() throws {
    let folder = try CommandTests.posts()
    let run = folder.run("log", "@posts.annals")
    #expect(
      run.output == """
        transaction 4  2019-10-22 20:15:16 +0200  -x- · annals[311]
            no more
            - Post/b

        transaction 3  2019-10-22 20:15:12 +0200  Ben · annals[311]
            ~ Post/a  title: "Fog" → "Misty Morning", stars: 3 → none

        transaction 2  2019-10-22 20:15:08 +0200  Ben · annals[311]
            schema of Post
                + ok: bool
            + Post/b

        transaction 1  2019-10-22 20:15:04 +0200  Ann · annals[311]
            first

            with a body
            schema of Post
                + id: string
                + title: string
                + stars: int64
            + Post/a

        """)
    #expect(run.status == .done && run.errors == "")
  }

  @Test func logSelects() throws {
    let folder = try CommandTests.posts()
    func numbers(_ options: String...) -> [Int] {
      folder.run(["log", "@posts.annals"] + options).output.split(separator: "\n")
        .filter { $0.hasPrefix("transaction ") }
        .compactMap { Int($0.split(separator: " ")[1]) }
    }
    #expect(numbers("--limit", "2") == [4, 3])
    #expect(numbers("--reverse") == [1, 2, 3, 4])
    #expect(numbers("1..3") == [3, 2])
    #expect(numbers("--after", "1", "--before", "4") == [3, 2])
    #expect(numbers("--author", "Ben") == [3, 2])
    #expect(numbers("--author", "Ben", "--author", "-x-") == [4, 3, 2])
    #expect(numbers("--type", "delete") == [4])
    #expect(numbers("--object", "Post/b") == [4, 2])
    #expect(numbers("--property", "stars") == [3, 1])
    #expect(numbers("--entity", "Post", "--type", "update") == [3])
    #expect(numbers("--since", "2019-10-22 20:15:10") == [4, 3])
    #expect(numbers("--until", "2019-10-22") == [4, 3, 2, 1])
    #expect(numbers("--until", "2019-10-21") == [])
    #expect(numbers("head~1..head") == [4])
    #expect(numbers("--context", "x") == [])
    let unknown = folder.run("log", "@posts.annals", "--entity", "Pots")
    #expect(unknown.status == .couldNotRun)
    #expect(unknown.errors == "annals: the store has no entity Pots; did you mean Post?\n")
    let property = folder.run("log", "@posts.annals", "--property", "titel")
    #expect(property.status == .couldNotRun && property.errors.contains("property titel"))
    let year = folder.run("state", "@posts.annals", "--at", "2019")
    #expect(year.errors.contains("the end of a year is 2019-12"))
    let missing = folder.run("put", "@no/where.annals", "Post/a", "title=x")
    #expect(missing.status == .couldNotRun)
    #expect(missing.errors.components(separatedBy: "No such file").count == 2)
    #expect(missing.errors.hasSuffix("Create its directory first.\n"))
  }

  @Test func theVersionNamesTheFormat() throws {
    let run = try CommandTests.posts().run("--version")
    #expect(run.status == .done && run.output == "annals 0.1 (file format: version 1)\n")
  }

  @Test func logLines() throws {
    let folder = try CommandTests.posts()
    let run = folder.run("log", "@posts.annals", "--format", "jsonl", "--limit", "2")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines[1].hasPrefix(#"{"n":3,"author":"Ben","timestamp":"2019-10-22T18:15:12Z","token":"3@"#))
    #expect(
      lines[1].hasSuffix(
        #""process":"annals","pid":311,"changes":[{"op":"update","entity":"Post","id":"a","#
          + #""set":{"title":"Misty Morning","stars":null},"was":{"title":"Fog","stars":3}}]}"#
      ))
    #expect(
      lines[0].hasSuffix(
        #""changes":[{"op":"delete","entity":"Post","id":"b","#
          + #""was":{"title":"Mist","ok":true}}]}"#
      ))
  }

  @Test func logCutsLongTransactions() throws {
    let folder = try CommandFolder()
    let changes = (1...9).map { #"{"op":"insert","entity":"E","id":"\#($0)","set":{}}"# }
    try folder.write("{\"changes\":[\(changes.joined(separator: ","))]}\n", to: "nine.jsonl")
    folder.run("import", "@e.annals", "@nine.jsonl")
    let run = folder.run("log", "@e.annals")
    #expect(
      run.output.hasSuffix(
        "    + E/1\n    + E/2\n    + E/3\n    … 6 more: annals show @e.annals 1\n"))
    #expect(folder.run("show", "@e.annals", "1").output.hasSuffix("    + E/8\n    + E/9\n"))
  }

  /// What is written in several parts is counted and cut as a whole, from either end.
  @Test(arguments: [[], ["--reverse"]])
  func logCountsTheChangesOfAllParts(options: [String]) throws {
    let folder = try CommandFolder()
    let text = String(repeating: "x", count: 4_000)
    let changes = (1...200).map {
      #"{"op":"insert","entity":"E","id":"\#($0)","set":{"text":"\#(text)"}}"#
    }
    try folder.write("{\"changes\":[\(changes.joined(separator: ","))]}\n", to: "long.jsonl")
    folder.run("import", "@e.annals", "@long.jsonl")
    let run = folder.run(["log", "@e.annals"] + options)
    #expect(
      run.output.hasSuffix(
        "    + E/1\n    + E/2\n    + E/3\n    … 197 more: annals show @e.annals 1\n"))
  }

  /// Five changes are shown, of six the first three.
  @Test func logCutsFromSixChangesOn() throws {
    let folder = try CommandFolder()
    for count in [5, 6] {
      let changes = (1...count).map { #"{"op":"insert","entity":"E","id":"\#($0)","set":{}}"# }
      try folder.write("{\"changes\":[\(changes.joined(separator: ","))]}\n", to: "lines")
      folder.run("import", "@\(count).annals", "@lines")
      let shown = folder.run("log", "@\(count).annals").output.split(separator: "\n")
      let all = (1...count).map { "    + E/\($0)" }
      let expected =
        count == 5 ? all : all.prefix(3) + ["    … 3 more: annals show @6.annals 1"]
      #expect(shown.filter { $0.contains("E/") || $0.contains("…") }.map(String.init) == expected)
    }
  }

  /// Twelve lines about the schema are shown, of thirteen the first eight.
  @Test(arguments: [10, 11]) func logCutsTheSchemaFromThirteenLinesOn(count: Int) throws {
    let folder = try CommandFolder()
    _ = folder.run(["put", "@n.annals", "E/a"] + (1...count).map { "p\($0)=x" })
    let lines = folder.run("log", "@n.annals").output.split(separator: "\n")
    let about = lines.filter { $0.hasPrefix("    schema of ") || $0.hasPrefix("        + ") }
    let more = lines.filter { $0.contains("…") }
    #expect(about.count == (count == 10 ? 12 : 8))
    #expect(more == (count == 10 ? [] : ["    … 5 more: annals show @n.annals 1"]))
  }

  /// Five references of each sort are named, and the others counted together.
  @Test func logCountsTheReferencesThatItDoesNotName() throws {
    let folder = try CommandFolder()
    let schema = Schema {
      Entity("Tag") { Attribute("id", .string, isOptional: false, isUnique: true) }
      Entity("Post") { Relationship("tags", to: "Tag", isToMany: true) }
    }
    let store = try Store(path: folder.file("t.annals"), schema: schema)
    try store.write { tx in
      let tags = try (0..<15).map { number in
        ObjectReference(try tx.insert("Tag", ["id": .string("\(number)")]))
      }
      _ = try tx.insert("Post", ["tags": .objects(Array(tags[..<7]))])
    }
    try store.write { tx in
      let tags = try tx.objects(of: "Tag").map { ObjectReference($0.objectID) }
      let post = try #require(try tx.objects(of: "Post").first)
      try tx.update(post.objectID, ["tags": .objects(Array(tags[7...]))])
    }
    try store.close()
    let log = folder.run("log", "@t.annals", "-n", "1").output
    #expect(log.components(separatedBy: " -Tag/").count == 6, "\(log)")
    #expect(log.components(separatedBy: " +Tag/").count == 6, "\(log)")
    #expect(log.hasSuffix(" … 5 more\n"), "\(log)")
  }

  @Test func showTransactionAndObject() throws {
    let folder = try CommandTests.posts()
    #expect(
      folder.run("show", "@posts.annals", "1").output == """
        transaction 1  2019-10-22 20:15:04 +0200  Ann · annals[311]
            first

            with a body
            schema of Post
                + id: string
                + title: string
                + stars: int64
            + Post/a
                title: "Fog"
                stars: 3

        """)
    #expect(
      folder.run("show", "@posts.annals", "Post/a").output == """
        Post/a
            id     "a"
            title  "Misty Morning"

        transaction 3  2019-10-22 20:15:12 +0200  Ben · annals[311]
            ~ Post/a  title: "Fog" → "Misty Morning", stars: 3 → none

        transaction 1  2019-10-22 20:15:04 +0200  Ann · annals[311]
            first

            with a body
            + Post/a
                title: "Fog"
                stars: 3

        """)
    #expect(
      folder.run("show", "@posts.annals", "Post/b").output.hasPrefix("Post/b was deleted\n\n"))
    let none = folder.run("show", "@posts.annals", "Post/c")
    #expect(
      none.errors == "annals: there is no object Post/c, and there never was one\n"
    )
    #expect(folder.run("show", "@posts.annals", "9").status == .couldNotRun)
  }

  @Test func diffIsNet() throws {
    let folder = try CommandTests.posts()
    let run = folder.run("diff", "@posts.annals", "1", "--exit-code")
    #expect(run.output == "~ Post/a  title: \"Fog\" → \"Misty Morning\", stars: 3 → none\n")
    #expect(run.status == .foundProblems)
    #expect(
      folder.run("diff", "@posts.annals", "1", "3").output == """
        ~ Post/a  title: "Fog" → "Misty Morning", stars: 3 → none
        + Post/b
            title: "Mist"
            ok: true

        """)
    let same = folder.run("diff", "@posts.annals", "4..head", "--exit-code")
    #expect(same.status == .done && same.output == "")
    #expect(
      folder.run("diff", "@posts.annals", "2..4", "--format", "jsonl").output
        .contains(#"{"op":"delete","entity":"Post","id":"b","was":{"#))
  }

  @Test func blameNamesWhoSetWhat() throws {
    let folder = try CommandTests.posts()
    #expect(
      folder.run("blame", "@posts.annals", "Post/a").output == """
        1  2019-10-22 20:15:04 +0200  Ann  id: "a"
        3  2019-10-22 20:15:12 +0200  Ben  title: "Misty Morning"
        3  2019-10-22 20:15:12 +0200  Ben  stars: none

        """)
  }

  @Test func blameOfThePast() throws {
    let folder = try CommandTests.posts()
    #expect(
      folder.run("blame", "@posts.annals", "Post/b", "--at", "2019-10-22 20:15:10").output == """
        2  2019-10-22 20:15:08 +0200  Ben  id: "b"
        2  2019-10-22 20:15:08 +0200  Ben  title: "Mist"
        2  2019-10-22 20:15:08 +0200  Ben  ok: true

        """)
    #expect(
      folder.run("blame", "@posts.annals", "Post/a", "--at", "1").output.contains(
        "1  2019-10-22 20:15:04 +0200  Ann  stars: 3\n"))
    let early = folder.run("blame", "@posts.annals", "Post/b", "--at", "1")
    #expect(early.status == .couldNotRun, "\(early)")
    #expect(
      early.errors.hasPrefix("annals: there is no object Post/b as of transaction 1. "), "\(early)")
    let gone = folder.run("blame", "@posts.annals", "Post/b")
    #expect(gone.output.hasPrefix("4  "), "\(gone)")
    #expect(gone.output.contains("deleted; before that it had"), "\(gone)")
  }

  @Test func queryPrintsWhatStateDoes() throws {
    let folder = try CommandTests.posts()
    let all = folder.run("state", "@posts.annals", "--entity", "Post").output
    let lines = all.split(separator: "\n").map(String.init)
    #expect(!lines.isEmpty)
    let found = folder.run("query", "@posts.annals", "Post", "--sort", "-title").output
    #expect(found.split(separator: "\n").map(String.init).sorted() == lines.sorted())
    let count = folder.run("query", "@posts.annals", "Post", "--count").output
    #expect(count == "\(lines.count)\n")
    let none = folder.run(
      "query", "@posts.annals", "Post", "--where", "title == nil and title != nil")
    #expect(none.status == .done && none.output == "")
    let wrong = folder.run("query", "@posts.annals", "Post", "--where", "title ~ 1")
    #expect(wrong.status == .usage)
    #expect(wrong.errors == "annals: --where, column 7: \"~\" has no meaning here\n")
  }

  @Test func stateInItsForms() throws {
    let folder = try CommandTests.posts()
    #expect(
      folder.run("state", "@posts.annals").output
        == #"{"entity":"Post","id":"a","title":"Misty Morning"}"# + "\n")
    #expect(
      folder.run("state", "@posts.annals", "--at", "2").output
        == #"{"entity":"Post","id":"a","stars":3,"title":"Fog"}"# + "\n"
        + #"{"entity":"Post","id":"b","ok":true,"title":"Mist"}"# + "\n")
    #expect(folder.run("state", "@posts.annals", "--at", "base").output == "")
    #expect(
      folder.run("state", "@posts.annals", "--at", "2", "--format", "csv").output == """
        entity,id,title,stars,ok
        Post,a,Fog,3,
        Post,b,Mist,,true

        """)
    #expect(
      folder.run("state", "@posts.annals", "--at", "2", "--format", "table").output == """
        Post  2 objects
        id  title  stars  ok
        a   Fog    3
        b   Mist          true

        """)
    #expect(folder.run("state", "@posts.annals", "--entity", "Pots").status == .couldNotRun)
    #expect(
      folder.run("get", "@posts.annals", "Post/a", "--at", "1").output == """
        Post/a
            id     "a"
            title  "Fog"
            stars  3

        """)
    #expect(
      folder.run("get", "@posts.annals", "Post#1", "--format", "jsonl").output
        == #"{"entity":"Post","id":"a","title":"Misty Morning"}"# + "\n")
  }

  @Test func schemaIsWhatImportReads() throws {
    let folder = try CommandTests.posts()
    let run = folder.run("schema", "@posts.annals", "--format", "json")
    #expect(
      run.output == """
        {"entities":[
          {"name":"Post","number":1,
           "attributes":[
            {"name":"id","number":1,"type":"string","optional":false,"unique":true},
            {"name":"title","number":2,"type":"string"},
            {"name":"stars","number":3,"type":"int64"},
            {"name":"ok","number":4,"type":"bool"}]}]}

        """)
    try folder.write(run.output, to: "s.json")
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"Post","id":"z","set":{"x":1}}]}"#, to: "c")
    let refused = folder.run("import", "@n.annals", "@c", "--schema", "@s.json")
    #expect(refused.status == .foundProblems)
    #expect(
      refused.errors
        == "annals: @c:1: Post has no property `x` in the schema given. Nothing was imported.\n")
    try folder.write(
      #"{"changes":[{"op":"insert","entity":"Post","id":"z","set":{"ok":true}}]}"#, to: "c")
    #expect(folder.run("import", "@n.annals", "@c", "--schema", "@s.json").status == .done)
    #expect(folder.schema("@n.annals") == run.output)
  }
}
