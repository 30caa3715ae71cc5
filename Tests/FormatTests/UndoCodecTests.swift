import AnnalsModel
import Testing

@testable import AnnalsFormat

/// Groups, and what transactions undo, in the extension areas of records and blocks.
struct UndoCodecTests {
  private static let number: Int64 = 1 << 40

  static let records: [UndoRecord] = [
    UndoRecord(group: "drag"),
    UndoRecord(group: String(repeating: "é", count: 127)),
    UndoRecord(act: .undoes(1...1)),
    UndoRecord(act: .undoes(300...1 << 20)),
    UndoRecord(group: "g", act: .undoes(1...number - 1)),
    UndoRecord(group: "g", act: .redoes(number - 1)),
    UndoRecord(act: .redoes(1)),
  ]

  private static func record(_ undo: UndoRecord) -> TransactionRecord {
    var record = TransactionRecord(number: number, timestamp: Timestamp(microseconds: 9))
    var items = ExtensionArea.ofClockJump
    UndoCodec.append(undo, to: &items)
    // An item that nobody knows, behind those that are known.
    items = ExtensionArea.adding(77, [1, 2], to: items)
    record.extensions = items
    return record
  }

  private static func bytes(_ undo: UndoRecord, isBlock: Bool) -> ContiguousArray<UInt8> {
    var batch = ChangeBatch()
    batch.transactions.append(record(undo))
    var bytes: ContiguousArray<UInt8> = []
    if isBlock {
      BlockCodec.encode(batch, into: &bytes)
    } else {
      TransactionCodec.encode(batch, transaction: 0, into: &bytes)
    }
    return bytes
  }

  private static func decoded(
    _ bytes: ContiguousArray<UInt8>, isBlock: Bool
  ) -> TransactionRecord? {
    var batch = ChangeBatch()
    do {
      try bytes.withUnsafeBytes {
        if isBlock {
          try BlockCodec.decode($0, isContinued: false, into: &batch)
        } else {
          try TransactionCodec.decode($0, into: &batch)
        }
      }
    } catch {
      return nil
    }
    return batch.transactions.first
  }

  @Test(arguments: records, [false, true]) func roundTrip(undo: UndoRecord, isBlock: Bool) {
    let bytes = UndoCodecTests.bytes(undo, isBlock: isBlock)
    let read = UndoCodecTests.decoded(bytes, isBlock: isBlock)
    #expect(read.map(UndoCodec.undo) == undo)
    #expect(read?.extensions == UndoCodecTests.record(undo).extensions)
    for length in bytes.indices {
      #expect(
        UndoCodecTests.decoded(ContiguousArray(bytes.prefix(length)), isBlock: isBlock) == nil)
    }
  }

  /// A flipped bit is refused, or read as what writing gives these very bytes.
  @Test(arguments: records) func flips(undo: UndoRecord) {
    let bytes = UndoCodecTests.bytes(undo, isBlock: false)
    var taken = 0
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let other = UndoCodecTests.decoded(flipped, isBlock: false) else { continue }
      taken += 1
      var batch = ChangeBatch()
      batch.transactions.append(other)
      var again: ContiguousArray<UInt8> = []
      TransactionCodec.encode(batch, transaction: 0, into: &again)
      #expect(again == flipped)
      let read = UndoCodec.undo(of: other)
      if let act = read.act { #expect(act.numbers.upperBound < other.number) }
    }
    #expect(taken > 0)
  }

  @Test func theBytes() {
    var items: ContiguousArray<UInt8> = []
    UndoCodec.append(UndoRecord(group: "drag", act: .undoes(3...5)), to: &items)
    #expect(items == [3, 4, 0x64, 0x72, 0x61, 0x67, 4, 3, 1, 3, 2])
    items = []
    UndoCodec.append(UndoRecord(act: .redoes(300)), to: &items)
    #expect(items == [4, 3, 2, 0xAC, 2])
    UndoCodec.append(UndoRecord(), to: &items)
    #expect(items.count == 5)
  }
}
