import AnnalsTestSupport
import Foundation
import Testing

/// A folder with what Tools/demo needs, and a way to run it there.
///
/// The command is the one that was built with the tests, so that nothing is built again; the script
/// goes on from there as it does for a newcomer.
final class Sandbox {
  private let place: TemporaryFolder
  /// The folder; everything in it may be read by all users.
  var folder: URL { place.url }
  /// Where the package was copied to.
  var package: URL { folder.appending(path: "annals") }

  init() throws {
    place = try TemporaryFolder()
    for path in [
      "Tools/demo", "Tools/install", "Tools/prepare.bash", "Fixtures/own-history.jsonl.gz",
      "Fixtures/diary.jsonl",
    ] {
      let target = package.appending(path: path)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: packageFolder.appending(path: path), to: target)
    }
    try FileManager.default.copyItem(at: built("annals"), to: folder.appending(path: "command"))
  }

  /// Makes the copy of the package a git repository with so many commits.
  func makeRepository(at folder: URL, commits: Int) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try git("init -q -b main", in: folder)
    for number in 0..<commits {
      try "Line \(number)\n".write(
        to: folder.appending(path: "README.md"), atomically: true, encoding: .utf8)
      try git("add -A", in: folder)
      try git(
        "-c user.name=Ann -c user.email=ann@example.org -c commit.gpgsign=false"
          + " commit -q -m 'Commit \(number)'", in: folder)
    }
  }

  /// Runs git, which must succeed.
  func git(_ arguments: String, in folder: URL) throws {
    let run = try shell("git \(arguments)", in: folder)
    if run.status != 0 { throw TestFailure(run.output) }
  }

  /// Writes a program that stands in for one of the system, and returns the folder to put first on
  /// the path.
  func standIn(_ name: String, _ script: String) throws -> String {
    let programs = folder.appending(path: "programs")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    let text = programs.appending(path: "script")
    try "#!/bin/bash\n\(script)\n".write(to: text, atomically: true, encoding: .utf8)
    // By another process: a child that this one starts just then would hold the file open for
    // writing, and it could not be run.
    let installed = try shell("install -m 755 script '\(name)'", in: programs)
    if installed.status != 0 { throw TestFailure(installed.output) }
    return programs.path
  }

  /// Runs Tools/demo with the command that was built with the tests.
  func demo(_ arguments: String = "", user: String? = nil) throws -> Run {
    let command = folder.appending(path: "command").path
    let script = "ANNALS_COMMAND=\(command) HOME=\(folder.path) Tools/demo \(arguments)"
    if let user {
      return try shell("runuser -u \(user) -- env \(script)", in: package)
    }
    return try shell("env \(script)", in: package)
  }

  /// What Tools/demo would import, and why nothing else, as it says.
  func choice(_ arguments: String = "") throws -> String {
    let run = try demo("--which \(arguments)")
    #expect(run.status == 0, "\(run.output)")
    let diary = package.appending(path: "demo/diary.annals").path
    #expect(!FileManager.default.fileExists(atPath: diary))
    return run.output
  }

  /// Whether programs can be run as the user `nobody`.
  static let canBecomeNobody =
    (try? Sandbox().shell("runuser -u nobody -- true", in: URL(filePath: "/")).status) == 0

  /// Runs Tools/install with that command.
  func install(_ arguments: String) throws -> Run {
    let command = folder.appending(path: "command").path
    return try shell("env ANNALS_COMMAND=\(command) Tools/install \(arguments)", in: package)
  }

  /// Runs a line of shell; both outputs together.
  func shell(_ line: String, in folder: URL) throws -> Run {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = folder
    var environment = ProcessInfo.processInfo.environment
    environment["GIT_CONFIG_NOSYSTEM"] = "1"
    environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
    environment["LC_ALL"] = "C"
    process.environment = environment
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Run(
      status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
  }
}

/// How a program ended, and what it printed.
struct Run {
  let status: Int32
  let output: String
}
