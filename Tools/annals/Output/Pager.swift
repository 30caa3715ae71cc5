import Foundation

/// The program through which a terminal shows long output: `$ANNALS_PAGER`, else `$PAGER`, else
/// `less`, run by the shell. It starts with the first bytes.
///
/// `less` ends by itself where one screen holds all, unless `$LESS` says how it is to be.
final class Pager {
  private let command: String
  private var stream: UnsafeMutablePointer<FILE>?
  /// Whether nobody reads any more.
  private var isClosed = false

  /// The pager that the environment names; nil if it names none or `cat`, or one that is not there.
  init?(_ environment: [String: String]) {
    let names = ["ANNALS_PAGER", "PAGER"]
    let pager = names.lazy.compactMap { environment[$0] }.first ?? "less"
    let first = pager.split(separator: " ").first.map(String.init) ?? ""
    if first.isEmpty || pager == "cat" { return nil }
    // What is more than a program's name is for the shell to understand.
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

  /// Tells the pager that this was all, and waits until the user leaves it.
  func finish() {
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
    // An interrupt is the pager's: it goes to both, and the pager must not be left alone with the
    // terminal.
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
