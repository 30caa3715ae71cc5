import Foundation
import Testing

/// Tools/demo as a newcomer meets it: on repositories of all kinds, and where something is missing.
@Suite(.serialized) struct DemoTests {
  /// What a run prints that went to its end.
  private func expectTour(_ run: Run, of about: String) {
    #expect(run.status == 0, "\(run.output)")
    #expect(run.output.contains("imports \(about)"), "\(run.output)")
    for command in [
      "import", "query", "timeline", "stat", "log", "diff", "blame", "state", "prune", "verify",
    ] {
      let lines = run.output.split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix("$ ") && $0.contains(" \(command) ") }, "\(command)")
    }
    #expect(run.output.contains("Five commands to try next"))
    // The same question of today and of the past has two answers.
    #expect(run.output.contains(#""start":"2019-10-24","title":"The moss garden""#))
    #expect(run.output.contains(#""start":"2019-10-25","title":"The moss garden""#))
    #expect(run.output.contains("demo/diary.svg: 104 objects"))
  }

  @Test func aRepositoryOfTheNewcomers() throws {
    let sandbox = try Sandbox()
    let repository = sandbox.folder.appending(path: "mine, with spaces")
    try sandbox.makeRepository(at: repository, commits: 4)
    // What an earlier run left is no matter.
    let made = sandbox.package.appending(path: "demo")
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    for name in ["diary.annals", "history.annals", "pruned.annals"] {
      try "left".write(to: made.appending(path: name), atomically: true, encoding: .utf8)
    }
    let run = try sandbox.demo("'\(repository.path)'")
    expectTour(run, of: "4 commits of \(repository.path)")
  }

  @Test func theRepositoryItself() throws {
    let sandbox = try Sandbox()
    try sandbox.makeRepository(at: sandbox.package, commits: 6)
    #expect(try sandbox.choice() == "Tools/demo imports 6 commits of .\n")
  }

  @Test func aShallowCopyTakesTheKeptHistory() throws {
    let sandbox = try Sandbox()
    try sandbox.makeRepository(at: sandbox.package, commits: 6)
    let whole = sandbox.folder.appending(path: "whole")
    try FileManager.default.moveItem(at: sandbox.package, to: whole)
    try sandbox.git("clone -q --depth 1 'file://\(whole.path)' annals", in: sandbox.folder)
    let choice = try sandbox.choice()
    #expect(choice.contains("imports the history of Annals itself"))
    #expect(choice.contains("a shallow clone; 'git fetch --unshallow' brings the rest"))
  }

  @Test func aShallowRepositoryByNameIsTakenAsItIs() throws {
    let sandbox = try Sandbox()
    let whole = sandbox.folder.appending(path: "whole")
    try sandbox.makeRepository(at: whole, commits: 6)
    try sandbox.git("clone -q --depth 3 'file://\(whole.path)' part", in: sandbox.folder)
    let choice = try sandbox.choice("../part")
    #expect(choice.contains("imports 3 commits of"))
    #expect(choice.contains("This is a shallow clone"))
  }

  @Test func anExportedTreeTakesTheKeptHistory() throws {
    let sandbox = try Sandbox()
    let choice = try sandbox.choice()
    #expect(choice.contains("imports the history of Annals itself"))
    #expect(choice.contains("it is not a git repository"))
    // Inside somebody else's repository it is still not one itself.
    try sandbox.makeRepository(at: sandbox.folder, commits: 1)
    #expect(try sandbox.choice().contains("imports the history of Annals itself"))
  }

  @Test(.enabled(if: Sandbox.canBecomeNobody, "this user cannot become another one"))
  func anOrdinaryUser() throws {
    let sandbox = try Sandbox()
    let refused = sandbox.folder.appending(path: "roots")
    try sandbox.makeRepository(at: refused, commits: 6)
    let readOnly = try sandbox.demo(user: "nobody")
    #expect(readOnly.status == 2)
    #expect(readOnly.output.contains("this user may not write"))
    let owned = try sandbox.shell("chown -R nobody .", in: sandbox.package)
    #expect(owned.status == 0)
    expectTour(try sandbox.demo(user: "nobody"), of: "the history of Annals itself")
    let run = try sandbox.demo("../roots", user: "nobody")
    #expect(run.status == 2)
    #expect(run.output.contains("belongs to another user"))
    #expect(run.output.contains("git config --global --add safe.directory \(refused.path)"))
  }

  @Test func foldersWithoutAHistory() throws {
    let sandbox = try Sandbox()
    let empty = sandbox.folder.appending(path: "empty")
    try sandbox.makeRepository(at: empty, commits: 0)
    for (path, reason) in [
      ("../empty", "it has no commit yet"), ("..", "it is not a git repository"),
      ("../none", "is not a folder"),
    ] {
      let run = try sandbox.demo(path)
      #expect(run.status == 2)
      #expect(run.output.contains(reason), "\(run.output)")
    }
    try sandbox.makeRepository(at: sandbox.package, commits: 1)
    let choice = try sandbox.choice()
    #expect(choice.contains("imports the history of Annals itself"))
    #expect(choice.contains("it holds only 1 commits"))
  }

  @Test func aToolThatIsMissingOrOldIsNamed() throws {
    let old = try Sandbox()
    let oldPath = try old.standIn("swift", "echo 'Swift version 6.1.2 (swift-6.1.2-RELEASE)'")
    let run = try old.shell("PATH='\(oldPath)':$PATH Tools/demo", in: old.package)
    #expect(run.status == 2)
    #expect(run.output.contains("Swift 6.1.2 is too old; Annals needs 6.2"), "\(run.output)")

    let offline = try Sandbox()
    var path = try offline.standIn(
      "swift", "[ \"$1\" = --version ] && echo 'Swift version 6.3' && exit 0; echo fault; exit 1")
    let unfetched = try offline.shell("PATH='\(path)':$PATH Tools/demo", in: offline.package)
    #expect(unfetched.status == 2)
    #expect(unfetched.output.contains("check the network"), "\(unfetched.output)")

    let bare = try Sandbox()
    path = try bare.standIn("swift", "echo 'Swift version 6.3'")
    for compiler in ["clang", "cc", "gcc", "sudo"] { _ = try bare.standIn(compiler, "exit 1") }
    _ = try bare.standIn("id", "echo 1000")
    _ = try bare.standIn("apt-get", "echo called; exit 1")
    let headless = try bare.shell("PATH='\(path)':$PATH Tools/demo", in: bare.package)
    #expect(headless.status == 2)
    #expect(headless.output.contains("sudo apt-get install -y zlib1g-dev"), "\(headless.output)")
    #expect(!headless.output.contains("called"), "nothing is installed without the right to")
  }

  @Test func withoutGitTheKeptHistoryIsTaken() throws {
    let sandbox = try Sandbox()
    let programs = try sandbox.standIn("bash", "exec /bin/bash \"$@\"")
    for program in [
      "dirname", "sed", "head", "rm", "cp", "mkdir", "cat", "wc", "tr", "grep", "env", "date",
    ] {
      _ = try sandbox.standIn(program, "PATH=/usr/bin:/bin exec \(program) \"$@\"")
    }
    let command = sandbox.folder.appending(path: "command").path
    let run = try sandbox.shell(
      "ANNALS_COMMAND='\(command)' PATH='\(programs)' /bin/bash Tools/demo", in: sandbox.package)
    expectTour(run, of: "the history of Annals itself")
    #expect(run.output.contains("git is not installed"))
  }
}
