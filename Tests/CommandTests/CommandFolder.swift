import Annals
import AnnalsExchange
import AnnalsStorage
import AnnalsTestSupport
import Foundation

@testable import AnnalsCommand

/// What a run of the command gave.
struct CommandRun {
  var status: ExitStatus
  var output: String
  var errors: String
  /// The output as it is.
  var bytes: [UInt8] = []
}

/// A temporary folder in which commands run, within the process, with a fixed clock, zone and
/// environment.
final class CommandFolder {
  private let folder: TemporaryFolder
  var path: String { folder.path }
  var environment: [String: String] = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""]
  var terminal = Console.Terminal()
  var answer: String?
  var input: [UInt8] = []
  /// After so many bytes nobody reads the output any more.
  var outputLimit = Int.max
  /// Runs when a command writes to standard error.
  var onError: () -> Void = {}
  /// What shows the output if it goes to a terminal.
  var pager: Pager?
  let store: StoreEnvironment
  /// The stores' clock: four seconds more with each command, however often it is looked at.
  private let clock = StoreClock()
  /// 2019-10-22 18:20 UTC.
  var now = Timestamp(microseconds: 1_571_768_400_000_000)
  /// How many microseconds later it is each time that a command looks.
  var lookLength: Int64 = 0

  init() throws {
    folder = try TemporaryFolder()
    let fixed = StoreEnvironment.fixed(seed: 7)
    let clock = clock
    store = StoreEnvironment(
      clock: { clock.now }, random: fixed.random,
      processName: "annals", processID: 311)
  }

  /// Turns the stores' clock on, or back.
  func turnClock(by microseconds: Int64) { clock.turn(by: microseconds) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
  }

  /// Runs a command line; `@NAME` stands for the path of a file in the folder, which is shown as
  /// `@NAME` in what comes back, too.
  @discardableResult
  func run(_ arguments: String...) -> CommandRun {
    run(arguments)
  }

  /// A store's schema as JSON.
  func schema(_ file: String, _ arguments: String...) -> String {
    run(["schema", file, "--format", "json"] + arguments).output
  }

  func run(_ arguments: [String]) -> CommandRun {
    let expanded = arguments.map {
      $0.hasPrefix("@") ? file(String($0.dropFirst())) : $0.replacing("=@", with: "=" + path + "/")
    }
    return run { AnnalsCommand.execute(expanded, $0) }
  }

  /// Runs a part of a command on the folder's console. `onLine` is told each line as it is written.
  func run(
    onLine: @escaping (String) -> Void = { _ in }, _ body: (Console) throws -> ExitStatus
  ) rethrows -> CommandRun {
    clock.advance()
    var output: [UInt8] = []
    var errors: [UInt8] = []
    let limit = outputLimit
    let console = Console(
      output: Output(limit: 64) { bytes in
        guard output.count < limit else { throw OutputFault.closed }
        output += bytes
        onLine(self.shown(Array(bytes)))
      },
      errors: Output {
        errors += $0
        self.onError()
      }, terminal: terminal, environment: environment, store: store,
      zone: berlin,
      now: {
        defer { self.now = Timestamp(microseconds: self.now.microseconds + self.lookLength) }
        return self.now
      }, readAnswer: { self.answer },
      input: { MemorySource(self.input) }, makePager: { self.pager })
    let status = try body(console)
    try? console.output.flush()
    return CommandRun(
      status: status, output: shown(output), errors: shown(errors), bytes: output)
  }

  private func shown(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).replacing(path + "/", with: "@")
  }
}

/// A clock that goes on when it is told to.
private final class StoreClock: Sendable {
  private let microseconds = Locked(Int64(1_571_768_100_000_000))

  var now: Timestamp { Timestamp(microseconds: microseconds.withLock { $0 }) }

  func advance() { turn(by: 4_000_000) }

  func turn(by count: Int64) { microseconds.withLock { $0 += count } }
}
