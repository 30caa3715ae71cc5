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
    column.append(varInt: UInt64(60 << 20) << 1 | 1)
    column.append(contentsOf: [4, 0, 0, 0, 0])
    column.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      var columns = ColumnReader()
      #expect(throws: DecodeFault.self) { _ = try columns.read(&reader) }
    }
  }

  @Test
  func columnsTogetherAreBounded() throws {
    // Each of these honest streams is within the limit; all of them are not.
    let zeros = ContiguousArray<UInt8>(repeating: 0, count: 20 << 20)
    var column: ContiguousArray<UInt8> = []
    var deflate = Deflate()
    zeros.withUnsafeBytes { ColumnEnvelope.append($0, to: &column, with: &deflate) }
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
