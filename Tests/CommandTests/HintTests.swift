import Testing

@testable import AnnalsCommand

/// What the command says of what was almost right.
@Suite struct HintTests {
  @Test func almostRightIsToldWhatIs() throws {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "Post/a", "title=x")
    let year = folder.run("log", "@p.annals", "--since", "2020")
    #expect(year.errors.contains("the end of a year is 2020-12, its beginning 2020-01."), "\(year)")
    let property = folder.run("log", "@p.annals", "--property", "Post.title")
    #expect(
      property.errors.hasSuffix(". Write --entity Post --property title\n"), "\(property)")
    let other = folder.run("log", "@p.annals", "--property", "Post.text")
    #expect(other.errors.hasSuffix("annals schema @p.annals lists them\n"), "\(other)")
    let number = folder.run("log", "@p.annals", "7")
    #expect(number.status == .usage)
    #expect(number.errors.contains("One transaction: annals show @p.annals 7"), "\(number)")
  }

  @Test(arguments: [("UNDO", "undo"), ("Set", "put"), ("rm", "delete"), ("showw", "show")])
  func verbsThatAreNone(word: String, verb: String) throws {
    let run = try CommandFolder().run(word, "@p.annals")
    #expect(run.status == .usage && run.errors.contains("did you mean \(verb)?"), "\(run)")
  }

  @Test func namesThatNobodyHasAreNoted() throws {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "Post/a", "title=x", "--author", "Clara")
    let near = folder.run("log", "@p.annals", "--author", "Klara", "--author", "Clara")
    #expect(near.status == .done && near.output.contains("Clara"))
    #expect(
      near.errors == "annals: note: no transaction has the author Klara; did you mean Clara?\n")
    let context = folder.run("log", "@p.annals", "--context", "nightly import")
    #expect(context.status == .done && context.output.isEmpty)
    #expect(context.errors == "annals: note: no transaction has the context nightly import\n")
    #expect(folder.run("log", "@p.annals", "--author", "Clara").errors.isEmpty)
  }

  @Test(arguments: [
    "log", "state", "get", "diff", "show", "export", "replay", "prune", "schema", "revert",
  ])
  func helpSaysWhatATOKENIs(verb: String) throws {
    let help = try CommandFolder().run("help", verb).output
    #expect(help.contains("A TOKEN is a transaction's number (42)"), "\(help)")
  }
}

/// The forms of `log` and `blame` that people know from git.
@Suite struct FamiliarFormTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    folder.run("put", "@d.annals", "Post/a", "title=Fog", "--author", "ann", "--message", "First")
    folder.run("put", "@d.annals", "Post/a", "title=Mist", "days:=3", "--author", "me")
    folder.run("put", "@d.annals", "Post/a", "--unset", "days", "--author", "ann")
    folder.run("delete", "@d.annals", "Post/a", "--author", "me")
    return folder
  }

  @Test func aTransactionInALine() throws {
    let folder = try folder()
    #expect(
      folder.run("log", "@d.annals", "--oneline", "-n", "3").output == """
        4  2019-10-22 20:15:16 +0200  me  - Post/a
        3  2019-10-22 20:15:12 +0200  ann  ~ Post/a
        2  2019-10-22 20:15:08 +0200  me  ~ Post/a, schema of Post

        """)
    let both = folder.run("log", "@d.annals", "--oneline", "--author", "ann", "--author", "you")
    #expect(both.output.split(separator: "\n").map(\.first) == ["3", "1"], "\(both)")
    #expect(both.output.hasSuffix("ann  First\n"), "\(both)")
  }

  @Test func blameOfWhatIsClearedAndOfWhatIsDeleted() throws {
    let folder = try folder()
    let cleared = folder.run("blame", "@d.annals", "Post/a", "--at", "3")
    #expect(cleared.output.contains("ann  days: "), "\(cleared)")
    let deleted = folder.run("blame", "@d.annals", "Post/a")
    #expect(
      deleted.output.hasPrefix("4  2019-10-22 20:15:16 +0200  me   deleted; before that it had\n"),
      "\(deleted)")
    #expect(deleted.output.contains("2  2019-10-22 20:15:08 +0200  me   title: \"Mist\""))
    let lines = folder.run("blame", "@d.annals", "Post/a", "--format", "jsonl").output
    #expect(
      lines.contains(
        #"{"property":"title","value":"Mist","n":2,"timestamp":"2019-10-22T18:15:08Z","#
          + #""author":"me","deleted":4}"#), "\(lines)")
    #expect(folder.run("blame", "@d.annals", "Post/b").status == .couldNotRun)
    let first = folder.run("blame", "@d.annals", "Post/a", "--at", "1")
    #expect(first.output.contains("title: \"Fog\""))
  }
}
