import Annals
import ArgumentParser
import Foundation

struct ServeCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Shows a store's whole history in a browser.",
    discussion: """
      Serves a page on this machine alone and prints its address, which has the key to it; Ctrl-C \
      ends it. The file is never written. It may be damaged, and others may write it meanwhile. Of \
      a folder its stores are listed.
      """)
  static let damageWork = DamageWork.shows

  @Argument(help: "The store, or a folder of stores.", completion: .file()) var file: String
  @Option(parsing: .unconditional, help: "The port; one that is free if left out.")
  var port: UInt16?
  @Flag(help: "Open the page in the browser.") var open = false

  func run(_ console: Console) throws -> ExitStatus {
    guard let program = ServeCommand.program(console.environment["PATH"] ?? "") else {
      throw CommandFailure(
        "annals-serve, which shows the page, is not installed. From a copy of the sources, "
          + "Tools/install installs it beside annals")
    }
    let words = [program] + arguments
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    pointers.append(nil)
    try console.output.flush()
    execv(program, pointers)
    throw CommandFailure("\(program) cannot be run: \(String(cString: strerror(errno)))")
  }

  private var arguments: [String] {
    (port.map { ["--port", "\($0)"] } ?? []) + (open ? ["--open"] : []) + ["--", file]
  }

  /// The path of the program that serves: beside this one, otherwise where commands are found. Nil
  /// if there is none.
  private static func program(_ path: String) -> String? {
    let name = "annals-serve"
    let own = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
    let folders = [own?.path].compactMap { $0 } + path.split(separator: ":").map(String.init)
    return folders.map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }
}
