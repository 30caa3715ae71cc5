import AnnalsModel
import AnnalsTestSupport
import Testing

@testable import AnnalsFormat

/// Decimals and days that no writer may write: a reader refuses them by row, in columns of one kind
/// and of several, and in chunks.
struct RefusedDecimalTests {
  private typealias Bytes = ContiguousArray<UInt8>

  private func isRefused(_ decode: () throws -> Void) -> Bool {
    do {
      try decode()
      return false
    } catch {
      return error is DecodeFault
    }
  }

  private static func cell(_ bytes: Bytes, _ arena: inout Bytes) -> ValueCell {
    arena = [7, 7] + bytes
    return ValueCell(tag: .decimal, bits: 2, length: UInt32(bytes.count))
  }

  /// What each form of one cell decodes from.
  private func check(_ cell: ValueCell, _ arena: Bytes, isRefused expected: Bool) throws {
    var row: Bytes = []
    arena.withUnsafeBytes { ValueCodec.encode(cell, in: $0, into: &row) }
    #expect(
      isRefused {
        try row.withUnsafeBytes { bytes in
          var reader = ByteReader(bytes)
          var arena: Bytes = []
          _ = try ValueCodec.decode(&reader, arena: &arena)
        }
      } == expected)
    for others in [[cell, cell], [cell, .null]] {
      var column: Bytes = []
      arena.withUnsafeBytes { arena in
        others.withUnsafeBufferPointer { CellColumn.encode($0, in: arena, into: &column) }
      }
      #expect(
        isRefused {
          try column.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            var columns = CellReader(arenaLength: 0)
            var cells = Array(repeating: ValueCell.null, count: 2)
            var arena: Bytes = []
            try cells.withUnsafeMutableBufferPointer {
              try columns.decode(&reader, into: $0, arena: &arena)
            }
          }
        } == expected)
    }
    var presence = ContiguousArray<UInt64>(repeating: 0, count: RowPresence.maximumSpan / 64)
    presence[0] = 1
    let kind: ColumnKind = cell.tag == .day ? .day : .decimal
    for kind in [kind, .any] {
      var values = ColumnValues(kind: kind, rows: RowPresence(words: presence))
      if kind == .day {
        values.words = [cell.bits]
      } else {
        values.bytes = cell.tag == .day ? [] : Bytes(arena[cell.arenaRange])
        if cell.tag == .day { values.bytes.append(fixed: cell.bits) }
        values.lengths = [UInt64(values.bytes.count)]
      }
      if kind == .any { values.tags = [cell.tag.rawValue] }
      var chunk: Bytes = []
      var deflate = Deflate()
      ColumnChunkCodec.encode(
        values, entity: 1, property: 2, firstRow: 1, into: &chunk, deflate: &deflate)
      #expect(
        isRefused { try chunk.withUnsafeBytes { _ = try ColumnChunkCodec.decode($0) } } == expected)
    }
  }

  @Test(
    arguments: [
      ([0x80], false), ([0x81, 0x81, 0x0D, 0x33], false), ([0x81, 0x81, 0x0D, 0x01], true),
      ([], true), ([0x81, 0x81, 0x0D, 0x00], true), ([0x7E, 0x7E, 0xF2], true),
      (Array(repeating: 0x82, count: 24), true),
    ] as [([UInt8], Bool)])
  func decimals(bytes: [UInt8], isRefused: Bool) throws {
    var arena: Bytes = []
    let cell = Self.cell(Bytes(bytes), &arena)
    try check(cell, arena, isRefused: isRefused)
  }

  @Test(
    arguments: [
      (0, false), (-4_371_587, false), (2_932_896, false), (-4_371_588, true), (2_932_897, true),
      (.max, true), (.min, true),
    ] as [(Int64, Bool)])
  func days(days: Int64, isRefused: Bool) throws {
    try check(
      ValueCell(tag: .day, bits: UInt64(bitPattern: days)), [], isRefused: isRefused)
  }

  /// The tag bytes 0x42 and above, and those of decimals and days with a flag, say nothing.
  @Test func tagBytes() throws {
    for byte in UInt8(0x40)...0xFF {
      let isKnown = byte == 0x40 || byte == 0x41
      #expect(isRefused { _ = try ValueCodec.readTag(byte, at: 0) } == !isKnown, "\(byte)")
    }
  }
}
