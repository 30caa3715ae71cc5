import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals undo` and `annals redo`, and what `log` says of them.
@Suite struct UndoCommandTests {
  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    folder.run("put", "@p.annals", "Post/a", "title=Fog", "--author", "ann")
    folder.run("put", "@p.annals", "Post/a", "title=Mist", "--author", "ann")
    folder.run("put", "@p.annals", "Post/b", "title=Dew", "--author", "ben")
    return folder
  }

  private func title(_ folder: CommandFolder) -> String {
    folder.run("get", "@p.annals", "Post/a").output
  }

  @Test func theyUndoEachOther() throws {
    let folder = try folder()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("p.annals")))
    let dry = folder.run("undo", "@p.annals", "--author", "ann", "--dry-run")
    #expect(dry.status == .done && dry.output == "undoing transaction 2 sets back 1 object\n")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("p.annals"))) == bytes)
    let undone = folder.run("undo", "@p.annals", "--author", "ann", "--message", "oops")
    #expect(undone.output == "undoing transaction 2 sets back 1 object\ntransaction 4\n")
    #expect(title(folder).contains("Fog"))
    let log = folder.run("log", "@p.annals", "-n", "1").output
    #expect(log.contains("\n    undoes 2\n    oops\n"), "\(log)")
    let redry = folder.run("redo", "@p.annals", "--author", "ann", "--dry-run")
    #expect(redry.output == "redoing transaction 4 changes 1 object again\n", "\(redry)")
    let redone = folder.run("redo", "@p.annals", "--author", "ann")
    #expect(redone.output == "redoing transaction 4 changes 1 object again\ntransaction 5\n")
    #expect(title(folder).contains("Mist"))
    let lines = folder.run("log", "@p.annals", "--oneline").output
    #expect(lines.contains("  ann  redoes 4: ~ Post/a\n"), "\(lines)")
    let json = folder.run("log", "@p.annals", "--format", "jsonl").output
    #expect(json.contains(#""undoes":2,"#) && json.contains(#""redoes":4,"#), "\(json)")
    folder.run("undo", "@p.annals", "--author", "ann")
    let first = folder.run("undo", "@p.annals", "--author", "ann")
    #expect(first.output == "undoing transaction 1 deletes 1 object\ntransaction 7\n")
    let nothing = folder.run("undo", "@p.annals", "--author", "ann")
    #expect(nothing.status == .couldNotRun)
    #expect(nothing.errors == "annals: `ann` has nothing to undo.\n")
    folder.run("put", "@p.annals", "Post/c", "title=Dew", "--author", "ann")
    let cleared = folder.run("redo", "@p.annals", "--author", "ann")
    #expect(
      cleared.errors == "annals: `ann` has nothing to redo: transaction 8 was written since.\n")
  }

  @Test func putsAndDeletesOfOneGroupAreUndoneTogether() throws {
    let folder = try folder()
    folder.run("put", "@p.annals", "Post/c", "title=Rain", "--author", "ann", "--group", "a day")
    folder.run("put", "@p.annals", "Post/b", "title=Ben", "--author", "ben", "--group", "a day")
    folder.run("put", "@p.annals", "Post/c", "title=Snow", "--author", "ann", "--group", "a day")
    folder.run("delete", "@p.annals", "Post/a", "--author", "ann", "--group", "a day")
    let log = folder.run("log", "@p.annals", "-n", "1").output
    #expect(log.contains("\n    group a day\n"), "\(log)")
    let undone = folder.run("undo", "@p.annals", "--author", "ann")
    #expect(undone.status == .done && undone.output.contains("a day"), "\(undone)")
    #expect(title(folder).contains("Mist"))
    #expect(folder.run("get", "@p.annals", "Post/c").status == .couldNotRun)
    #expect(folder.run("get", "@p.annals", "Post/b").output.contains("Ben"))
    let refused = folder.run("put", "@p.annals", "Post/a", "title=x", "--group", "")
    #expect(refused.status == .couldNotRun && refused.errors.contains("group"), "\(refused)")
  }

  @Test func othersAreNamedOrMerged() throws {
    let folder = try folder()
    folder.run("put", "@p.annals", "Post/a", "title=Ben", "--author", "ben")
    for more in [[], ["--dry-run"]] {
      let refused = folder.run(["undo", "@p.annals", "--author", "ann"] + more)
      #expect(refused.status == .couldNotRun && refused.output == "", "\(refused)")
      #expect(refused.errors.contains("Post/a.title, changed by transaction 4"), "\(refused)")
    }
    let merged = folder.run("undo", "@p.annals", "--author", "ann", "--merge", "stored-wins")
    #expect(
      merged.output.hasPrefix(
        "undoing transaction 2 changes nothing\n    Post/a.title, changed by transaction 4"),
      "\(merged)")
    #expect(merged.output.hasSuffix("\ntransaction 5\n"))
    #expect(title(folder).contains("Ben"))
    folder.run("redo", "@p.annals", "--author", "ann")
    let own = folder.run("undo", "@p.annals", "--author", "ann", "--merge", "own-wins")
    #expect(own.status == .done, "\(own)")
    let wrong = folder.run("undo", "@p.annals", "--merge", "mine")
    #expect(wrong.status == .usage)
  }

  @Test func prunedHistorySaysSo() throws {
    let folder = try folder()
    folder.run("prune", "@p.annals", "--before", "3", "--yes")
    let run = folder.run("undo", "@p.annals", "--author", "ann")
    #expect(run.status == .couldNotRun)
    #expect(
      run.errors.contains(
        "`ann` has nothing to undo in the history that is known: transaction 2 was pruned"),
      "\(run)")
  }
}
