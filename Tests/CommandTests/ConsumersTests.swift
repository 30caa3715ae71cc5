import Annals
import Testing

@testable import AnnalsCommand

/// `annals consumers`, and what `prune` makes of them.
@Suite struct ConsumersTests {
  private let folder: CommandFolder

  init() throws {
    folder = try CommandFolder()
    for number in 1...5 { folder.run("put", "@p.annals", "Note/\(number)", "text=some") }
  }

  @Test func listsRegistersAndRemoves() throws {
    #expect(folder.run("consumers", "@p.annals").output == "no consumers\n")
    var run = folder.run(
      "consumers", "@p.annals", "add", "sync", "--kind", "upload", "--blocking", "--lease", "30d",
      "--after", "3")
    #expect((run.status, run.output) == (.done, "sync has seen transaction 3\n"))
    run = folder.run("consumers", "@p.annals", "add", "all")
    #expect(run.output == "all has seen transaction 0\n")
    // Once more changes what is said, and nothing else.
    run = folder.run("consumers", "@p.annals", "add", "sync", "--kind", "copy")
    #expect(run.output == "sync has seen transaction 3\n")
    run = folder.run("consumers", "@p.annals", "list")
    #expect(
      run.output == """
        consumer  kind  seen  behind  changes  for   last seen                  lease to        \
                   blocking
        all             0     5       5        36 s  2019-10-22 20:15:32 +0200  forever         \
                   no
        sync      copy  3     2       2        24 s  2019-10-22 20:15:36 +0200  2019-11-21 19:15\
        :36 +0100  yes

        """)
    run = folder.run("consumers", "@p.annals", "remove", "all")
    #expect((run.status, run.output) == (.done, "all is removed\n"))
    run = folder.run("consumers", "@p.annals", "remove", "all")
    #expect(run.status == .couldNotRun)
    #expect(run.errors == "annals: there is no consumer `all`; there are `sync`\n")
    #expect(folder.run("verify", "@p.annals").status == .done)
  }

  @Test func whatCannotBe() {
    for arguments in [
      ["add"], ["remove"], ["list", "a"], ["remove", "a", "--blocking"], ["drop", "a"],
      ["list", "--after", "1"], ["--after", "1"], ["remove", "a", "--after", "1"],
      ["add", "a", "--lease", "30"], ["add", "a", "--lease", "d"],
      ["add", "a", "--lease", "99999999999999999999d"],
    ] {
      let run = folder.run(["consumers", "@p.annals"] + arguments)
      #expect(run.status == .usage, "\(arguments): \(run)")
    }
    #expect(folder.run("consumers", "@p.annals", "add", "").status == .usage)
    folder.run("consumers", "@p.annals", "add", "old")
    let again = folder.run("consumers", "@p.annals", "add", "old", "--after", "1")
    #expect(again.status == .couldNotRun && again.errors.contains("--after is for a new one"))
    #expect(folder.run("consumers", "@none.annals").status == .couldNotRun)
  }

  @Test func pruneWaits() {
    folder.run("consumers", "@p.annals", "add", "sync", "--blocking", "--after", "2")
    let plan = folder.run("prune", "@p.annals", "--before", "5", "--dry-run")
    let blocked =
      "`sync` has seen transaction 2 of 5, and was last seen 2019-10-22T18:15:24Z"
    #expect(plan.status == .done && plan.output.contains("\nblocked: \(blocked)\n"), "\(plan)")
    // Refused without a question, so also where nobody can be asked.
    for answer in [["--yes"], []] {
      let refused = folder.run(["prune", "@p.annals", "--before", "5"] + answer)
      #expect(refused.status == .couldNotRun)
      #expect(
        refused.errors.contains("transactions before 5 cannot be dropped yet")
          && refused.errors.contains(blocked) && refused.errors.contains("--force"), "\(refused)")
    }
    #expect(folder.run("prune", "@p.annals", "--before", "3", "--yes").status == .done)
    let forced = folder.run("prune", "@p.annals", "--before", "5", "--yes", "--force")
    #expect(forced.status == .done)
    #expect(forced.output.contains("\nloses what it has not seen: `sync` has seen transaction 2"))
    let list = folder.run("consumers", "@p.annals")
    #expect(list.output.contains("3 (pruned)"), "\(list)")
  }
}
