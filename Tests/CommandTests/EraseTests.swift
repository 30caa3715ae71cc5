import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals erase`, and what other commands print of what is erased.
@Suite struct EraseTests {
  @Test func itAsksErasesAndSaysSo() throws {
    let folder = try CommandTests.posts()
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    let refused = folder.run("erase", "@posts.annals", "Post/a", "--reason", "asked")
    #expect(refused.status == .couldNotRun && refused.errors.contains("Say --yes"))
    #expect(refused.output.hasPrefix("deletes Post#1 and erases every value that it had, in "))
    let plan = folder.run("erase", "@posts.annals", "Post/a", "--reason", "asked", "--dry-run")
    #expect(plan.status == .done && plan.output == refused.output)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals"))) == before)
    #expect(folder.run("erase", "@posts.annals", "Post/a").status == .usage)
    #expect(folder.run("erase", "@posts.annals", "Post/z", "--reason", "r").status == .couldNotRun)
    let done = folder.run(
      "erase", "@posts.annals", "Post/a", "--reason", "asked", "--yes", "--author", "Cy")
    #expect(done.status == .done && done.output.contains("erased in transaction 5; "), "\(done)")
    let log = folder.run("log", "@posts.annals")
    #expect(log.output.contains("    erased Post#1\n    because: asked\n"), "\(log)")
    #expect(!log.output.contains("Fog"))
    let line = folder.run("log", "@posts.annals", "--format", "jsonl").output
    #expect(
      line.contains(#""erased":{"reason":"asked","objects":[{"entity":"Post","row":1}]}"#),
      "\(line)")
    #expect(line.contains(#"{"$erased":true}"#))
    #expect(folder.run("verify", "@posts.annals").status == .done)
    #expect(folder.run("revert", "@posts.annals", "5", "--yes").status == .couldNotRun)
  }

  @Test func aPropertyIsShownAsErased() throws {
    let folder = try CommandTests.posts()
    let run = folder.run(
      "erase", "@posts.annals", "Post/a", "--property", "title", "--reason", "r", "--yes")
    #expect(run.status == .done && run.output.hasPrefix("erases title of Post#1, now and in "))
    for arguments in [
      ["get", "@posts.annals", "Post/a"], ["show", "@posts.annals", "Post/a"],
      ["blame", "@posts.annals", "Post/a"], ["state", "@posts.annals", "--format", "table"],
    ] {
      let shown = folder.run(arguments)
      #expect(
        shown.status == .done && shown.output.contains("(erased)")
          || shown.output.contains("$erased"),
        "\(arguments): \(shown)")
    }
    #expect(folder.run("put", "@posts.annals", "Post/a", "title=New").status == .done)
    let state = folder.run("state", "@posts.annals").output
    #expect(state.contains("New") && !state.contains("$erased"))
  }
}
