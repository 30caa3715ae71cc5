import AnnalsFormat
import AnnalsModel

// The chunks of a column. Whoever reads a value decodes the chunk that it is in, and with it at
// least the other values of its leaf: short texts of many rows share one, long ones do not.

extension Table {
  /// Writes some of a column's sixteen leaves as chunks of some bytes each, and returns their
  /// references.
  func writeChunks(
    _ leaves: ContiguousArray<Leaf?>, in range: Range<Int>, property: PropertyNumber, group: Int,
    to writer: inout ChunkWriter
  ) throws -> [ChunkReference] {
    var references: [ChunkReference] = []
    var first = range.lowerBound
    while first < range.upperBound {
      var end = first + 1
      var bytes = leaves[first]?.valueBytes ?? 0
      while end < range.upperBound, bytes + (leaves[end]?.valueBytes ?? 0) <= Table.chunkBytes {
        bytes += leaves[end]?.valueBytes ?? 0
        end += 1
      }
      let rows = first * Leaf.rowCount..<end * Leaf.rowCount
      references += try writeChunks(leaves, rows, property: property, group: group, to: &writer)
      first = end
    }
    return references
  }

  /// Writes rows as one chunk, or as several where the values are so long that one would be more
  /// than a frame should hold.
  private func writeChunks(
    _ leaves: ContiguousArray<Leaf?>, _ rows: Range<Int>, property: PropertyNumber, group: Int,
    to writer: inout ChunkWriter
  ) throws -> [ChunkReference] {
    var references: [ChunkReference] = []
    var ranges = [rows]
    let number = self.number
    while let range = ranges.popLast() {
      guard let values = Leaf.values(leaves, offsets: range) else { continue }
      if values.bytes.count > Table.mostChunkBytes, range.count > 1 {
        let middle = (range.lowerBound + range.upperBound) / 2
        ranges.append(middle..<range.upperBound)
        ranges.append(range.lowerBound..<middle)
        continue
      }
      let first = RowPosition.firstRow(ofGroup: group) + Int64(range.lowerBound)
      references.append(
        try writer.write(first: first, count: values.rows.count) { output, deflate in
          ColumnChunkCodec.encode(
            values, entity: number, property: property, firstRow: first, into: &output,
            deflate: &deflate)
        })
    }
    return references
  }

  /// How many bytes of values a chunk of several leaves holds at most, as they are in memory.
  private static let chunkBytes = 64 << 10
  /// How many bytes of values a chunk should hold at most.
  private static let mostChunkBytes = 4 << 20
}

extension Leaf {
  /// How many bytes a chunk's reader decompresses for the values: texts and the like. Numbers and
  /// UUIDs count nothing: sixteen leaves of them are read in less time than the tables of another
  /// deflate stream are made.
  fileprivate var valueBytes: Int {
    switch head.pointee.storage {
    case .words, .pairs: 0
    case .bytes: 4 * head.pointee.present + head.pointee.arenaCount - head.pointee.garbage
    }
  }
}
