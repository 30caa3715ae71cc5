import AnnalsModel

// Every chunk of state begins with
//
//   byte     what it holds: 1 rows, 2 a column, 3 a unique index, 4 an ordered index,
//            5 references
//   varint   entity
//   varint   property of a column or of references (0: of rows), or rule of an index; left out for
//            rows
//   varint   first row; left out for an index
//   varint   count of rows, values, entries or references: at least 1
//
// so that a reference that leads to the wrong chunk is found out. FORMAT.md, "Chunks of state".

/// The content of a chunk of state. Stored in files: never renumber.
package enum ChunkContent: UInt8, Sendable, CaseIterable {
  case rows = 1
  case column = 2
  case uniqueIndex = 3
  case orderedIndex = 4
  // 6 is the state of a projection, which has another header (`ProjectionCodec`).
  /// References to chunks of rows or of a column.
  case references = 5

  /// Whether it is a run of an index.
  package var isIndex: Bool { self == .uniqueIndex || self == .orderedIndex }
}

/// The header of a chunk of state.
package struct ChunkHeader: Equatable, Sendable {
  package var content: ChunkContent
  package var entity: EntityNumber
  /// The property of a column or of references, or the rule of an index; 0 for rows.
  package var property: PropertyNumber
  /// The first row that the chunk is about; 0 for an index.
  package var firstRow: Int64
  package var count: Int

  package init(
    content: ChunkContent, entity: EntityNumber, property: PropertyNumber, firstRow: Int64,
    count: Int
  ) {
    self.content = content
    self.entity = entity
    self.property = property
    self.firstRow = firstRow
    self.count = count
  }

  /// The most rows or entries in one chunk.
  package static let maximumCount = 1 << 14

  func encode(into output: inout ContiguousArray<UInt8>) {
    output.append(content.rawValue)
    output.append(varInt: UInt64(entity))
    if content != .rows { output.append(varInt: UInt64(property)) }
    if !content.isIndex { output.append(varInt: UInt64(bitPattern: firstRow)) }
    output.append(count: count)
  }

  /// Reads the header of any chunk of state.
  package init(_ reader: inout ByteReader) throws(DecodeFault) {
    let start = reader.offset
    guard let content = ChunkContent(rawValue: try reader.readUInt8()) else {
      throw .newer(at: start, reason: "a kind of chunk")
    }
    self.content = content
    entity = try reader.readVarUInt32()
    property = content == .rows ? 0 : try reader.readVarUInt32()
    firstRow = content.isIndex ? 0 : try reader.readVarInt64()
    let limit = content.isIndex ? ChunkHeader.maximumCount : RowPresence.maximumSpan
    count = try reader.readCount(limit: limit, minimumLength: 0)
    guard count > 0 else { throw .invalid(at: start, reason: "an empty chunk") }
    if !content.isIndex {
      guard firstRow > 0, firstRow <= FormatLimits.maximumRow else {
        throw .invalid(at: start, reason: "a row out of range")
      }
    }
  }

  init(_ reader: inout ByteReader, expecting content: ChunkContent) throws(DecodeFault) {
    try self.init(&reader)
    guard self.content == content else { throw .invalid(at: 0, reason: "another kind of chunk") }
  }
}
