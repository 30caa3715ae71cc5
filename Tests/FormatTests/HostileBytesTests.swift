import AnnalsModel
import Testing

@testable import AnnalsFormat

/// Bytes made to hurt: each is refused before memory is taken for it.
struct HostileBytesTests {
  private func decodeBlock(_ bytes: ContiguousArray<UInt8>) throws {
    var batch = ChangeBatch()
    try bytes.withUnsafeBytes { try BlockCodec.decode($0, into: &batch) }
  }

  @Test
  func bombsAreRefusedByTheirRatio() {
    var column: ContiguousArray<UInt8> = []
    column.append(varInt: UInt64(60 << 20) << 2 | 1)
    column.append(contentsOf: [4, 0, 0, 0, 0])
    column.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var columns = ColumnReader()
      #expect(throws: DecodeFault.self) { _ = try columns.read(&reader) }
    }
  }

  /// Two of the four ways to store a section are for later versions, which is no damage.
  @Test(arguments: UInt8(0)..<4)
  func compressionsOfLaterVersions(compression: UInt8) {
    let bytes: [UInt8] = [2 << 2 | compression, 7, 8, 0]
    bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var columns = ColumnReader()
      var found: DecodeFault?
      do throws(DecodeFault) { _ = try columns.read(&reader) } catch { found = error }
      #expect((found == nil) == (compression == 0))
      #expect(found?.isNewer ?? false == (compression > 1))
      var chunk = ByteReader(bytes)
      var inflate = Inflate()
      found = nil
      do throws(DecodeFault) {
        _ = try ChunkSection.read(&chunk, limit: 99, inflate: &inflate)
      } catch {
        found = error
      }
      #expect(found?.isNewer ?? false == (compression > 1))
    }
  }

  @Test
  func columnsTogetherAreBounded() throws {
    // Each of these honest streams is within the limit; all of them are not.
    let zeros = ContiguousArray<UInt8>(repeating: 0, count: 20 << 20)
    var column: ContiguousArray<UInt8> = []
    var deflate = Deflate()
    zeros.withUnsafeBytes { ChunkSection.append($0, to: &column, deflate: &deflate) }
    let payload = column + column + column + column
    try payload.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var columns = ColumnReader()
      for _ in 0..<3 {
        let column = try columns.read(&reader)
        #expect(column.count == zeros.count)
      }
      #expect(throws: DecodeFault.self) { _ = try columns.read(&reader) }
    }
  }

  /// A list of equal numbers, in its section.
  private func equal(_ length: Int64) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = [0]
    bytes.append(zigzag: length)
    bytes.append(0)
    return [UInt8(bytes.count << 2)] + bytes
  }

  /// A section that says it inflates to so many bytes, from four.
  private func bomb(_ length: UInt64) -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: length << 2 | 1)
    return bytes + [4, 0, 0, 0, 0]
  }

  /// Sections of chunks that say they are long, where the count of values allows it and where not.
  /// Memory for 2^60 bytes would not be had.
  @Test
  func sectionsOfChunksAreBounded() {
    let rows: ContiguousArray<UInt8> = [1, 1, 1, 128, 8]
    let column: ContiguousArray<UInt8> = [2, 1, 1, 1, 128, 32]
    let index: ContiguousArray<UInt8> = [3, 1, 1, 128, 128, 1, 0]
    // 4,096 tags of texts.
    let tags: ContiguousArray<UInt8> = [0x80, 0x80, 1] + ContiguousArray(repeating: 4, count: 4096)
    let tooLong = DecodeFault.Reason("more than a deflate stream of this length can hold")
    for length: UInt64 in [60 << 20, 1 << 60] {
      let section = bomb(length)
      // Rows as bits; numbers; UUIDs; doubles, together and by planes; texts;
      // tags; values of any kind; an index.
      let chunks: [ContiguousArray<UInt8>] = [
        rows + [1] + section, column + [2, 0] + section, column + [6, 0] + section,
        column + [3, 0, 0] + section, column + [3, 0, 1] + section,
        column + [4, 0, 0] + section, column + [13, 0] + section,
        column + [13, 0] + tags + [0] + section, index + equal(0) + equal(100) + section,
      ]
      for (number, chunk) in chunks.enumerated() {
        let fault = #expect(throws: DecodeFault.self) { try decodeChunk(chunk) }
        switch fault {
        case .tooLarge: break
        case .invalid(_, let reason): #expect(reason == tooLong, "chunk \(number)")
        default: Issue.record("chunk \(number): \(String(describing: fault))")
        }
      }
    }
    // 4,096 times a text of a little over 16 KiB: more than 64 MiB together.
    var run: ContiguousArray<UInt8> = [2, 1, 0, 2]
    run.append(zigzag: 16_385)
    run += ContiguousArray(repeating: 7, count: 16_385) + [0, 0, 0]
    var texts = column + [4, 0, 0]
    texts.append(varInt: UInt64(run.count) << 2)
    texts += run
    let limit = UInt64(FormatLimits.maximumDecodedLength)
    let fault = #expect(throws: DecodeFault.self) { try decodeChunk(texts) }
    if case .tooLarge(_, limit) = fault {} else { Issue.record("\(String(describing: fault))") }
  }

  private func decodeChunk(_ bytes: ContiguousArray<UInt8>) throws {
    try bytes.withUnsafeBytes { bytes in
      switch bytes[0] {
      case 1: _ = try RowsChunkCodec.decode(bytes)
      case 2: _ = try ColumnChunkCodec.decode(bytes)
      default: _ = try IndexChunkCodec.decode(bytes)
      }
    }
  }

  /// A record is never deflated: a frame that says so is of a later version, and refused by its
  /// header, whatever its kind.
  @Test(arguments: [FrameKind.transaction, .block, .largeValue, .chunk, .checkpoint])
  func compressedFramesAreRefused(kind: FrameKind) {
    let seed = FrameSeed(store: RawUUID(high: 1, low: 2), generation: 1)
    var header = FrameHeader(
      kind: kind, flags: FrameFlags(rawValue: 4), payloadLength: 9, payloadChecksum: 0,
      previousChecksum: 0, durableMarkBack: 0)
    var bytes: ContiguousArray<UInt8> = []
    header.encode(into: &bytes, at: 12_288, seed: seed)
    #expect(throws: DecodeFault.self) {
      try bytes.withUnsafeBytes { _ = try FrameHeader.decode($0, at: 12_288, seed: seed) }
    }
  }

  @Test
  func sharedPrefixesCannotMultiply() throws {
    // A value of 1 MiB, and 250,000 more that share all of it and add nothing.
    let long = ContiguousArray<UInt8>(repeating: 65, count: 1 << 20)
    let count = 250_000
    var bytes: ContiguousArray<UInt8> = [ValueTag.string.rawValue, 1]
    for run in [count, count - 1] {
      let lengths = ContiguousArray(repeating: Int64(long.count), count: run)
      lengths.withUnsafeBufferPointer { IntegerColumn.encode($0, into: &bytes) }
    }
    bytes.append(contentsOf: long)
    var arena: ContiguousArray<UInt8> = []
    var output = [ValueCell](repeating: .null, count: count)
    bytes.withUnsafeBytes { bytes in
      output.withUnsafeMutableBufferPointer { output in
        var reader = ByteReader(bytes)
        var cells = CellReader(arenaLength: 0)
        #expect(throws: DecodeFault.self) {
          try cells.decode(&reader, into: output, arena: &arena)
        }
      }
    }
    #expect(arena.isEmpty)
  }

  @Test
  func countsAreBounded() {
    // A block that says it has 2^60 transactions, changes, entities, names.
    let huge: [UInt8] = [128, 128, 128, 128, 128, 128, 128, 128, 16]
    for position in 0..<5 {
      var fields: [[UInt8]] = [[1], [0], [0], [1], [1, 0]]
      fields[position] = huge
      let bytes = ContiguousArray([0, 1] + fields.joined())
      #expect(throws: DecodeFault.self) { try decodeBlock(bytes) }
    }
    // A record whose change lists properties beyond the limit, or more changes than bytes.
    for tail: [UInt8] in [[1, 4, 2, 0xFF, 0xFF, 3], [0xFF, 0x7F], [1, 4, 2, 2, 1, 0, 0]] {
      let bytes: [UInt8] = [1, 0, 0, 0, 0, 0] + tail
      var batch = ChangeBatch()
      #expect(throws: DecodeFault.self) {
        try bytes.withUnsafeBytes { try TransactionCodec.decode($0, into: &batch) }
      }
      #expect(batch.transactions.isEmpty && batch.changes.isEmpty && batch.properties.isEmpty)
    }
  }

  @Test(
    arguments: [
      [12], [13], [15], [0x40], [0x80], [0x12], [0x24], [1, 2], [2], [2, 0x80, 0], [6, 1, 2],
      [4, 5, 65], [0x14, 1], [11, 2, 1, 1], [0x2B, 0],
    ] as [[UInt8]])
  func valuesThatMeanNothing(bytes: [UInt8]) {
    #expect(throws: DecodeFault.self) {
      try bytes.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        _ = try ValueCodec.decode(&reader)
      }
    }
  }
}
