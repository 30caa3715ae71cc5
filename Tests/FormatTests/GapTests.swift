import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Gap records, the gaps of directories, the header that slots repeat, and lost large values.
struct GapTests {
  private static func lost() -> LostTransactions {
    var lost = LostTransactions(
      first: 120, last: 122, after: Timestamp(microseconds: 1_571_767_200_000_000),
      salvaged: Timestamp(microseconds: 1_571_768_400_000_000))
    lost.before = Timestamp(microseconds: 1_571_767_260_000_000)
    lost.reason = "payload checksum mismatch"
    lost.stale = [
      LostTransactions.StaleCount(entity: 1, objects: 3),
      LostTransactions.StaleCount(entity: 4, objects: 70_000),
    ]
    lost.openings = [Opening(number: 7, id: 9, processName: "notes", processID: 311)]
    return lost
  }

  private static func batch() -> ChangeBatch {
    var batch = ChangeBatch(.insert, 1, 5, [(2, .null, .string("Fog"))])
    var record = TransactionRecord(number: 122, timestamp: lost().after)
    record.lost = lost()
    record.newNames = ["Ann"]
    record.firstNewName = 3
    batch.append(record)
    return batch
  }

  @Test(arguments: [true, false])
  func gapRecords(byRow: Bool) throws {
    let batch = GapTests.batch()
    let bytes = byRow ? batch.row() : batch.block()
    func decode(_ bytes: UnsafeRawBufferPointer) throws -> ChangeBatch {
      var result = ChangeBatch()
      if byRow {
        try TransactionCodec.decode(bytes, into: &result)
      } else {
        try BlockCodec.decode(bytes, into: &result)
      }
      return result
    }
    let decoded = try bytes.withUnsafeBytes { try decode($0) }
    #expect(decoded.transactions[0].lost == GapTests.lost())
    #expect(decoded.transactions[0].firstNumber == 120)
    #expect(decoded.description == batch.description)
    for count in 0..<bytes.count {
      bytes.withUnsafeBytes { bytes in
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        #expect((try? decode(part)) == nil, "\(count) bytes")
      }
    }
    // No flipped bit crashes.
    for bit in 0..<bytes.count * 8 {
      var copy = bytes
      copy[bit / 8] ^= 1 << UInt8(bit % 8)
      _ = copy.withUnsafeBytes { try? decode($0) }
    }
  }

  @Test func gapsOfDirectories() throws {
    var directory = CheckpointDirectory(number: 130)
    var first = GapTests.lost()
    first.openings = []
    var second = first
    second.first = 125
    second.last = 125
    second.before = nil
    second.isExact = true
    second.stale = []
    directory.gaps = [first, second]
    let bytes = directory.encode()
    let decoded = try bytes.withUnsafeBytes { try CheckpointDirectory.decode($0) }
    #expect(decoded.gaps == directory.gaps)
    directory.gaps = [second, first]
    let wrong = directory.encode()
    #expect(throws: DecodeFault.self) {
      try wrong.withUnsafeBytes { _ = try CheckpointDirectory.decode($0) }
    }
  }

  @Test func slotsRepeatTheHeader() throws {
    var header = FileHeader(
      store: RawUUID(high: 1, low: 2), generation: 4, base: 57,
      created: Timestamp(microseconds: 9))
    header.prunedAt = Timestamp(microseconds: 10)
    header.prunedBy = "ann"
    header.baseCheckpointOffset = 12_288
    _ = header.encode()
    var slot = RootSlot(sequence: 2, durableMark: 16_000, head: 77, markChecksum: 1)
    slot.header = header
    let bytes = slot.encode(seed: header.seed)
    let copy = bytes.withUnsafeBytes { RootSlot.header(in: $0) }
    #expect(copy == header)
    let decoded = try bytes.withUnsafeBytes {
      try RootSlot.decode($0, index: 0, seed: header.seed)
    }
    #expect(decoded == slot)
    slot.header = nil
    let bare = slot.encode(seed: header.seed)
    #expect(bare.withUnsafeBytes { RootSlot.header(in: $0) } == nil)
    #expect(
      try bare.withUnsafeBytes { try RootSlot.decode($0, index: 0, seed: header.seed) } == slot)
  }

  @Test func lostLargeValues() throws {
    var payload: ContiguousArray<UInt8> = []
    LargeValueCodec.encode(LargeValuePiece(lost: 7, totalLength: 5000), into: &payload)
    try payload.withUnsafeBytes {
      let part = try LargeValueCodec.decode($0)
      #expect(part.isLost && part.isFirst && part.number == 7 && part.totalLength == 5000)
    }
  }
}
