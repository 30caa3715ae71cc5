import Foundation

/// A running `git`, started without a shell, whose output is streamed.
final class GitProcess {
  private let process = Process()
  private let output = Pipe()
  private let input: Pipe?
  private let errorFile: URL
  private let repository: String

  /// Starts git on a repository.
  ///
  /// - Throws: `CommandFailure` if there is no git.
  init(
    _ arguments: [String], repository: String, environment: [String: String], hasInput: Bool = false
  )
    throws
  {
    guard let executable = GitProcess.find(environment) else { throw CommandFailure.noGit }
    self.repository = repository
    errorFile = FileManager.default.temporaryDirectory.appendingPathComponent(
      "annals-git-\(ProcessInfo.processInfo.globallyUniqueString)")
    guard FileManager.default.createFile(atPath: errorFile.path, contents: nil) else {
      throw CommandFailure("cannot write to \(errorFile.deletingLastPathComponent().path)")
    }
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = ["-C", repository] + arguments
    process.environment = GitProcess.cleaned(environment)
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errorFile)
    input = hasInput ? Pipe() : nil
    process.standardInput = input ?? FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw CommandFailure("cannot start \(executable): \(error.localizedDescription)")
    }
  }

  deinit {
    try? input?.fileHandleForWriting.close()
    try? output.fileHandleForReading.close()
    if process.isRunning {
      // Not SIGTERM: a process inherits the blocked signals of the thread that starts it.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(at: errorFile)
  }

  /// The next bytes of the output; empty at its end.
  func read(upTo count: Int = 1 << 16) throws -> Data {
    try output.fileHandleForReading.read(upToCount: count) ?? Data()
  }

  /// The output that has arrived, at least one byte; empty at its end.
  func readAvailable() -> Data { output.fileHandleForReading.availableData }

  /// Writes to git's input.
  func write(_ bytes: Data) throws {
    try input?.fileHandleForWriting.write(contentsOf: bytes)
  }

  /// Waits until git exits.
  ///
  /// - Throws: `CommandFailure` with git's message if it failed.
  func waitForExit() throws {
    try input?.fileHandleForWriting.close()
    process.waitUntilExit()
    guard process.terminationStatus != 0 else { return }
    throw CommandFailure.git(errors, repository: repository)
  }

  private var errors: String {
    guard let handle = try? FileHandle(forReadingFrom: errorFile),
      let bytes = try? handle.read(upToCount: 4000)
    else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Runs git and returns its output, up to 64 KiB, without the last line feed.
  static func text(
    _ arguments: [String], repository: String, environment: [String: String]
  ) throws -> String {
    let process = try GitProcess(arguments, repository: repository, environment: environment)
    var text = Data()
    while case let bytes = try process.read(), !bytes.isEmpty {
      if text.count < 1 << 16 { text.append(bytes) }
    }
    try process.waitForExit()
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static func find(_ environment: [String: String]) -> String? {
    for directory in (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":") {
      let path = "\(directory)/git"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    return nil
  }

  /// The environment without variables that select another repository or change git's output.
  private static func cleaned(_ environment: [String: String]) -> [String: String] {
    var result = environment
    for name in [
      "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
      "GIT_EXTERNAL_DIFF", "GIT_PREFIX",
    ] {
      result[name] = nil
    }
    result["LC_ALL"] = "C"
    result["GIT_OPTIONAL_LOCKS"] = "0"
    result["GIT_TERMINAL_PROMPT"] = "0"
    return result
  }
}
