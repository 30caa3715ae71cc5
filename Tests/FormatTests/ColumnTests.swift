import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

struct ColumnTests {
  private func roundTrip(_ values: [Int64]) throws -> (layout: UInt8?, length: Int) {
    var bytes: ContiguousArray<UInt8> = []
    values.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    var output = [Int64](repeating: -99, count: values.count)
    try bytes.withUnsafeBytes { bytes in
      try output.withUnsafeMutableBufferPointer { output in
        var reader = ByteReader(bytes)
        try IntegerColumn.decode(&reader, into: output)
        try reader.expectEnd()
      }
    }
    #expect(output == values)
    return (bytes.first, bytes.count)
  }

  @Test
  func integersTakeTheirSmallestLayout() throws {
    #expect(try roundTrip([]) == (nil, 0))
    #expect(try roundTrip([7]) == (2, 2))
    #expect(try roundTrip(Array(repeating: 5, count: 1000)) == (0, 3))
    #expect(try roundTrip(Array(1...1000)) == (1, 4))
    #expect(try roundTrip((0..<1000).map { $0 % 3 }) == (0, 253))
    _ = try roundTrip([Int64.min, Int64.max, 0, -1])
    let outlier = Array(repeating: Int64(1), count: 999) + [1 << 40]
    #expect(try roundTrip(outlier).layout == 2)
    let rising = (0..<999).map { Int64($0) * 2000 + $0 % 2 } + [1 << 50]
    #expect(try roundTrip(rising).layout == 3)
  }

  @Test(arguments: 0...64)
  func everyWidth(width: Int) throws {
    var random = SeededRandom(seed: UInt64(width))
    let mask: UInt64 = width == 64 ? .max : 1 << UInt64(width) - 1
    for count in [1, 2, 7, 8, 9, 63, 64, 65, 200] {
      let values = (0..<count).map { _ in Int64(bitPattern: random.next() & mask) &- 17 }
      _ = try roundTrip(values)
      var packed: ContiguousArray<UInt8> = []
      values.withUnsafeBufferPointer {
        BitPacking.pack($0, base: -17, width: width, into: &packed)
      }
      #expect(packed.count == BitPacking.byteCount(count, width: width))
      var output = [Int64](repeating: 0, count: count)
      packed.withUnsafeBytes { packed in
        output.withUnsafeMutableBufferPointer {
          BitPacking.unpack(packed, base: -17, width: width, into: $0)
        }
      }
      #expect(output == values)
    }
  }

  /// Encodes texts, decodes them, and tells the layout and length.
  private func roundTrip(texts: [String]) throws -> (layout: UInt8, length: Int) {
    var arena: ContiguousArray<UInt8> = []
    let cells = texts.map { ValueCell(.string($0), appendingTo: &arena) }
    var bytes: ContiguousArray<UInt8> = []
    arena.withUnsafeBytes { arena in
      cells.withUnsafeBufferPointer { CellColumn.encode($0, in: arena, into: &bytes) }
    }
    var decoded = ContiguousArray<UInt8>([1, 2, 3])
    var output = [ValueCell](repeating: .null, count: cells.count)
    try bytes.withUnsafeBytes { bytes in
      try output.withUnsafeMutableBufferPointer { output in
        var reader = ByteReader(bytes)
        var cells = CellReader(arenaLength: decoded.count)
        try cells.decode(&reader, into: output, arena: &decoded)
        try reader.expectEnd()
      }
    }
    let read = decoded.withUnsafeBytes { arena in output.map { $0.value(in: arena) } }
    #expect(read == texts.map { .string($0) })
    #expect(bytes[0] == ValueTag.string.rawValue)
    return (bytes[1], bytes.count)
  }

  @Test
  func textsTakeASuitableLayout() throws {
    #expect(try roundTrip(texts: ["fog"]).layout == 0)
    #expect(try roundTrip(texts: ["", "", "x"]).layout == 0)
    let few = (0..<500).map { ["sunset", "coffee", "run"][$0 % 3] }
    // Kind, layout, count; the three, of lengths 6, 6 and 3; 500 times two bits with their head.
    #expect(try roundTrip(texts: few) == (2, 3 + (1 + 1 + 1 + 1 + 1) + 15 + 3 + 125))
    let many = (0..<500).map { number in
      String(decoding: String(number * 7_919 % 10_007).utf8.map { $0 + 50 }, as: UTF8.self)
    }
    #expect(try roundTrip(texts: many).layout == 0)
    let prefixed = many.map { "https://example.com/a/b/c/\($0)" }
    #expect(try roundTrip(texts: prefixed).layout == 1)
    // The list of distinct values has shared prefixes itself.
    let pool = (0..<1500).map { prefixed[$0 * $0 % 401] }
    #expect(try roundTrip(texts: pool).layout == 2)
  }

  @Test
  func envelopesDeflateOnlyWhatGains() throws {
    var random = SeededRandom(seed: 1)
    let noise = (0..<5000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let text = Array(String(repeating: "all work and no play ", count: 50).utf8)
    for (bytes, deflated) in [(noise, false), (text, true), ([], false), ([1, 2, 3], false)] {
      var output: ContiguousArray<UInt8> = []
      var deflate = Deflate()
      bytes.withUnsafeBytes { ChunkSection.append($0, to: &output, deflate: &deflate) }
      #expect((output[0] & 1 == 1) == deflated)
      #expect((output.count < bytes.count) == deflated)
      try output.withUnsafeBytes { payload in
        var reader = ByteReader(payload)
        var columns = ColumnReader()
        let column = try columns.read(&reader)
        #expect(column.elementsEqual(bytes))
        try reader.expectEnd()
      }
    }
  }
}
