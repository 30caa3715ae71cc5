import AnnalsTestSupport
import Foundation

/// Programs that work on real files.
extension TemporaryFolder {
  /// Runs `body` with an empty folder, removed afterwards.
  static func with<R>(_ body: (String) throws -> R) throws -> R {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.path) }
  }

  /// The command, built beside the tests.
  static var annals: String { get throws { try built("annals").path } }

  /// The program that tries to lose data, and that its processes are.
  static var torture: String { get throws { try built("annals-torture").path } }

  /// Runs a program; returns what it exits with and what it printed.
  @discardableResult
  static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
    try run(list: arguments)
  }

  /// As `run` with several arguments.
  @discardableResult
  static func run(list arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  /// Runs `body` with a folder that is a file system of its own, in memory, of so many bytes; where
  /// `canMount`.
  static func withFileSystem<R>(size: String, _ body: (String) throws -> R) throws -> R {
    try with { folder in
      let place = folder + "/disk"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      let mounted = try run("mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", place)
      guard mounted.status == 0 else { throw TestFailure(mounted.output) }
      defer { _ = try? run("umount", "-l", place) }
      return try body(place)
    }
  }

  /// Whether a file system can be mounted here.
  static let canMount = (try? withFileSystem(size: "64k") { _ in true }) ?? false

  /// What to put before a program so that permissions bind it: nothing, unless the superuser runs
  /// the tests.
  static let asOrdinaryUser =
    getuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

  /// Whether the command can be run as an ordinary user.
  static let canRunAsOrdinaryUser =
    (try? run(list: asOrdinaryUser + [annals]).status) == 0

  /// A C compiler; nil if there is none.
  static let compiler = ["clang", "cc"].first { (try? run($0, "--version").status) == 0 }
}
