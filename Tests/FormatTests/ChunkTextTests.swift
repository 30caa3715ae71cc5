import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Byte string runs as chunks hold them, in every layout.
@Suite struct ChunkTextTests {
  private static func texts(_ layout: ValuesLayout, count: Int, seed: UInt64) -> [[UInt8]] {
    var random = SeededRandom(seed: seed)
    func letters(_ count: Int) -> [UInt8] { (0..<count).map { _ in 97 + UInt8(random.below(26)) } }
    let few = (0..<5).map { letters($0 * 7) }
    return (0..<count).map { index in
      switch layout {
      case .plain: letters(random.below(30))
      case .prefixed: Array("https://annals.example/posts/".utf8) + letters(1 + random.below(9))
      case .distinct: few[random.below(few.count)]
      case .numbered:
        Array("A title, \(random.below(1_000_000)) of \(index % 2 == 0 ? "many" : "all")".utf8)
      }
    }
  }

  private static func values(_ texts: [[UInt8]]) -> ColumnValues {
    var words = ContiguousArray<UInt64>(repeating: 0, count: 64)
    for row in texts.indices { words[row >> 6] |= 1 << UInt64(row & 63) }
    var values = ColumnValues(kind: .string, rows: RowPresence(words: words))
    values.lengths = ContiguousArray(texts.map { UInt64($0.count) })
    values.bytes = ContiguousArray(texts.joined())
    return values
  }

  /// The run, by layout. Chunks are written without lists of distinct values, and read with them.
  private static func encoded(
    _ values: ColumnValues, _ layout: ValuesLayout
  ) -> ContiguousArray<UInt8> {
    guard layout == .distinct else { return BytesColumn.encode(values) }
    var start: UInt64 = 0
    let cells = ContiguousArray(
      values.lengths.map { length in
        defer { start += length }
        return ValueCell(tag: .string, bits: start, length: UInt32(length))
      })
    var indexes = ContiguousArray<Int64>(repeating: 0, count: cells.count)
    var bytes: ContiguousArray<UInt8> = []
    values.bytes.withUnsafeBytes { arena in
      cells.withUnsafeBufferPointer { cells in
        indexes.withUnsafeMutableBufferPointer {
          BytesColumn.encode(cells, in: arena, indexes: $0, into: &bytes)
        }
      }
    }
    return bytes
  }

  private func decoded(_ bytes: ContiguousArray<UInt8>, count: Int) throws -> ColumnValues {
    var values = ColumnValues(
      kind: .string, rows: RowPresence(words: ContiguousArray(repeating: 0, count: 64)))
    try bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      try BytesColumn.decode(&reader, count: count, into: &values)
      try reader.expectEnd()
    }
    return values
  }

  @Test(arguments: [ValuesLayout.plain, .prefixed, .distinct, .numbered], [1, 2, 63, 500, 4_096])
  func `texts of every layout come back as they were`(layout: ValuesLayout, count: Int) throws {
    for seed in 0..<4 as Range<UInt64> {
      let texts = ChunkTextTests.texts(layout, count: count, seed: seed)
      let values = ChunkTextTests.values(texts)
      let bytes = ChunkTextTests.encoded(values, layout)
      // Which layout pays is known where there are many.
      if count >= 500 { #expect(bytes.first == layout.rawValue) }
      let read = try decoded(bytes, count: count)
      #expect(read.lengths == values.lengths)
      #expect(read.bytes == values.bytes)
      #expect(throws: DecodeFault.self) { try decoded(bytes.dropLast().asBytes, count: count) }
      #expect(throws: DecodeFault.self) { try decoded(bytes + [0], count: count) }
    }
  }

  @Test(
    arguments: [
      // A length below nothing, alone and beside one that makes up for it.
      ([0, 2, 1], 1),
      ([0, 2, 3, 8, 97, 97], 2),
      // A length beyond all limits; two that overflow together.
      ([0, 2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], 1),
      (
        [
          0, 2, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0xFE, 0xFF, 0xFF, 0xFF,
          0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,
        ], 2
      ),
      // More bytes than there are.
      ([0, 2, 6, 97, 97], 1),
      // A prefix longer than the text before; one that is negative.
      ([1, 2, 2, 4, 2, 4, 97, 98], 2),
      ([1, 2, 2, 4, 2, 1, 97, 98, 99, 100], 2),
      // A layout of a later version.
      ([4, 0], 1),
    ] as [([UInt8], Int)])
  func `what cannot be is refused`(bytes: [UInt8], count: Int) {
    #expect(throws: DecodeFault.self) { try decoded(ContiguousArray(bytes), count: count) }
  }
}

extension RandomAccessCollection<UInt8> {
  fileprivate var asBytes: ContiguousArray<UInt8> { ContiguousArray(self) }
}
