import Annals
import Foundation
import Testing

@testable import AnnalsCommand

/// Long output on a terminal, through a pager that writes it into a file.
@Suite(.serialized) struct PagerTests {
  private let folder: CommandFolder
  private let shown: String

  init() throws {
    // As the command does for itself.
    signal(SIGPIPE, SIG_IGN)
    folder = try CommandFolder()
    folder.terminal.isOutput = true
    folder.environment["NO_COLOR"] = "1"
    shown = folder.file("shown")
    folder.run("put", "@a.annals", "Post/1", "title=Fog", "--author", "ann")
    folder.run("put", "@a.annals", "Post/1", "title=Mist", "--author", "bob")
  }

  private func pager(_ command: String) throws -> Pager {
    try #require(Pager(folder.environment.merging(["ANNALS_PAGER": command]) { $1 }))
  }

  private func text() -> String? { try? String(contentsOfFile: shown, encoding: .utf8) }

  static let pagedCommands = [
    ["log", "@a.annals"], ["show", "@a.annals", "2"], ["show", "@a.annals", "Post/1"],
    ["blame", "@a.annals", "Post/1"], ["state", "@a.annals"], ["query", "@a.annals", "Post"],
    ["diff", "@a.annals", "1..2"], ["dump", "@a.annals"], ["get", "@a.annals", "Post/1"],
    ["schema", "@a.annals"], ["stat", "@a.annals"],
  ]

  @Test(arguments: pagedCommands) func aTerminalGetsAPager(arguments: [String]) throws {
    let plain = folder.run(arguments)
    #expect(!plain.output.isEmpty && text() == nil)
    folder.pager = try pager("cat > \(shown)")
    let paged = folder.run(arguments)
    #expect(paged.output.isEmpty && paged.status == plain.status && paged.errors == plain.errors)
    let path = folder.path + "/"
    #expect(text()?.replacing(path, with: "@") == plain.output)
  }

  @Test func othersGetNone() throws {
    for arguments in [
      ["--no-pager", "log", "@a.annals"], ["log", "@a.annals", "--no-pager", "--limit", "1"],
      ["verify", "@a.annals"], ["put", "@a.annals", "Post/2", "title=x"], ["export", "@a.annals"],
    ] {
      folder.pager = try pager("cat > \(shown)")
      #expect(!folder.run(arguments).output.isEmpty, "\(arguments)")
      #expect(text() == nil, "\(arguments)")
    }
    folder.terminal.isOutput = false
    folder.pager = try pager("cat > \(shown)")
    #expect(!folder.run("log", "@a.annals").output.isEmpty)
    #expect(text() == nil)
  }

  @Test func whatFailsBeforePrintingStartsNone() throws {
    folder.terminal.isErrors = true
    folder.pager = try pager("cat > \(shown)")
    let run = folder.run("show", "@a.annals", "99")
    #expect(run.status == .couldNotRun && run.errors.contains("99"))
    #expect(text() == nil)
  }

  /// A message in the middle comes where it belongs, and not over what the pager shows.
  @Test func messagesGoToThePagerThatHasTheTerminal() throws {
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("a.annals"))))
    // Within the payload of the last frame.
    bytes[bytes.lastIndex { $0 != 0 } ?? 0] ^= 0xFF
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("a.annals")))
    let plain = folder.run("dump", "@a.annals")
    folder.terminal.isErrors = true
    folder.pager = try pager("cat > \(shown)")
    let paged = folder.run("dump", "@a.annals")
    #expect(paged.status == plain.status)
    #expect(text()?.replacing(folder.path + "/", with: "@") == plain.output + plain.errors)
  }

  @Test func aPagerThatLeavesEarlyIsNoFailure() throws {
    folder.pager = try pager("head -c 5 > \(shown)")
    let long = String(repeating: "x", count: 4000)
    for number in 0..<40 { folder.run("put", "@a.annals", "Post/1", "title=\(number)\(long)") }
    folder.pager = try pager("head -c 5 > \(shown)")
    let run = folder.run("export", "@a.annals")
    #expect(run.status == .done)
    folder.pager = try pager("head -c 5 > \(shown)")
    let paged = folder.run("show", "@a.annals", "Post/1")
    #expect(paged.status == .done && paged.errors.isEmpty && paged.output.isEmpty)
    #expect(text()?.count == 5)
    folder.pager = try pager("sh -c 'exit 3'")
    #expect(folder.run("log", "@a.annals").status == .done)
  }

  @Test func theEnvironmentNamesIt() throws {
    let path = ["PATH": folder.environment["PATH"] ?? ""]
    func exists(_ more: [String: String]) -> Bool {
      Pager(path.merging(more) { $1 }) != nil
    }
    #expect(!exists(["ANNALS_PAGER": ""]) && !exists(["PAGER": ""]) && !exists(["PAGER": "cat"]))
    #expect(!exists(["ANNALS_PAGER": "no-such-pager-here", "PAGER": "sh"]))
    #expect(!exists(["ANNALS_PAGER": "/no/such/pager -x"]) && exists(["PAGER": "sh -c 'cat'"]))
    #expect(exists(["ANNALS_PAGER": "sh", "PAGER": "no-such-pager-here"]))
    #expect(Pager(["PATH": "/nowhere"]) == nil, "less is not there")
    // How less is to be, unless somebody said.
    let told = "printf %s \"$LESS\" > \(shown); cat >/dev/null"
    folder.pager = try pager(told)
    folder.run("log", "@a.annals")
    #expect(text() == "FRX")
    folder.pager = try pager("LESS=S; " + told)
    folder.run("log", "@a.annals")
    #expect(text() == "S")
  }
}
