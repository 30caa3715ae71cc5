import Foundation

/// A process that runs a `TortureChild`, its output going to a file.
final class ChildProcess {
  let role: TortureChild.Role
  let name: String
  private let process = Process()
  private let output: String
  private let errors: String

  /// Starts `executable` as a child in the folder, on the store at the path.
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
    process.arguments = ["torture", "--child", role.rawValue, "--name", name, "--file", path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
  }

  /// Whether it still runs; one that does not, before it was killed, has found something wrong.
  var isRunning: Bool { process.isRunning }

  /// Halts it where it is, whatever it holds.
  func stop() {
    Foundation.kill(process.processIdentifier, SIGSTOP)
  }

  /// Lets it go on.
  func resume() {
    Foundation.kill(process.processIdentifier, SIGCONT)
  }

  /// Kills it without a chance to tidy up.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// What it said on standard error.
  var complaint: String {
    let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
    return "\(role.rawValue) \(name): \(text.trimmingCharacters(in: .whitespacesAndNewlines))"
  }

  /// The whole lines of its output, in words.
  func lines() throws -> [[String]] {
    let text = try String(contentsOfFile: output, encoding: .utf8)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    // What follows the last end of a line was cut short by the kill.
    lines.removeLast()
    return lines.map { $0.split(separator: " ").map(String.init) }
  }
}
