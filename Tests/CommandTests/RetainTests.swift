import Annals
import Testing

@testable import AnnalsCommand

/// `annals retain`, `annals maintain`, and what `stat` says of both.
@Suite struct RetainTests {
  private let folder: CommandFolder

  init() throws {
    folder = try CommandFolder()
    for number in 1...9 { folder.run("put", "@p.annals", "Note/\(number)", "text=some") }
  }

  @Test func showsSetsAndMaintains() {
    #expect(folder.run("retain", "@p.annals").output == "keeps everything\n")
    #expect(folder.run("maintain", "@p.annals").output == "keeps everything\n")
    #expect(!folder.run("stat", "@p.annals").output.contains("keeps"))
    folder.run("consumers", "@p.annals", "add", "sync", "--blocking", "--after", "4")
    let set = folder.run("retain", "@p.annals", "--days", "30", "--transactions", "2")
    #expect(set.output == "keeps 30 days and 2 transactions, whichever is more\nnothing to drop\n")
    #expect("\(Retention(days: 30.33333))" == "30.333 days")
    #expect("\(Retention(days: 0.0001))" == "0.0001 days")
    #expect("\(Retention(days: 1.0001))" == "1 day")
    let plan = folder.run("retain", "@p.annals", "--transactions", "2")
    let waits =
      "waits before 8: `sync` has seen transaction 4 of 9, and was last seen "
    let drops = "drops 4 transactions before 5, with 4 changes"
    #expect(plan.output.hasPrefix("keeps 2 transactions\n" + drops + "\n"))
    #expect(plan.output.contains("\n" + waits), "\(plan)")
    #expect(folder.run("retain", "@p.annals").output == plan.output)
    let stat = folder.run("stat", "@p.annals").output
    #expect(stat.contains("\nconsumers     1: sync at 4, blocking\n"), "\(stat)")
    #expect(stat.contains("\nkeeps         2 transactions\n"))
    #expect(stat.contains("\nmaintain      " + drops + "; " + waits))
    let dry = folder.run("maintain", "@p.annals", "--dry-run")
    #expect("keeps 2 transactions\n" + dry.output == plan.output)
    let done = folder.run("maintain", "@p.annals")
    #expect(done.status == .done && done.output.hasPrefix(dry.output), "\(done)")
    #expect(done.output.contains("the oldest transaction is 5 now; "))
    let blocked = folder.run("maintain", "@p.annals")
    #expect(blocked.output.hasPrefix("drops nothing yet\n" + waits))
    #expect(folder.run("verify", "@p.annals").status == .done)
    #expect(folder.run("retain", "@p.annals", "--off").output == "keeps everything\n")
  }

  @Test func whatCannotBe() {
    for arguments in [
      ["--off", "--days", "3"], ["--days", "soon"], ["--transactions", "1.5"],
      ["--days", "0"], ["--transactions", "0"], ["--days", "nan"], ["--days", "-3"],
      ["--days", "1e8"],
    ] {
      let run = folder.run(["retain", "@p.annals"] + arguments)
      #expect(run.status == .usage, "\(arguments): \(run)")
    }
    #expect(folder.run("maintain", "@none.annals").status == .couldNotRun)
  }
}
