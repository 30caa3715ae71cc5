import Testing

@testable import AnnalsCommand

/// A date before the floor on the command line: an error, where the base was answered.
@Suite struct DateBeforeFloorTests {
  @Test func everyCommandThatTakesAPosition() throws {
    let folder = try CommandTests.posts()
    let pruned = folder.run("prune", "@posts.annals", "--before", "3", "--yes")
    #expect(pruned.status == .done, "\(pruned)")
    for (arguments, remedy) in [
      (["state", "@posts.annals", "--at", "2019-10-21"], " Try --at base."),
      (["get", "@posts.annals", "Post/a", "--at", "2019-10-21"], " Try --at base."),
      (["diff", "@posts.annals", "2019-10-21..head"], " Try base."),
      (["replay", "@posts.annals", "@out.annals", "--to", "2019-10-21"], " Try --to base."),
      (["export", "@posts.annals", "--after", "2019-10-21"], " Try --after base."),
      (["log", "@posts.annals", "--after", "2019-10-21"], " Try --after base."),
    ] {
      let run = folder.run(arguments)
      #expect(run.status == .couldNotRun && run.output == "", "\(run)")
      #expect(run.errors.hasPrefix("annals: there is no history as of 2019-10-21T"), "\(run)")
      #expect(run.errors.hasSuffix("\(remedy)\n"), "\(run)")
    }
    // What was drawn before the date is no longer asked for.
    let again = folder.run("prune", "@posts.annals", "--before", "2019-10-21", "--yes")
    #expect(again.status == .done, "\(again)")
    #expect(folder.run("log", "@posts.annals", "--since", "2019-10-21").status == .done)
    #expect(folder.run("state", "@posts.annals", "--at", "2019-10-22").status == .done)
  }
}
