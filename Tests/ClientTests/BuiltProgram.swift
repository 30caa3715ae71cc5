import AnnalsTestSupport
import Foundation
import Testing

/// A program that was built beside the test bundle, run with pipes.
final class BuiltProgram {
  private let process = Process()
  private let input = Pipe()
  private let output = ProgramLines()
  /// All lines so far.
  private(set) var lines: [String] = []

  /// Starts the program of this name.
  init(_ name: String, _ arguments: [String], in folder: URL) throws {
    process.executableURL = try built(name)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = input
    process.standardOutput = output.pipe
    try process.run()
  }

  deinit { if process.isRunning { process.terminate() } }

  /// Types a line.
  func type(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// The next line; nil at the end.
  func next() -> String? {
    guard let line = output.next() else { return nil }
    lines.append(line)
    return line
  }

  /// Reads until all of these lines were said, in any order; the test fails at the end of the
  /// output, and at its deadline.
  func expect(_ wanted: String..., sourceLocation: SourceLocation = #_sourceLocation) {
    var missing = Set(wanted).subtracting(lines)
    while !missing.isEmpty {
      guard let line = next() else {
        Issue.record("missing: \(missing); said: \(lines)", sourceLocation: sourceLocation)
        return
      }
      missing.remove(line)
    }
  }

  /// Reads to the end; returns the exit status.
  func finish() -> Int32 {
    try? input.fileHandleForWriting.close()
    while next() != nil {}
    if Task.isCancelled { process.terminate() }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
