import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

struct SegmentObjectsTests {
  private func decode(_ bytes: ContiguousArray<UInt8>) throws -> [SegmentObjects] {
    try bytes.withUnsafeBytes { try TableCodec<SegmentObjects>.decode($0) }
  }

  private func encode(_ entry: SegmentObjects) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    TableCodec<SegmentObjects>.encode([entry], into: &bytes)
    return bytes
  }

  /// Ranges that rise, of a few entities.
  private func ranges(_ random: inout SplitMix64) -> ContiguousArray<RowRange> {
    var result: ContiguousArray<RowRange> = []
    for entity in 1...EntityNumber(random.next() % 4 + 1) {
      var row = Int64(random.next() % 1_000_000)
      for _ in 0..<(random.next() % 40 + 1) {
        row += Int64(random.next() % 90) + 1
        let last = row + (random.next() % 3 == 0 ? Int64(random.next() % 50) : 0)
        result.append(RowRange(entity, row...last))
        row = last
      }
    }
    return result
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func whatIsWrittenIsRead(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let ranges = ranges(&random)
    let written = try #require(SegmentObjects(ranges))
    let read = try #require(try decode(encode(written)).first)
    #expect(read == written)
    #expect(try read.ranges() == ranges)
    for entity in 0...5 as ClosedRange<EntityNumber> {
      for range in ranges {
        for row in [range.first - 1, range.first, range.last, range.last + 1] {
          let isListed = ranges.contains {
            $0.entity == entity && $0.first <= row && row <= $0.last
          }
          let found = try read.mayContain(any: [ObjectReference(entity: entity, row: row)])
          #expect(found == isListed, "\(entity)#\(row)")
        }
      }
    }
  }

  @Test func unknownObjectsMayBeAny() throws {
    let read = try #require(try decode(encode(.unknown)).first)
    #expect(try read.mayContain(any: [ObjectReference(entity: 7, row: 9)]))
    #expect(try read.ranges().isEmpty)
    #expect(encode(.unknown) == [1, 0])
  }

  /// So that what is decoded is bounded by what is read.
  @Test func tooManyRangesAreNotWritten() {
    let far = (1...Int64(RowRange.maximumCount)).map { RowRange(1, $0 * $0...$0 * $0) }
    #expect(SegmentObjects(ContiguousArray(far)) != nil)
    #expect(SegmentObjects(ContiguousArray(far) + [RowRange(2, 1...1)]) == nil)
    // Every second row takes no bits.
    let regular = (1...Int64(1_000)).map { RowRange(1, 2 * $0...2 * $0) }
    #expect(SegmentObjects(ContiguousArray(regular)) == nil)
  }

  /// Entity, count, and the two runs of numbers.
  @Test(
    arguments: [
      ([1, 1, 2, 0, 2, 0], "ranges of rows out of order"),  // row 0
      ([1, 1, 2, 4, 2, 1], "ranges of rows out of order"),  // a length of -1
      ([1, 2, 2, 4, 4, 2, 0, 0], "ranges of rows out of order"),  // row 2 twice
      ([1, 2, 2, 4, 6, 2, 4, 0], "ranges of rows out of order"),  // from 2 to 4, from 3 to 3
      ([1, 0], "ranges of rows out of order"),
      ([2, 1, 2, 4, 2, 0, 1, 1, 2, 4, 2, 0], "entities out of order"),
      ([0, 1, 2, 4, 2, 0], "entities out of order"),
    ] as [(ContiguousArray<UInt8>, String)])
  func whatDoesNotRiseIsRefused(bytes: ContiguousArray<UInt8>, reason: String) throws {
    let entry = try #require(try decode([1, UInt8(bytes.count)] + bytes).first)
    #expect { try entry.ranges() } throws: { "\($0)".contains(reason) }
    #expect(throws: DecodeFault.self) {
      try entry.mayContain(any: [ObjectReference(entity: 1, row: 2)])
    }
  }

  @Test func aCountBeyondTheBytesIsRefused() throws {
    // 64 ranges in eight bytes, of which one bit pattern takes none.
    let bytes: ContiguousArray<UInt8> = [1, 64, 1, 2, 4, 0, 0, 0, 0]
    let entry = try #require(try decode([1, 9] + bytes).first)
    #expect(try entry.ranges().count == 64)
    let more = try #require(try decode([1, 9] + [1, 73] + bytes.dropFirst(2)).first)
    #expect(throws: DecodeFault.self) { try more.ranges() }
  }

  @Test func noTruncationAndNoFlippedBitTraps() throws {
    var random = SplitMix64(seed: 4)
    let bytes = encode(try #require(SegmentObjects(ranges(&random))))
    for length in 0..<bytes.count {
      #expect(throws: DecodeFault.self) { try decode(ContiguousArray(bytes.prefix(length))) }
    }
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      guard let entry = try? decode(flipped).first, let ranges = try? entry.ranges() else {
        continue
      }
      for range in ranges { #expect(range.first <= range.last && range.first > 0) }
    }
  }
}
