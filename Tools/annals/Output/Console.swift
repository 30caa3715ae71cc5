import Annals
import AnnalsExchange
import AnnalsInspector
import AnnalsStorage
import Foundation

/// The surroundings of a command: its streams, clock, time zone and environment variables.
///
/// Injected, so that tests run commands in-process with the same output on any machine.
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
  /// The clock, the source of UUIDs and the process for stores.
  let store: StoreEnvironment
  let terminal: Terminal
  /// The number of the transaction that the command recorded; nil if it recorded none.
  private(set) var recorded: Int64?
  /// What was reported once.
  private var reported: [String] = []
  /// Makes the pager; nil for none.
  private let makePager: () -> Pager?

  /// Which streams are terminals.
  struct Terminal {
    var isInput = false
    var isOutput = false
    var isErrors = false
    /// The width in columns; nil without a terminal.
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

  /// Whether the environment allows colour: NO_COLOR is unset or empty, and TERM is not `dumb`.
  static func allowsColor(_ environment: [String: String]) -> Bool {
    (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Sends the output from now on to a pager, if it goes to a terminal.
  func beginPaging() {
    if terminal.isOutput, output.pager == nil { output.pager = makePager() }
  }

  /// Waits until the user leaves the pager.
  func endPaging() {
    output.pager?.waitForUser()
    output.pager = nil
  }

  /// Writes `annals: TEXT` to standard error, or to the pager if that has the terminal. Cuts long
  /// names.
  func report(_ text: String) {
    // If this fails, there is nobody to tell.
    try? output.flush()
    let lines = ValueText.lines(of: text).map { ValueText.shortMessage($0) }
    let stream = terminal.isErrors && output.pager?.isStarted == true ? output : errors
    try? stream.write("annals: \(lines.joined(separator: "\n"))\n")
    try? stream.flush()
  }

  /// As `report`, but nothing twice.
  func reportOnce(_ text: String) {
    guard !reported.contains(where: { $0.hasSameBytes(as: text) }) else { return }
    reported.append(text)
    report(text)
  }

  /// Writes the number of the transaction that the command recorded.
  func lineOfTransaction(_ number: Int64) throws {
    recorded = number
    try output.line("transaction \(number)")
  }

  /// Whether the user can be asked: input and the question are on a terminal.
  var canAsk: Bool { terminal.isInput && (terminal.isErrors || terminal.isOutput) }

  /// Asks a yes-or-no question; the end of the input is no. After a no, prints that nothing was
  /// changed.
  ///
  /// - Throws: `CommandFailure` without a terminal.
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

  /// The author: the given name, otherwise `ANNALS_AUTHOR`, otherwise the login name; nil if none
  /// is known.
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
    // A reader that ends is seen as a failed write, which ends the command quietly.
    signal(SIGPIPE, SIG_IGN)
    occupyStandardStreams()
    let environment = ProcessInfo.processInfo.environment
    let terminal = Terminal(
      isInput: isatty(0) == 1, isOutput: isatty(1) == 1, isErrors: isatty(2) == 1,
      width: terminalWidth(environment))
    let console = Console(
      output: Output(FileHandle.standardOutput), errors: Output(FileHandle.standardError),
      terminal: terminal, environment: environment, store: .system, zone: .current,
      now: StoreEnvironment.system.clock, readAnswer: { readLine() },
      input: { FileSource(FileHandle.standardInput) }, makePager: { Pager(environment) })
    if let zone = LocalTime.unreadableZone(environment["TZ"]) {
      console.report("warning: `\(zone)` is no time zone that this system has; UTC is used")
    }
    return console
  }

  /// Puts a file in the place of each closed standard stream, one that refuses reads or writes, so
  /// that no store gets its number and, with it, the output.
  private static func occupyStandardStreams() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // The lowest free number is this one, since those below it are in use.
      _ = Foundation.open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
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
