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
    #expect(other.errors.hasSuffix("annals schema FILE lists them\n"), "\(other)")
    let number = folder.run("log", "@p.annals", "7")
    #expect(number.status == .usage)
    #expect(number.errors.contains("One transaction: annals show @p.annals 7"), "\(number)")
  }

  @Test(arguments: [
    "log", "state", "get", "diff", "show", "export", "replay", "prune", "schema", "revert",
  ])
  func helpSaysWhatATOKENIs(verb: String) throws {
    let help = try CommandFolder().run("help", verb).output
    #expect(help.contains("A TOKEN is a transaction's number (42)"), "\(help)")
  }
}
