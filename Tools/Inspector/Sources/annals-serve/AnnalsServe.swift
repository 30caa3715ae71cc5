import Annals
import AnnalsInspector
import Dispatch
import Foundation
import InspectorPage
import InspectorServer

/// The command `annals-serve`, which `annals serve` runs.
@main
struct AnnalsServe {
  private static let usage = """
    OVERVIEW: Shows a store's whole history in a browser.

    Serves a page on this machine alone, and prints its address, which has the key to it. Ends with
    Ctrl-C. The file is never written; it may be damaged, and others may write it meanwhile.

    USAGE: annals serve <file> [--port <port>] [--open]

    ARGUMENTS:
      <file>                  The store, or a folder of stores.

    OPTIONS:
      --port <port>           The port; one that is free if left out.
      --open                  Open the page in the browser.
      -h, --help              Show help information.

    """

  /// What the command line says.
  private struct Options {
    var path: String?
    var port: UInt16 = 0
    var opens = false
  }

  static func main() async {
    let options = options(CommandLine.arguments.dropFirst())
    guard let path = options.path else { exit("say which store: annals serve FILE", status: 64) }
    signal(SIGPIPE, SIG_IGN)
    do {
      let inspector = try Inspector(path: path)
      let server = try InspectorServer(
        inspector, page: PageFiles(EmbeddedPage.contents), port: options.port)
      // Who has read the address may end the program.
      let sources = endOnSignals(inspector)
      print(server.address)
      FileHandle.standardOutput.synchronizeFile()
      fflush(nil)
      if options.opens { open(server.address) }
      try await server.run()
      withExtendedLifetime(sources) {}
    } catch let error as AnnalsError {
      exit("\(error)", status: 2)
    } catch let error as InspectorServer.PortUnusable {
      exit(
        "port \(error.port) cannot be used: \(error.reason). Leave --port out for one that is free",
        status: 2)
    } catch {
      exit("the page cannot be served any more: \(error)", status: 2)
    }
  }

  /// From its return on, the usual signals end the program as they should.
  private static func endOnSignals(_ inspector: Inspector) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      // Not of the main actor, whose thread waits.
      source.setEventHandler { @Sendable in
        inspector.close()
        Foundation.exit(0)
      }
      // Until it is registered, a signal is lost.
      let registered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { @Sendable in registered.signal() }
      source.resume()
      registered.wait()
      return source
    }
  }

  private static func options(_ arguments: some Sequence<String>) -> Options {
    var options = Options()
    var rest = Array(arguments)[...]
    var takesOptions = true
    while let argument = rest.popFirst() {
      switch argument {
      case "-h" where takesOptions, "--help" where takesOptions:
        print(usage, terminator: "")
        Foundation.exit(0)
      case "--" where takesOptions: takesOptions = false
      case "--open" where takesOptions: options.opens = true
      case "--port" where takesOptions:
        guard let port = rest.popFirst().flatMap({ UInt16($0) }) else {
          exit("--port is a number from 0 to 65535", status: 64)
        }
        options.port = port
      case let option where takesOptions && option.hasPrefix("-") && option.count > 1:
        exit("there is no option \(option). annals serve --help lists them", status: 64)
      default:
        guard options.path == nil else { exit("one file or folder at a time", status: 64) }
        options.path = argument
      }
    }
    return options
  }

  private static func exit(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("annals: \(message)\n".utf8))
    Foundation.exit(status)
  }

  /// Opens an address in the browser. Others on this machine see the arguments of programs, so the
  /// browser gets a file that only this user can read, and that leads on.
  private static func open(_ address: String) {
    let folder = FileManager.default.temporaryDirectory
    let file = folder.appendingPathComponent("annals-\(UUID().uuidString).html")
    let page = "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=\(address)\">"
    let isMade = FileManager.default.createFile(
      atPath: file.path, contents: Data(page.utf8), attributes: [.posixPermissions: 0o600])
    guard isMade else { return }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    #if os(macOS)
      process.arguments = ["open", file.path]
    #else
      process.arguments = ["xdg-open", file.path]
    #endif
    do {
      try process.run()
    } catch {
      FileHandle.standardError.write(Data("annals: no browser was found\n".utf8))
    }
    Task {
      try? await Task.sleep(for: .seconds(20))
      try? FileManager.default.removeItem(at: file)
    }
  }
}
