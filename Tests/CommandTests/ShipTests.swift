import Annals
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// `annals ship` and `annals restore`.
@Suite(.deadline) struct ShipTests {
  private func put(_ folder: CommandFolder, _ names: String...) {
    for name in names { folder.run("put", "@p.annals", "Note/\(name)", "text=a text") }
  }

  @Test func shipsAndRestores() throws {
    let folder = try CommandFolder()
    put(folder, "one", "two")
    let first = folder.run("ship", "@p.annals", "@f")
    #expect(first.status == .done && first.errors == "", "\(first)")
    #expect(first.output == "@f: base 1, up to transaction 2, 12.5 kB\n")
    #expect(
      folder.run("ship", "@p.annals", "@f").output == "@f: nothing new, up to transaction 2\n")
    put(folder, "three", "four")
    #expect(
      folder.run("ship", "@p.annals", "@f/").output
        == "@f/: 2 transactions, up to 4, 288 bytes\n")
    folder.run("compact", "@p.annals")
    put(folder, "five")
    #expect(
      folder.run("ship", "@p.annals", "@f").output.hasPrefix(
        "@f: base 2, up to transaction 5, "))
    let list = folder.run("restore", "@f", "--list")
    #expect(list.status == .done, "\(list)")
    let lines = list.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].hasPrefix("store "))
    #expect(
      lines[1]
        == "base 1  generation 1, transactions 0 to 4 of 2019-10-22 20:15:24 +0200, 1 segment, "
        + "12.8 kB")
    #expect(lines[2].hasPrefix("base 2  generation 2, transactions 0 to 5 of 2019-10-22 20:15:3"))

    let newest = folder.run("restore", "@f", "@new.annals")
    #expect(newest.status == .done && newest.errors == "", "\(newest)")
    #expect(newest.output.hasPrefix("@new.annals: up to transaction 5 of 2019-10-22 20:15:3"))
    #expect(newest.output.hasSuffix(", verified\n"))
    #expect(folder.run("log", "@new.annals").output == folder.run("log", "@p.annals").output)
    let past = folder.run("restore", "@f", "@past.annals", "--at", "head~1")
    #expect(past.output.contains("up to transaction 4 of "), "\(past)")
    #expect(
      past.output.hasSuffix("verified; the folder goes on to 5\n") || past.output.contains("anew"))
    #expect(
      folder.run("state", "@past.annals").output
        == folder.run("state", "@p.annals", "--at", "4").output)
    for arguments in [["verify", "@past.annals"], ["verify", "@new.annals"]] {
      #expect(folder.run(arguments).status == .done)
    }
    let again = folder.run("restore", "@f", "@new.annals")
    #expect(again.status == .couldNotRun && again.errors.contains("exists already"), "\(again)")
  }

  @Test func momentsByDate() throws {
    let folder = try CommandFolder()
    put(folder, "one", "two", "three")
    folder.run("ship", "@p.annals", "@f")
    let whole = folder.run("restore", "@f", "@a.annals", "--at", "2019-10-22 20:15:10")
    #expect(whole.output.contains("up to transaction 2 of 2019-10-22 20:15:"), "\(whole)")
    let before = folder.run("restore", "@f", "@b.annals", "--at", "2018")
    #expect(before.status != .done, "\(before)")
    let wrong = folder.run("restore", "@f", "@c.annals", "--at", "whenever")
    #expect(wrong.status == .usage || wrong.status == .couldNotRun, "\(wrong)")
    let beyond = folder.run("restore", "@f", "@d.annals", "--at", "9")
    #expect(
      beyond.errors == "annals: there is no transaction 9 yet: the newest is 3.\n", "\(beyond)")
  }

  @Test func whatIsWrongIsSaid() throws {
    let folder = try CommandFolder()
    #expect(
      folder.run("restore", "@f", "@x.annals").errors
        == "annals: there is no folder at @f; check the path.\n")
    put(folder, "one")
    #expect(folder.run("ship", "@none.annals", "@f").errors.contains("there is no file at @none"))
    #expect(
      folder.run("restore", "@f", "@x.annals").errors
        == "annals: nothing was shipped to @f yet; check the path.\n")
    folder.run("ship", "@p.annals", "@f")
    // Nothing was recorded then, and an empty store is nothing that was.
    let early = folder.run("restore", "@f", "@early.annals", "--at", "1999-01-01")
    #expect(early.status == .couldNotRun, "\(early)")
    #expect(
      early.errors.hasPrefix("annals: nothing was recorded up to 1999-01-01; the first "),
      "\(early)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("early.annals")))
    put(folder, "two")
    folder.run("ship", "@p.annals", "@f")
    put(folder, "three")
    folder.run("ship", "@p.annals", "@f")
    folder.run("put", "@other.annals", "Note/x", "text=a")
    let other = folder.run("ship", "@other.annals", "@f")
    #expect(other.status == .couldNotRun && other.errors.contains("@f is of store"), "\(other)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("f")).sorted()
    let second = try #require(names.first { $0.hasSuffix("00000001.segment") })
    try FileManager.default.removeItem(atPath: folder.file("f/\(second)"))
    let missing = folder.run("restore", "@f", "@x.annals")
    #expect(missing.status == .couldNotRun)
    #expect(
      missing.errors
        == "annals: \(second) is missing. The last transaction that can be restored without it is "
        + "1: name that one, or an earlier moment.\n", "\(missing)")
    #expect(folder.run("restore", "@f", "--list").status == .foundProblems)
    let past = folder.run("restore", "@f", "@x.annals", "--at", "1")
    #expect(past.status == .done && past.errors.contains("\(second) is missing"), "\(past)")
    for wrong in [
      ["restore", "@f"], ["restore", "@f", "@y", "--list"], ["ship", "@p.annals"],
      ["ship", "@p.annals", "@f", "--every", "1s"], ["ship", "@p.annals", "@f", "--keep", "0"],
      ["ship", "@p.annals", "@f", "--follow", "--every", "soon"],
      ["ship", "@p.annals", "@f", "--keep-for", "soon"],
    ] {
      #expect(folder.run(wrong).status == .usage, "\(wrong)")
    }
  }

  @Test func whatWasErasedIsSaid() throws {
    let folder = try CommandFolder()
    put(folder, "one", "two")
    folder.run("ship", "@p.annals", "@f")
    folder.run("erase", "@p.annals", "Note/one", "--reason", "asked for", "--yes")
    let told = folder.run("ship", "@p.annals", "@f")
    #expect(told.output.contains("base 2") && told.output.contains("@p.annals was rewritten"))
    #expect(
      told.errors
        == "annals: @f: base 1 still has values that were erased from @p.annals since. "
        + "--forget-erased removes them here; copies of the folder keep them\n", "\(told)")
    let forgotten = folder.run("ship", "@p.annals", "@f", "--forget-erased")
    #expect(
      forgotten.output.hasSuffix("removed base 1\n") && forgotten.errors == "", "\(forgotten)")
    #expect(folder.run("restore", "@f", "@x.annals").status == .done)
  }

  @Test func lengthsOfTime() {
    #expect(ShippingText.interval("500ms") == .milliseconds(500))
    #expect(ShippingText.interval("1s") == .seconds(1))
    #expect(ShippingText.interval("5m") == .seconds(300))
    #expect(ShippingText.interval("2h") == .seconds(7_200))
    for wrong in ["", "s", "1", "0s", "-1s", "1 s", "99999999999s", "1d"] {
      #expect(ShippingText.interval(wrong) == nil, "\(wrong)")
    }
  }

  /// It ships while others write, and ends with what was committed when the signal came.
  @Test(arguments: [SIGTERM, SIGINT]) func following(signal: Int32) throws {
    let folder = try CommandFolder()
    put(folder, "one")
    let process = Process()
    let lines = ProgramLines()
    process.executableURL = try built("annals")
    process.arguments = [
      "ship", folder.file("p.annals"), folder.file("f"), "--follow", "--every", "20ms",
    ]
    process.environment = ["TZ": "UTC"]
    process.environment?["ASAN_OPTIONS"] = ProcessInfo.processInfo.environment["ASAN_OPTIONS"]
    process.standardOutput = lines.pipe
    try process.run()
    #expect(lines.next()?.contains(": base 1, up to transaction 1, ") == true)
    let other = folder.run("ship", "@p.annals", "@f")
    #expect(other.status == .couldNotRun, "\(other)")
    #expect(other.errors.contains("another program ships into @f"), "\(other)")
    put(folder, "two", "three")
    kill(process.processIdentifier, signal)
    #expect(lines.next()?.hasSuffix("/f: up to transaction 3") == true)
    #expect(lines.next() == nil)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    folder.run("restore", "@f", "@x.annals")
    #expect(folder.run("log", "@x.annals").output == folder.run("log", "@p.annals").output)
  }
}
