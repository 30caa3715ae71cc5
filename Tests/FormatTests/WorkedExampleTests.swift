import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport
import Foundation
import Testing

/// The worked example in FORMAT.md, the fixture and the code say the same.
struct WorkedExampleTests {
  private static let fixture = AnnalsTestSupport.fixture("worked-example")

  @Test
  func theFixtureIsWhatTheCodeWrites() throws {
    let bytes = WorkedExample.bytes
    let stored = try Data(contentsOf: WorkedExampleTests.fixture)
    #expect(ContiguousArray(stored) == bytes)
  }

  @Test
  func theDocumentSpellsOutTheFixture() throws {
    let url = packageFolder.appending(path: "FORMAT.md")
    let document = try String(contentsOf: url, encoding: .utf8)
    let stored = try [UInt8](Data(contentsOf: WorkedExampleTests.fixture))
    // Lines of `OFFSET: bytes | comment` in the blocks fenced as `hex`; bytes not listed are zero.
    var spelled = [UInt8](repeating: 0, count: stored.count)
    var isListed = [Bool](repeating: false, count: stored.count)
    var isInside = false
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```hex"
        continue
      }
      guard isInside, let colon = line.firstIndex(of: ":") else { continue }
      var offset = try #require(Int(line[..<colon], radix: 16))
      let listed = line[line.index(after: colon)...].prefix { $0 != "|" }
      for text in listed.split(separator: " ") {
        try #require(offset < stored.count)
        #expect(!isListed[offset], "byte \(offset) is listed twice")
        spelled[offset] = try #require(UInt8(text, radix: 16))
        isListed[offset] = true
        offset += 1
      }
    }
    #expect(isListed.contains(true))
    let differing = stored.indices.filter { stored[$0] != spelled[$0] }
    #expect(differing.isEmpty, "FORMAT.md differs at \(differing.prefix(5))")
    #expect(document.contains("\(stored.count) bytes"))
  }

  @Test
  func theFixtureDecodes() throws {
    let stored = try ContiguousArray(Data(contentsOf: WorkedExampleTests.fixture))
    try stored.withUnsafeBytes { file in
      let header = try FileHeader.decode(file)
      #expect(header.store == WorkedExample.store)
      let slots = try (0..<2).map { index in
        let start = Int(FormatLimits.slotOffsets[index])
        let block = UnsafeRawBufferPointer(rebasing: file[start..<start + 4096])
        return try RootSlot.decode(block, index: index, seed: header.seed)
      }
      #expect(slots.map(\.sequence) == [2, 1])
      var offset = Int(FormatLimits.logStart)
      var previous = header.checksum
      var batch = ChangeBatch()
      while offset < file.count {
        let frame = try FrameHeader.decode(
          UnsafeRawBufferPointer(rebasing: file[offset..<offset + 24]), at: UInt64(offset),
          seed: header.seed)
        #expect(frame.previousChecksum == previous)
        let start = offset + FormatLimits.frameHeaderLength
        let payload = UnsafeRawBufferPointer(
          rebasing: file[start..<start + Int(frame.payloadLength)])
        let checksum = header.seed.checksum(payload, at: UInt64(offset))
        #expect(checksum == frame.payloadChecksum)
        if frame.kind == .transaction {
          try TransactionCodec.decode(payload, into: &batch)
        } else {
          try BlockCodec.decode(payload, into: &batch)
        }
        previous = frame.checksum
        offset += Int(frame.frameLength)
      }
      #expect(offset == Int(slots[0].durableMark))
      #expect(previous == slots[0].markChecksum)
      let expected = WorkedExample.commits.description + WorkedExample.block.description
      #expect(batch.description == expected)
    }
  }
}
