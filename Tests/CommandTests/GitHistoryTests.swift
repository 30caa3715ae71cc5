import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// A repository in a temporary directory, with a fixed author and clock.
final class TestRepository {
  let path: String
  private var clock = 1_500_000_000
  static let environment: [String: String] = [
    "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
  ]

  init() throws {
    path = NSTemporaryDirectory() + "annals-git-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try git("init", "-q", "-b", "main", ".")
  }

  /// The repository at a path that exists.
  init(at path: String) { self.path = path }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @discardableResult
  func git(_ arguments: String...) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", path] + arguments
    clock += 60
    process.environment = TestRepository.environment.merging(
      [
        "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org",
        "GIT_COMMITTER_NAME": "Bob",
        "GIT_COMMITTER_EMAIL": "bob@example.org", "GIT_AUTHOR_DATE": "\(clock - 30) +0200",
        "GIT_COMMITTER_DATE": "\(clock) +0000",
      ], uniquingKeysWith: { $1 })
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CommandFailure("git \(arguments) failed") }
    return bytes
  }

  func write(_ text: String, to name: String) throws {
    let file = "\(path)/\(name)"
    let directory = (file as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
  }

  func commit(_ message: String) throws {
    try git("add", "-A")
    try git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message)
  }

  /// Puts an entry with any bytes as its path into the index, and commits it.
  func commit(_ message: String, mode: String, object: String, path name: [UInt8]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["git", "-C", path, "update-index", "-z", "--index-info"]
    process.environment = TestRepository.environment
    let input = Pipe()
    process.standardInput = input
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("\(mode) \(object)\t".utf8 + name + [0]))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    try git("commit", "-q", "-m", message)
  }

  /// The tree of a commit: path (as keys have it) to mode and object.
  func tree(_ commit: String) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    for entry in try git("ls-tree", "-r", "-z", commit).split(separator: 0) {
      let halves = entry.split(separator: 0x09, maxSplits: 1)
      let words = String(decoding: halves[0], as: UTF8.self).split(separator: " ").map(String.init)
      result[GitPath.text(Data(halves[1])).text] = [words[0], words[2]]
    }
    return result
  }
}

@Suite struct GitHistoryTests {
  /// A repository with everything that a history can hold.
  static func oddRepository() throws -> TestRepository {
    let repository = try TestRepository()
    try repository.write("one\n", to: "a")
    try repository.write("two\n", to: "dir/b c\"\\\n\u{e9}")
    try repository.commit("root\n\nwith a body")
    try repository.commit("empty")
    try repository.git("checkout", "-q", "-b", "side")
    try repository.write("side\n", to: "side")
    try repository.commit("on the side")
    try repository.git("checkout", "-q", "main")
    try repository.write("one more\n", to: "a")
    try repository.commit("")
    try repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    try repository.git("mv", "side", "moved")
    try repository.commit("rename")
    try repository.git("rm", "-q", "moved")
    try FileManager.default.createSymbolicLink(
      atPath: repository.path + "/moved", withDestinationPath: "a")
    try repository.commit("type change")
    try repository.git("update-index", "--add", "--chmod=+x", "a")
    try repository.git("commit", "-q", "-m", "mode change")
    let blob = String(decoding: try repository.git("rev-parse", "HEAD:a"), as: UTF8.self)
      .trimmingCharacters(in: .newlines)
    let commit = String(decoding: try repository.git("rev-parse", "HEAD"), as: UTF8.self)
      .trimmingCharacters(in: .newlines)
    try repository.commit(
      "bad bytes", mode: "100644", object: blob, path: [0x78, 0xFF, 0xC3, 0xA9, 0xC3])
    try repository.commit("submodule", mode: "160000", object: commit, path: Array("sub".utf8))
    return repository
  }

  /// Replays a history and returns each commit with the tree after it.
  private func replay(_ repository: TestRepository, after known: String? = nil) throws
    -> [(GitCommit, [String: [String]])]
  {
    let source = try GitRepository(
      path: repository.path, branch: nil, environment: TestRepository.environment)
    let history = try source.history(after: known)
    var tree: [String: [String]] = [:]
    var result: [(GitCommit, [String: [String]])] = []
    while let commit = try history.nextCommit() {
      while let change = try history.nextChange() {
        let path = GitPath.text(change.path).text
        switch change.kind {
        case .added:
          #expect(tree[path] == nil || known != nil)
          tree[path] = [change.mode, change.blob]
        case .modified: tree[path] = [change.mode, change.blob]
        case .deleted: tree[path] = nil
        }
        if change.kind != .deleted { #expect((change.size == nil) == (change.mode == "160000")) }
      }
      result.append((commit, tree))
    }
    return result
  }

  @Test func everyCommitHasTheTreeThatGitHas() throws {
    let repository = try GitHistoryTests.oddRepository()
    let commits = try replay(repository)
    #expect(
      commits.map(\.0.message) == [
        "root\n\nwith a body", "empty", "", "merge", "rename", "type change", "mode change",
        "bad bytes", "submodule",
      ])
    for (commit, tree) in commits { #expect(try repository.tree(commit.id) == tree, "\(commit)") }
    #expect(commits[3].0.parents.count == 2)
    #expect(commits[0].0.author == "Ann")
    let committed = try #require(commits[0].0.committedAt?.microseconds)
    let authored = try #require(commits[0].0.authoredAt?.microseconds)
    #expect(committed % 60_000_000 == 0 && committed - authored == 30_000_000)
    #expect(commits[7].1.keys.contains("x\\xFF\u{e9}\\xC3"))
  }

  @Test func goesOnAfterAKnownCommit() throws {
    let repository = try GitHistoryTests.oddRepository()
    let commits = try replay(repository)
    let rest = try replay(repository, after: commits[3].0.id)
    #expect(rest.map(\.0) == commits[4...].map(\.0))
    #expect(rest.first?.0.parents.first == commits[3].0.id)
  }

  @Test func manyFilesInOneCommit() throws {
    let repository = try TestRepository()
    for index in 0..<700 { try repository.write("\(index)\n", to: "d\(index % 7)/\(index)") }
    try repository.commit("many")
    let commits = try replay(repository)
    #expect(try repository.tree("HEAD") == commits.last?.1)
  }

  @Test func tellsAShallowRepository() throws {
    let repository = try GitHistoryTests.oddRepository()
    let copy = TestRepository(at: repository.path + "-shallow")
    try repository.git("clone", "-q", "--depth", "2", "file://" + repository.path, copy.path)
    let source = try GitRepository(
      path: copy.path, branch: "main", environment: TestRepository.environment)
    #expect(source.isShallow)
    #expect(try source.count(after: nil) == 2)
    let commits = try replay(copy)
    for (commit, tree) in commits { #expect(try copy.tree(commit.id) == tree) }
  }

  @Test func namesWhatIsWrong() throws {
    let repository = try TestRepository()
    try repository.commit("only")
    func message(_ body: () throws -> Void) -> String {
      do {
        try body()
        return ""
      } catch let failure as CommandFailure {
        return failure.message
      } catch { return "\(error)" }
    }
    let environment = TestRepository.environment
    #expect(
      message {
        _ = try GitRepository(path: repository.path, branch: "x", environment: environment)
      }
      .hasPrefix("\(repository.path) has no branch x."))
    #expect(
      message { _ = try GitRepository(path: "/nonexistent", branch: nil, environment: environment) }
        .hasPrefix("/nonexistent is no git repository."))
    #expect(
      message {
        _ = try GitRepository(
          path: repository.path, branch: nil, environment: ["PATH": "/nonexistent"])
      }.hasPrefix("there is no git on the PATH."))
    #expect(
      CommandFailure.git(
        "fatal: detected dubious ownership in repository at '/r'", repository: "/r"
      )
      .message.contains("git config --global --add safe.directory '/r'"))
  }

  static let paths: [([UInt8], String, Bool)] = [
    (Array("a\u{e9}".utf8), "a\u{e9}", false), ([0xFF], "\\xFF", true),
    ([0x61, 0x80, 0x62], "a\\x80b", true),
    ([0xE2, 0x82], "\\xE2\\x82", true), ([0x0A], "\n", false),
    ([0xC3, 0xA9, 0xC3], "\u{e9}\\xC3", true),
  ]

  @Test(arguments: paths)
  func escapesBadBytes(path: [UInt8], text: String, isEscaped: Bool) {
    let (shown, escaped) = GitPath.text(Data(path))
    #expect(Array(shown.utf8) == Array(text.utf8) && escaped == isEscaped)
  }

  @Test(arguments: ["x", "", "\(Int64.min)", "9223372036855", "99999999999999999999"])
  func noTimeOfATransaction(text: String) {
    #expect(GitHistory.time("-1") == Timestamp(microseconds: -1_000_000))
    #expect(GitHistory.time(text) == nil)
  }
}
