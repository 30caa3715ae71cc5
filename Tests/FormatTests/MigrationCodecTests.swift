import AnnalsModel
import Testing

@testable import AnnalsFormat

/// The names of migrations, in the extension areas of records and blocks, and in directories.
struct MigrationCodecTests {
  static let lists: [[String]] = [
    ["a"], ["split the name"], ["dates", "Äste"], [String(repeating: "é", count: 127)],
    ["a", "b", "c"],
  ]

  private static func record(_ names: [String]) -> TransactionRecord {
    var record = TransactionRecord(number: 300, timestamp: Timestamp(microseconds: 9))
    var items = ExtensionArea.ofClockJump
    MigrationCodec.append(names, to: &items)
    // An item that nobody knows, behind those that are known.
    items = ExtensionArea.adding(77, [1, 2], to: items)
    record.extensions = items
    return record
  }

  private static func bytes(_ record: TransactionRecord, isBlock: Bool) -> ContiguousArray<UInt8> {
    var batch = ChangeBatch()
    batch.transactions.append(record)
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

  @Test(arguments: lists, [false, true]) func roundTrip(names: [String], isBlock: Bool) {
    let record = MigrationCodecTests.record(names)
    let bytes = MigrationCodecTests.bytes(record, isBlock: isBlock)
    let read = MigrationCodecTests.decoded(bytes, isBlock: isBlock)
    #expect(read.map(MigrationCodec.names) == names)
    #expect(read?.extensions == record.extensions)
    for length in bytes.indices {
      let part = ContiguousArray(bytes.prefix(length))
      #expect(MigrationCodecTests.decoded(part, isBlock: isBlock) == nil)
    }
  }

  /// A flipped bit is refused, or read as what writing gives these very bytes.
  @Test(arguments: lists) func flips(names: [String]) {
    let bytes = MigrationCodecTests.bytes(MigrationCodecTests.record(names), isBlock: false)
    var taken = 0
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let other = MigrationCodecTests.decoded(flipped, isBlock: false) else { continue }
      taken += 1
      #expect(MigrationCodecTests.bytes(other, isBlock: false) == flipped)
      #expect(MigrationCodec.names(of: other).allSatisfy(MigrationRecord.isValid))
    }
    #expect(taken > 0)
  }

  // MARK: Directories

  private static let made = [
    MigrationRecord(name: "split the name", number: 7),
    MigrationRecord(name: "Äste", number: 7), MigrationRecord(name: "dates", number: 900),
  ]

  private static func read(
    _ bytes: ContiguousArray<UInt8>, upTo number: Int64 = 1_000
  ) -> [MigrationRecord]? {
    try? bytes.withUnsafeBytes { bytes throws(DecodeFault) in
      var reader = ByteReader(bytes)
      return try MigrationCodec.decode(&reader, upTo: number)
    }
  }

  /// A truncated list is refused, unless it ends behind a whole migration.
  @Test func directoriesListThem() {
    var bytes: ContiguousArray<UInt8> = []
    var ends: [Int] = []
    for migration in MigrationCodecTests.made {
      MigrationCodec.encode([migration], into: &bytes)
      ends.append(bytes.count)
    }
    #expect(MigrationCodecTests.read(bytes) == MigrationCodecTests.made)
    #expect(MigrationCodecTests.read(bytes, upTo: 900) == MigrationCodecTests.made)
    #expect(MigrationCodecTests.read(bytes, upTo: 899) == nil)
    for length in bytes.indices {
      let read = MigrationCodecTests.read(ContiguousArray(bytes.prefix(length)))
      let count = ends.firstIndex(of: length).map { $0 + 1 }
      #expect(read == count.map { Array(MigrationCodecTests.made.prefix($0)) }, "\(length) bytes")
    }
  }

  @Test func flipsOfDirectories() {
    var bytes: ContiguousArray<UInt8> = []
    MigrationCodec.encode(MigrationCodecTests.made, into: &bytes)
    var taken = 0
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << UInt8(bit % 8)
      guard let read = MigrationCodecTests.read(flipped) else { continue }
      taken += 1
      var again: ContiguousArray<UInt8> = []
      MigrationCodec.encode(read, into: &again)
      #expect(again == flipped)
      #expect(read.allSatisfy { (1...1_000).contains($0.number) })
      #expect(read.map(\.number) == read.map(\.number).sorted())
    }
    #expect(taken > 0)
  }

  @Test func theBytes() {
    var items: ContiguousArray<UInt8> = []
    MigrationCodec.append(["ab", "c"], to: &items)
    #expect(items == [5, 4, 0x61, 0x62, 0x0A, 0x63])
    MigrationCodec.append([], to: &items)
    #expect(items.count == 6)
    var list: ContiguousArray<UInt8> = []
    MigrationCodec.encode([MigrationRecord(name: "ab", number: 300)], into: &list)
    #expect(list == [0xAC, 2, 2, 0x61, 0x62])
  }
}
