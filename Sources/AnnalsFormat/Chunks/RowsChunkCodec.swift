import AnnalsModel

/// Encodes and decodes the live rows of a group in a chunk.
package enum RowsChunkCodec {
  /// Appends a chunk that says which rows live; at least one does.
  package static func encode(
    _ rows: RowPresence, entity: EntityNumber, firstRow: Int64,
    into output: inout ContiguousArray<UInt8>, deflate: inout Deflate
  ) {
    ChunkHeader(
      content: .rows, entity: entity, property: 0, firstRow: firstRow, count: rows.count
    ).encode(into: &output)
    rows.encode(into: &output, deflate: &deflate)
  }

  /// Reads a chunk.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> (header: ChunkHeader, rows: RowPresence) {
    var reader = ByteReader(payload)
    var inflate = Inflate()
    let header = try ChunkHeader(&reader, expecting: .rows)
    let rows = try RowPresence(&reader, count: header.count, inflate: &inflate)
    try reader.expectEnd()
    return (header, rows)
  }
}
