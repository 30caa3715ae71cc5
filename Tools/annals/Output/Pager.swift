import Foundation

/// The program that shows long output on a terminal: `$ANNALS_PAGER`, otherwise `$PAGER`, otherwise
/// `less`, run by the shell. It starts with the first bytes.
///
/// `less` exits by itself if the output fits on one screen, unless `$LESS` is set.
final class Pager {
  private let command: String
  private var stream: UnsafeMutablePointer<FILE>?
  /// Whether the user has left the pager.
  private var isClosed = false

  /// The pager of the environment; nil if it is empty, `cat`, or not installed.
  init?(_ environment: [String: String]) {
    let names = ["ANNALS_PAGER", "PAGER"]
    let pager = names.lazy.compactMap { environment[$0] }.first ?? "less"
    let first = pager.split(separator: " ").first.map(String.init) ?? ""
    if first.isEmpty || pager == "cat" { return nil }
    // Anything more than a program's name is left to the shell.
    let isName = first.allSatisfy { $0.isLetter || $0.isNumber || "._-/+".contains($0) }
    if isName, !Pager.isProgram(first, environment) { return nil }
    command = (environment["LESS"] == nil ? "export LESS=FRX\n" : "") + pager
  }

  /// Whether anything was written.
  var isStarted: Bool { stream != nil }

  /// Shows these bytes. Throws `OutputFault.closed` once the user has left.
  func write(_ bytes: UnsafeRawBufferPointer) throws {
    if isClosed { throw OutputFault.closed }
    let stream = try started()
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      let count = Foundation.write(fileno(stream), part.baseAddress, part.count)
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        isClosed = true
        if errno == EPIPE { throw OutputFault.closed }
        throw OutputFault.failed(String(cString: strerror(errno)))
      }
    }
  }

  /// Ends the pager's input and waits until the user leaves it.
  func waitForUser() {
    guard let stream else { return }
    pclose(stream)
    signal(SIGINT, SIG_DFL)
    self.stream = nil
    isClosed = true
  }

  private func started() throws -> UnsafeMutablePointer<FILE> {
    if let stream { return stream }
    guard let new = popen(command, "w") else {
      throw OutputFault.failed(String(cString: strerror(errno)))
    }
    // An interrupt reaches both processes and is meant for the pager, which must not be left
    // without this one.
    signal(SIGINT, SIG_IGN)
    stream = new
    return new
  }

  private static func isProgram(_ name: String, _ environment: [String: String]) -> Bool {
    if name.contains("/") { return FileManager.default.isExecutableFile(atPath: name) }
    return (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
    }
  }
}
