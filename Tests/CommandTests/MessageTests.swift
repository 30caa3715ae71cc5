import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// What commands say when something was typed that they cannot do, or that does more than it seems.
@Suite struct MessageTests {
  @Test func putNamesWhatItCannotSet() throws {
    let folder = try CommandTests.posts()
    let twice = folder.run("put", "@posts.annals", "Post/a", "title=x", "--unset", "title")
    #expect(twice.status == .usage)
    #expect(twice.errors == "annals: `title` is set twice; name it once\n")
    let unknown = folder.run("put", "@posts.annals", "Post/a", "--unset", "titel")
    #expect(unknown.status == .couldNotRun)
    #expect(unknown.errors.hasPrefix("annals: Post has no property titel to clear; "))
  }

  @Test func putTellsOfTypesThatItWidens() throws {
    let folder = try CommandTests.posts()
    folder.run("put", "@posts.annals", "Post/a", "weight:=1.5")
    // A whole number is a double where doubles are.
    #expect(folder.run("put", "@posts.annals", "Post/a", "weight:=2").errors == "")
    #expect(
      folder.schema("@posts.annals").contains(#""weight","number":5,"type":"double""#)
    )
    #expect(folder.run("state", "@posts.annals").output.contains(#""weight":2.0"#))
    let wider = folder.run("put", "@posts.annals", "Post/a", "weight:=true", "--widen")
    #expect(wider.errors == "annals: Post.weight is of type any now; it was double\n")
  }

  @Test func whatIsPrunedIsNamedWithTheArgumentsOfTheCommand() throws {
    let folder = try CommandTests.posts()
    folder.run("prune", "@posts.annals", "--before", "3", "--yes")
    for (arguments, remedy) in [
      (["state", "@posts.annals", "--at", "1"], " Try --at base."),
      (["blame", "@posts.annals", "Post/a", "--at", "1"], " Try --at base."),
      (["log", "@posts.annals", "--after", "1"], " Try --after base."),
      (["log", "@posts.annals", "1..4"], " Try --after base."),
      (["export", "@posts.annals", "--after", "1"], " Try --after base."),
      (["diff", "@posts.annals", "1"], " Try base."), (["show", "@posts.annals", "1"], ""),
      (["replay", "@posts.annals", "@o.annals", "--to", "1"], " Try --to base."),
      (["revert", "@posts.annals", "1"], ""),
    ] {
      let run = folder.run(arguments)
      #expect(run.status == .couldNotRun)
      #expect(run.errors.hasSuffix("). Oldest readable state: 2.\(remedy)\n"), "\(run.errors)")
    }
    #expect(folder.run("replay", "@posts.annals", "@o.annals", "--to", "base").status == .done)
  }

  /// The library says what to do in its own words; the command adds its own.
  @Test func damageIsNamedWithTheCommandsThatHelp() throws {
    let folder = try CommandTests.posts()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    bytes[12_288 + 40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    let run = folder.run("state", "@bad.annals")
    #expect(run.status == .couldNotRun)
    #expect(
      run.errors.hasSuffix(
        "Nothing was changed (offset 12288). annals verify @bad.annals shows what is affected, "
          + "annals salvage @bad.annals OUT saves what can be read, or restore a copy.\n"),
      "\(run)")
    let verified = folder.run("verify", "@bad.annals")
    #expect(verified.output.contains(" (annals salvage @bad.annals OUT)\n"), "\(verified)")
    // Where nothing can be saved, nothing is promised.
    try bytes.prefix(100).write(to: URL(fileURLWithPath: folder.file("cut.annals")))
    let cut = folder.run("state", "@cut.annals")
    #expect(cut.errors.contains("It was left as it is. Restore a copy"), "\(cut)")
    #expect(!cut.errors.contains("annals salvage"), "\(cut)")
  }

  @Test func whatLiesBeyondTheNewestIsNamedAsItWasGiven() throws {
    let folder = try CommandTests.posts()
    for option in ["--after", "--before", "--since", "--until"] {
      let run = folder.run("log", "@posts.annals", option, "9")
      #expect(run.errors == "annals: there is no transaction 9 yet: the newest is 4.\n")
    }
    let all = folder.run("log", "@posts.annals").output
    #expect(folder.run("log", "@posts.annals", "--before", "5").output == all)
  }

  @Test func theFirstTransactionIsOne() throws {
    let folder = try CommandTests.posts()
    let zero = folder.run("revert", "@posts.annals", "0")
    #expect(zero.status == .couldNotRun)
    #expect(zero.errors == "annals: there is no transaction 0; the first is 1.\n")
    for position in ["base", "2019-10-21", "30d"] {
      for verb in ["revert", "show"] {
        let run = folder.run(verb, "@posts.annals", position)
        #expect(run.status == .couldNotRun)
        #expect(
          run.errors == "annals: nothing was recorded up to \(position); the first transaction is "
            + "1, of 2019-10-22 20:15:04 +0200\n")
      }
    }
    for command in [["state", "--entity", "Post"], ["get", "Post/a"], ["query", "Post"]] {
      let run = folder.run(
        [command[0], "@posts.annals"] + command.dropFirst() + ["--at", "2019-10-21"])
      #expect(
        run.errors == "annals: as of 2019-10-21 the store was still empty; the first transaction "
          + "is 1, of 2019-10-22 20:15:04 +0200\n", "\(run)")
    }
  }

  @Test func anEmptyFileHasNoHeader() throws {
    let folder = try CommandFolder()
    try folder.write("", to: "empty")
    let run = folder.run("dump", "@empty")
    #expect(
      run.status == .foundProblems && run.errors == "annals: @empty is empty: it has no header\n")
  }
}
