import Foundation

/// A process that runs a `TortureChild` and writes its output to a file.
final class ChildProcess {
  let role: TortureChild.Role
  let name: String
  private let process = Process()
  private let output: String
  private let errors: String

  /// Starts `executable` as a child in a folder, with the store at a path.
  init(
    _ role: TortureChild.Role, name: String, executable: String, path: String, folder: String
  ) throws {
    self.role = role
    self.name = name
    output = "\(folder)/\(name).out"
    errors = "\(folder)/\(name).err"
    for file in [output, errors] {
      guard FileManager.default.createFile(atPath: file, contents: nil) else {
        throw BrokenPromise("cannot create \(file)")
      }
    }
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = [
      "--child", role.rawValue, "--name", name, "--file", path,
      "--parent", "\(ProcessInfo.processInfo.processIdentifier)",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
  }

  /// Whether it still runs. One that ended before it was killed has found an error.
  var isRunning: Bool { process.isRunning }

  /// Stops it, whatever locks it holds.
  func stop() {
    Foundation.kill(process.processIdentifier, SIGSTOP)
  }

  /// Resumes it.
  func resume() {
    Foundation.kill(process.processIdentifier, SIGCONT)
  }

  /// Kills it without a chance to clean up.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Its output on standard error.
  var complaint: String {
    let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
    return "\(role.rawValue) \(name): \(text.trimmingCharacters(in: .whitespacesAndNewlines))"
  }

  /// The complete lines of its output, split into words.
  func lines() throws -> [[String]] {
    let text = try String(contentsOfFile: output, encoding: .utf8)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // The kill cut the last line short.
    lines.removeLast()
    return lines.map { $0.split(separator: " ").map(String.init) }
  }
}
