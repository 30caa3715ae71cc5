import Annals
import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsCommand

/// Values that go into a store from files, and out of it as they are.
@Suite struct RawValueTests {
  private let bytes: [UInt8] = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

  private func folder() throws -> CommandFolder {
    let folder = try CommandFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file("big")))
    return folder
  }

  @Test func aFileIsPutAndGot() throws {
    let folder = try folder()
    let put = folder.run("put", "@t.annals", "Photo/a", "title=Fog", "--from", "image=@big")
    #expect(put.status == .done && put.errors == "")
    #expect(put.output.hasPrefix("transaction 1"))
    let got = folder.run("get", "@t.annals", "Photo/a", "--raw", "image")
    #expect(got.status == .done && got.bytes == bytes)
    #expect(folder.run("get", "@t.annals", "Photo/a", "--raw", "title").output == "Fog")
    #expect(folder.schema("@t.annals").contains(##""name":"image""##))
    // The same again, alone, is no change; from standard input, too.
    let again = folder.run("put", "@t.annals", "Photo/a", "--from", "image=@big")
    #expect(again.output == "nothing to change\n")
    folder.input = bytes
    let input = folder.run("put", "@t.annals", "Photo/a", "--from", "image=-")
    #expect(input.output == "nothing to change\n")
    folder.input = Array(bytes.reversed())
    folder.run("put", "@t.annals", "Photo/b", "--from", "image=-")
    #expect(folder.run("get", "@t.annals", "Photo/b", "--raw", "image").bytes == bytes.reversed())
    #expect(folder.run("get", "@t.annals", "Photo/a", "--at", "1", "--raw", "image").bytes == bytes)
    #expect(folder.run("verify", "@t.annals").status == .done)
    // A text is set from a file of UTF-8, and shown whole.
    let text = String(repeating: "Fog \"é\u{1B}\n", count: 1_000)
    try folder.write(text, to: "text")
    folder.run("put", "@t.annals", "Photo/a", "--from", "title=@text")
    #expect(folder.run("get", "@t.annals", "Photo/a", "--raw", "title").output == text)
    let shown = folder.run("get", "@t.annals", "Photo/a").output
    let quoted = ValueText.plain(text, quoting: true)
    #expect(shown.contains("title  \"\(quoted)\"\n") && shown.contains("(2,500,000 bytes)"))
    #expect(folder.run("show", "@t.annals", "Photo/a").output.contains("title  \"Fog "))
    #expect(folder.run("blame", "@t.annals", "Photo/a").output.contains("title: \"Fog "))
    let wrong = folder.run("put", "@t.annals", "Photo/a", "--from", "title=@big")
    #expect(wrong.status == .couldNotRun && wrong.errors.contains("UTF-8"))
  }

  @Test(
    arguments: [
      ("0-0", 0..<1), ("0-499", 0..<500), ("1048575-1048576", 1_048_575..<1_048_577),
      ("2499999-", 2_499_999..<2_500_000), ("-3", 2_499_997..<2_500_000),
      ("2499990-9999999", 2_499_990..<2_500_000), ("2500000-", 2_500_000..<2_500_000),
      ("-9999999", 0..<2_500_000), ("-0", 2_500_000..<2_500_000),
      ("9223372036854775807-", 2_500_000..<2_500_000),
      ("0-9223372036854775807", 0..<2_500_000),
    ])
  func aRangeIsGot(text: String, range: Range<Int>) throws {
    let folder = try folder()
    folder.run("put", "@t.annals", "Photo/a", "--from", "image=@big")
    let got = folder.run("get", "@t.annals", "Photo/a", "--raw", "image", "--range", text)
    #expect(got.status == .done && got.bytes == Array(bytes[range]), "\(got.errors)")
  }

  @Test func mistakesAreNamed() throws {
    let folder = try folder()
    folder.run("put", "@t.annals", "Photo/a", "title=Fog", "--from", "image=@big")
    for text in ["", "-", "5", "5-3", "a-b", "0-1-2", "+1-2", "--3"] {
      let run = folder.run("get", "@t.annals", "Photo/a", "--raw", "image", "--range", text)
      #expect(run.status == .usage && run.output == "", "\(text)")
    }
    for arguments in [
      ["get", "@t.annals", "Photo/a", "--range", "0-1"],
      ["get", "@t.annals", "Photo/a", "--raw", "image", "--format", "jsonl"],
      ["put", "@t.annals", "Photo/a", "--from", "image"],
      ["put", "@t.annals", "Photo/a", "--from", "=x"],
      ["put", "@t.annals", "Photo/a", "--from", "image="],
      ["put", "@t.annals", "Photo/a", "title=x", "--from", "title=-"],
      ["put", "@t.annals", "Photo/a", "--from", "image=-", "--from", "title=-"],
    ] {
      #expect(folder.run(arguments).status == .usage, "\(arguments)")
    }
    for arguments in [
      ["get", "@t.annals", "Photo/a", "--raw", "none"],
      ["put", "@t.annals", "Photo/a", "--from", "image=@missing"],
      ["put", "@t.annals", "Photo/b", "--from", "imaeg=@big"],
    ] {
      let run = folder.run(arguments)
      #expect(run.status == .couldNotRun && run.output == "", "\(arguments)")
    }
    #expect(folder.run("log", "@t.annals", "--oneline").output.split(separator: "\n").count == 1)
    folder.terminal.isOutput = true
    #expect(folder.run("get", "@t.annals", "Photo/a", "--raw", "image").status == .usage)
  }
}
