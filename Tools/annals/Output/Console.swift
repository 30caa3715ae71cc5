import Annals
import AnnalsExchange
import Foundation

/// What a command sees of the world: its streams, the clock, the zone, the environment.
///
/// Injected, so that tests run commands within the process and get the same bytes on any machine.
final class Console {
  /// Standard output, buffered.
  let output: Output
  /// Standard error.
  let errors: Output
  /// Reads a line that the user types; nil at the end of the input.
  let readAnswer: () -> String?
  /// Standard input as bytes.
  let input: () -> any ByteSource
  let environment: [String: String]
  let now: () -> Timestamp
  let zone: LocalZone
  /// What stores take from the world.
  let store: StoreEnvironment
  let terminal: Terminal
  /// Gives the program that long output is read in; nil for none.
  private let makePager: () -> Pager?

  /// What is known of the streams.
  struct Terminal {
    var isInput = false
    var isOutput = false
    var isErrors = false
    /// How many columns fit on a line; nil where there is no terminal.
    var width: Int?
  }

  /// A console of these parts.
  init(
    output: Output, errors: Output, terminal: Terminal, environment: [String: String],
    store: StoreEnvironment, zone: LocalZone, now: @escaping () -> Timestamp,
    readAnswer: @escaping () -> String?, input: @escaping () -> any ByteSource,
    makePager: @escaping () -> Pager? = { nil }
  ) {
    self.makePager = makePager
    self.store = store
    self.output = output
    self.errors = errors
    self.terminal = terminal
    self.environment = environment
    self.zone = zone
    self.now = now
    self.readAnswer = readAnswer
    self.input = input
    output.usesColor = terminal.isOutput && Console.allowsColor(environment)
  }

  /// Whether the environment allows colour: NO_COLOR is not set to anything, and the terminal is
  /// not dumb.
  static func allowsColor(_ environment: [String: String]) -> Bool {
    (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Sends what is printed from now on to a pager, if it is printed on a terminal.
  func beginPaging() {
    if terminal.isOutput, output.pager == nil { output.pager = makePager() }
  }

  /// Waits until what was printed has been read.
  func endPaging() {
    output.pager?.finish()
    output.pager = nil
  }

  /// Writes a line `annals: TEXT` to standard error, what was stored or typed with its control
  /// characters as escapes. It goes to the pager that has the terminal.
  func report(_ text: String) {
    // Nothing can be done when even this fails.
    try? output.flush()
    let lines = ValueText.lines(of: text).map { ValueText.plain($0) }
    let stream = terminal.isErrors && output.pager?.isStarted == true ? output : errors
    try? stream.write("annals: \(lines.joined(separator: "\n"))\n")
    try? stream.flush()
  }

  /// Whether somebody can be asked: they type on a terminal, and see the question on one.
  var canAsk: Bool { terminal.isInput && (terminal.isErrors || terminal.isOutput) }

  /// Asks a question that is answered by yes or no, and says so where nothing is going to change;
  /// no at the end of the input.
  ///
  /// - Throws: `CommandFailure` where nobody can be asked.
  func confirms(_ question: String) throws -> Bool {
    try output.flush()
    guard canAsk else {
      throw CommandFailure(
        "nothing was changed: there is no terminal to ask on. Say --yes to go ahead")
    }
    let stream = terminal.isErrors ? errors : output
    try stream.write("\(question) [y/N] ")
    try stream.flush()
    let answer = (readAnswer() ?? "").trimmingCharacters(in: .whitespaces).lowercased()
    if answer == "y" || answer == "yes" { return true }
    try output.line("nothing was changed")
    return false
  }

  /// Who writes: what the caller said, else `ANNALS_AUTHOR`, else the login name; nil if none is
  /// known.
  func author(_ given: String?) -> String? {
    let candidates = [
      given, environment["ANNALS_AUTHOR"], environment["LOGNAME"], environment["USER"],
    ]
    if let name = candidates.compactMap({ $0 }).first(where: { !$0.isEmpty }) { return name }
    let name = NSUserName()
    return name.isEmpty ? nil : name
  }
}

extension Console {
  /// The console of the process.
  static func ofProcess() -> Console {
    // A reader that goes away is seen as a failed write, which ends the command quietly.
    signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    let terminal = Terminal(
      isInput: isatty(0) == 1, isOutput: isatty(1) == 1, isErrors: isatty(2) == 1,
      width: terminalWidth(environment))
    return Console(
      output: Output(FileHandle.standardOutput), errors: Output(FileHandle.standardError),
      terminal: terminal, environment: environment, store: .system, zone: .current,
      now: StoreEnvironment.system.clock, readAnswer: { readLine() },
      input: { FileSource(FileHandle.standardInput) }, makePager: { Pager(environment) })
  }

  private static func terminalWidth(_ environment: [String: String]) -> Int? {
    guard isatty(1) == 1 || isatty(2) == 1 else { return nil }
    var size = winsize()
    if ioctl(isatty(1) == 1 ? 1 : 2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
  }
}
