import Foundation
import Testing

@testable import AnnalsCommand

/// What `import --git --branch` says of names that are no branch, or another's.
@Suite struct GitBranchTests {
  /// A repository of two commits on main, and one more on side.
  private func repository() throws -> TestRepository {
    let repository = try TestRepository()
    for name in ["a", "b"] {
      try repository.write(name, to: name)
      try repository.commit(name)
    }
    try repository.git("checkout", "-q", "-b", "side")
    try repository.write("c", to: "c")
    try repository.commit("c")
    try repository.git("checkout", "-q", "main")
    return repository
  }

  @Test func aBranchThatIsNotThereIsToldWhichAre() throws {
    let repository = try repository()
    let folder = try CommandFolder()
    for name in ["sid", "-side", "refs/heads/none"] {
      let run = folder.run("import", "@g.annals", "--git", repository.path, "--branch=\(name)")
      #expect(run.status == .couldNotRun, "\(run)")
      #expect(
        run.errors
          == "annals: \(repository.path) has no branch \(name). It has main, side; name one "
          + "with --branch, or a tag or a commit\n", "\(run)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    let empty = try TestRepository()
    let run = folder.run("import", "@g.annals", "--git", empty.path)
    #expect(run.status == .couldNotRun)
    #expect(run.errors.contains("has no branch main. It has none at all: commit something first"))
  }

  @Test func aTagIsImportedUpToItsCommit() throws {
    let repository = try repository()
    try repository.git("tag", "-a", "v1", "-m", "first", "main~1")
    let folder = try CommandFolder()
    let run = folder.run("import", "@g.annals", "--git", repository.path, "--branch", "v1")
    #expect(run.output == "imported 1 commit of v1; the newest is transaction 1\n", "\(run)")
    let more = folder.run("import", "@g.annals", "--git", repository.path, "--branch", "side")
    #expect(more.output == "imported 2 commits of side; the newest is transaction 3\n")
  }

  @Test func aRewrittenAndAnotherBranchAreRefused() throws {
    let repository = try repository()
    let folder = try CommandFolder()
    folder.run("import", "@g.annals", "--git", repository.path, "--branch", "side")
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("g.annals")))
    // Another branch, which lacks the commit.
    let other = folder.run("import", "@g.annals", "--git", repository.path, "--branch", "main")
    try repository.git("checkout", "-q", "side")
    try repository.git("commit", "-q", "--amend", "-m", "other")
    let amended = folder.run("import", "@g.annals", "--git", repository.path)
    for (run, name) in [(other, "main"), (amended, "side")] {
      #expect(run.status == .couldNotRun)
      for text in [
        "annals: branch \(name) was rewritten: commit ",
        "(transaction 3), the newest that @g.annals",
        "is not in its first-parent history; or @g.annals was made from another branch",
        "Nothing was imported. Import the branch into a new file, or name the right one with",
      ] {
        #expect(run.errors.contains(text), "\(run)")
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("g.annals"))) == before)
  }
}
