import Annals
import AnnalsEngine
import ArgumentParser
import Foundation
import Testing

@testable import AnnalsCommand

/// Commands that rewrite or inspect files, and what goes wrong with any of them.
@Suite struct KeepingTests {
  @Test func revertAsksOnATerminal() throws {
    let folder = try CommandTests.posts()
    let conflict = folder.run("revert", "@posts.annals", "1")
    #expect(conflict.status == .couldNotRun && conflict.errors.contains("Post/a"))
    folder.terminal.isInput = true
    folder.terminal.isErrors = true
    folder.answer = "n"
    let declined = folder.run("revert", "@posts.annals", "4")
    #expect(declined.output.hasSuffix("revives 1 object\nnothing was changed\n"))
    folder.answer = "yes"
    let done = folder.run("revert", "@posts.annals", "4", "--author", "Cy")
    #expect(done.output == "reverting transaction 4 revives 1 object\ntransaction 5\n")
    #expect(done.errors == "Revert it? [y/N] ")
    #expect(folder.run("get", "@posts.annals", "Post/b").output.contains("Mist"))
  }

  /// They dropped and undid without a word where nobody could be asked: in a script whose author
  /// had only meant to look.
  @Test(arguments: [["prune", "--before", "3"], ["revert", "4"]])
  func nothingIsDroppedOrUndoneUnasked(command: [String]) throws {
    let folder = try CommandTests.posts()
    let arguments = [command[0], "@posts.annals"] + command.dropFirst()
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    // Whoever cannot type, or would not see the question, is not asked.
    for (isInput, isErrors) in [(false, false), (false, true), (true, false)] {
      folder.terminal.isInput = isInput
      folder.terminal.isErrors = isErrors
      folder.answer = "y"
      let refused = folder.run(arguments)
      #expect(refused.status == .couldNotRun)
      #expect(
        refused.errors
          == "annals: nothing was changed: there is no terminal to ask on. Say --yes to go ahead\n")
      #expect(refused.output.contains(command[0] == "prune" ? "drops 2 " : "reverting "))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals"))) == before)
    folder.terminal.isInput = true
    folder.terminal.isOutput = true
    let asked = folder.run(arguments)
    #expect(asked.status == .done && asked.output.contains("? [y/N] ") && asked.errors == "")
    let next = try CommandTests.posts()
    #expect(next.run(arguments + ["--yes"]).status == .done)
  }

  @Test func prunePlansAsksAndNamesTheGap() throws {
    let folder = try CommandTests.posts()
    let plan = folder.run("prune", "@posts.annals", "--before", "3", "--dry-run")
    #expect(plan.output.hasPrefix("drops 2 transactions (1 to 2) with 2 changes\n"))
    let afterwards =
      "\nfrom 2019-10-22 20:15:04 +0200 to 2019-10-22 20:15:08 +0200"
      + "\nafterwards: base 2, floor 3, head 4; 2 transactions kept"
      + "\nstates stay readable as of transactions 2 to 4, "
      + "and as of dates from 2019-10-22 20:15:08 +0200 on\n"
    #expect(plan.output.hasSuffix(afterwards), "\(plan.output)")
    let before = folder.run("state", "@posts.annals", "--at", "2").output
    let done = folder.run("prune", "@posts.annals", "--before", "3", "--yes", "--author", "ann")
    #expect(done.status == .done && done.output.contains("the oldest transaction is 3 now; "))
    #expect(folder.run("state", "@posts.annals", "--at", "base").output == before)
    let gap = folder.run("state", "@posts.annals", "--at", "1")
    #expect(gap.status == .couldNotRun && gap.output == "")
    let text = try Regex(
      "annals: transaction 1 was pruned \\(floor is 3; pruned [0-9]{4}-[0-9]{2}-[0-9]{2}"
        + "( by .*)?\\)\\. Oldest readable state: 2\\. Try --at base\\.\n")
    #expect(gap.errors.wholeMatch(of: text) != nil)
    #expect(gap.errors.hasSuffix(" by ann). Oldest readable state: 2. Try --at base.\n"))
    #expect(folder.run("show", "@posts.annals", "2").status == .couldNotRun)
    #expect(
      folder.run("blame", "@posts.annals", "Post/a").output.hasPrefix("-  at or before 2 "))
  }

  /// It said how large the new file was before the checkpoint that closing adds.
  @Test func theSizeIsThatOfTheClosedFile() throws {
    let folder = try CommandFolder()
    let lines = (0..<6_000).map {
      #"{"changes":[{"op":"insert","entity":"Note","id":"\#($0)","set":{"text":"text \#($0)"}}]}"#
    }
    try folder.write(lines.joined(separator: "\n"), to: "n.jsonl")
    #expect(folder.run("import", "@n.annals", "@n.jsonl").status == .done)
    for arguments in [
      ["erase", "@n.annals", "Note/3", "--reason", "r", "--yes"],
      ["prune", "@n.annals", "--before", "40", "--yes"],
    ] {
      let run = folder.run(arguments)
      let size = MaintenanceText.size(of: folder.file("n.annals"))
      #expect(size > 0 && run.output.hasSuffix(" became \(Numerals.size(size))\n"), "\(run)")
    }
  }

  /// Where there is no room for the new file.
  @Test func aFullDiskIsMeasured() throws {
    let folder = try CommandTests.posts()
    let file = folder.file("posts.annals")
    let size = Numerals.size(MaintenanceText.size(of: file))
    let command = try PruneCommand.parse([file, "--before", "3"])
    let full = AnnalsError(.noSpace, "the disk is full")
    let message = Remedy.message(for: full, of: command)
    #expect(message.hasPrefix("the disk is full. The new file takes up to about \(size) beside "))
    #expect(message.contains(" are free") && message.contains("annals backup FILE COPY"))
    let log = try LogCommand.parse([file])
    #expect(!Remedy.message(for: full, of: log).contains("free"))
  }

  @Test func compactReplayAndVerify() throws {
    let folder = try CommandTests.posts()
    #expect(folder.run("compact", "@posts.annals").status == .done)
    let replay = folder.run("replay", "@posts.annals", "@old.annals", "--to", "2")
    #expect(
      replay.output == "@old.annals: the state as of transaction 2, with 2 transactions\n")
    #expect(
      folder.run("state", "@old.annals").output
        == folder.run("state", "@posts.annals", "--at", "2").output)
    let again = folder.run("replay", "@posts.annals", "@old.annals", "--to", "2")
    #expect(again.status == .couldNotRun && again.errors.contains("@old.annals"))
    let flat = folder.run("replay", "@posts.annals", "@flat.annals", "--to", "2", "--flatten")
    #expect(flat.output == "@flat.annals: the state as of transaction 2, without history\n")
    for name in ["@posts.annals", "@old.annals", "@flat.annals"] {
      let verified = folder.run("verify", name)
      #expect(verified.status == .done && verified.output.hasPrefix("no problems: "), "\(verified)")
    }
  }

  @Test func dumpVerifyAndStatOfADamagedFile() throws {
    let folder = try CommandTests.posts()
    let sound = folder.run("dump", "@posts.annals")
    #expect(sound.status == .done && sound.output.contains("transaction"))
    #expect(folder.run("dump", "@posts.annals", "--bytes").output.count > sound.output.count)
    let stat = folder.run("stat", "@posts.annals")
    #expect(stat.status == .done)
    #expect(stat.output.contains("transactions  4 (0 empty)"))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("posts.annals")))
    bytes[12_288 + 40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: folder.file("bad.annals")))
    let verified = folder.run("verify", "@bad.annals")
    #expect(verified.status == .foundProblems && verified.output.contains("error at 12288"))
    #expect(folder.run("dump", "@bad.annals").status == .foundProblems)
    #expect(folder.run("log", "@bad.annals").status == .couldNotRun)
  }

  @Test func failuresSayWhatWhereAndWhatToDo() throws {
    let folder = try CommandFolder()
    let missing = folder.run("log", "@none.annals")
    #expect(missing.status == .couldNotRun)
    #expect(missing.errors.contains("@none.annals") && missing.output == "")
    try folder.write("not a store, but long enough to be looked at", to: "text")
    #expect(folder.run("state", "@text").status == .couldNotRun)
    #expect(folder.run("frobnicate").status == .usage)
    #expect(folder.run("log").status == .usage)
    #expect(folder.run("log", "@x", "--limit", "-1").status == .usage)
    #expect(folder.run("import", "@x").status == .usage)
    let store = try CommandTests.posts()
    let bad = store.run("state", "@posts.annals", "--at", "lately")
    #expect(
      bad.status == .usage && bad.errors.hasPrefix("annals: `lately` is no position in history.")
    )
    let beyond = store.run("state", "@posts.annals", "--at", "99")
    #expect(beyond.status == .couldNotRun && beyond.errors.contains("the newest is 4"))
    let object = store.run("get", "@posts.annals", "Post/zzz")
    #expect(object.errors.hasPrefix("annals: there is no object Post/zzz as of transaction 4."))
    let noKey = store.run("put", "@posts.annals", "Post#9", "title=x")
    #expect(noKey.status == .couldNotRun)
  }

  @Test func aClosedPipeIsNoError() throws {
    let folder = try CommandTests.posts()
    folder.outputLimit = 10
    for command in ["log", "state", "dump", "export"] {
      let run = folder.run(command, "@posts.annals")
      #expect(run.status == .done && run.errors == "", "\(command)")
    }
  }

  @Test func coloursOnATerminalOnly() throws {
    let folder = try CommandTests.posts()
    let plain = folder.run("log", "@posts.annals").output
    folder.terminal.isOutput = true
    folder.terminal.width = 200
    let coloured = folder.run("log", "@posts.annals").output
    #expect(coloured.contains("\u{1B}[33mtransaction 4\u{1B}[0m"))
    folder.environment["NO_COLOR"] = "1"
    #expect(folder.run("log", "@posts.annals").output == plain)
    folder.terminal.width = 30
    for line in folder.run("log", "@posts.annals").output.split(separator: "\n")
    where line.hasPrefix("    ") {
      #expect(line.count <= 30)
    }
  }
}
