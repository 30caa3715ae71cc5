import Testing

@testable import AnnalsCommand

/// Arguments that are no text are refused: mended, they would name something else.
@Suite struct RawArgumentTests {
  @Test func textStaysAsItIs() throws {
    let texts = ["state", "caf\u{E9}.annals", "cafe\u{301}.annals", "", "\u{FFFD}", "a b\tc\n"]
    let decoded = try RawArguments(texts.map { Array($0.utf8) }).decoded()
    #expect(decoded.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
  }

  @Test(arguments: [
    ([0x63, 0x61, 0x66, 0xE9] as [UInt8], "`caf\\xE9`"), ([0xC3], "`\\xC3`"),
    ([0x61, 0x0A, 0xFF], "`a\\x0A\\xFF`"), ([0xED, 0xA0, 0x80], "`\\xED\\xA0\\x80`"),
    ([0xC0, 0xAF], "`\\xC0\\xAF`"),
  ])
  func bytesThatAreNone(_ bytes: [UInt8], _ shown: String) {
    let failure = #expect(throws: CommandFailure.self) {
      try RawArguments([Array("state".utf8), bytes]).decoded()
    }
    #expect(failure?.status == .usage)
    #expect(failure?.message.hasPrefix("argument 2 is not UTF-8: \(shown). ") == true)
  }

  @Test func theProcessHasArguments() throws {
    let all = try RawArguments.ofProcess.decoded()
    #expect(all == Array(CommandLine.arguments.dropFirst()))
  }
}
