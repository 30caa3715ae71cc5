import AnnalsModel

/// The content of a chunk according to its reference in a checkpoint's directory.
package enum ChunkRole: Hashable {
  case rows(EntityNumber)
  case column(EntityNumber, PropertyNumber)
  case index(EntityNumber, PropertyNumber)
  /// References to the chunks of a property; of rows if that is 0.
  case references(EntityNumber, PropertyNumber)
  case names, openings, largeValues, schemaHistory, historyIndex, segmentObjects
  /// The state of a program's projection.
  case projection(name: String, version: Int64)
}

extension ChunkRole: CustomStringConvertible {
  package var description: String {
    switch self {
    case .rows(let entity): "the rows of entity \(entity)"
    case .column(let entity, let property): "property \(property) of entity \(entity)"
    case .index(let entity, let rule): "index \(rule) of entity \(entity)"
    case .references(let entity, 0): "the list of rows of entity \(entity)"
    case .references(let entity, let property):
      "the list of property \(property) of entity \(entity)"
    case .names: "names"
    case .openings: "openings"
    case .largeValues: "large values"
    case .schemaHistory: "schema changes"
    case .historyIndex: "the history index"
    case .segmentObjects: "the objects of segments"
    case .projection(let name, _): "the state of the projection \"\(name)\""
    }
  }
}

/// The decoded content of a chunk, as far as references can be checked against it.
package struct ChunkContents {
  /// How many rows, values or entries there are.
  package var count: Int
  /// What the chunk says of itself; nil for tables, which say nothing.
  package var header: ChunkHeader?
  /// The large values that it refers to.
  package var largeValues: [LargeValue] = []
  /// Whether a value in it was erased.
  package var hasErased = false
  /// Whether a value in it is a decimal or a day.
  package var hasDecimalOrDay = false
  /// Whether a text in it is not UTF-8; false unless texts were checked.
  package var hasMalformedText = false
  /// The entries of a table of large values.
  package var largeValueEntries: [LargeValueEntry] = []
  /// The entries of the history index.
  package var index: [HistoryIndexEntry] = []
  /// The transaction as of which the state of a projection is.
  package var number: Int64?

  /// Decodes a chunk as the given content; throws if it is something else. Looks at each byte of
  /// the texts only where asked.
  package init(
    _ payload: UnsafeRawBufferPointer, as role: ChunkRole, checkingTexts: Bool = false
  ) throws(DecodeFault) {
    switch role {
    case .names: count = try TableCodec<String>.decode(payload).count
    case .openings: count = try TableCodec<Opening>.decode(payload).count
    case .largeValues:
      largeValueEntries = try TableCodec<LargeValueEntry>.decode(payload)
      count = largeValueEntries.count
    case .schemaHistory: count = try TableCodec<SchemaHistoryEntry>.decode(payload).count
    case .historyIndex:
      index = try TableCodec<HistoryIndexEntry>.decode(payload)
      count = index.count
    case .segmentObjects:
      let entries = try TableCodec<SegmentObjects>.decode(payload)
      for entry in entries { _ = try entry.ranges() }
      count = entries.count
    case .projection(let name, let version):
      let contents = try ProjectionCodec.decode(payload)
      guard contents.name.hasSameBytes(as: name), contents.version == version else {
        throw .invalid(at: 0, reason: "the state of another projection")
      }
      count = 1
      number = contents.number
    case .rows:
      let header = try RowsChunkCodec.decode(payload).header
      self.header = header
      count = header.count
    case .index:
      let header = try IndexChunkCodec.decode(payload).header
      self.header = header
      count = header.count
    case .references:
      let header = try ReferenceListCodec.decode(payload).header
      self.header = header
      count = header.count
    case .column:
      let (header, values) = try ColumnChunkCodec.decode(payload)
      self.header = header
      count = header.count
      largeValues = values.largeValues
      hasMalformedText = checkingTexts && values.hasMalformedText
      hasErased = values.tags.contains(ValueTag.erased.rawValue)
      hasDecimalOrDay =
        values.kind.tag?.isDecimalOrDay
        ?? values.tags.contains { ValueTag(rawValue: $0)?.isDecimalOrDay == true }
    }
  }

  /// The contents without the lists, for remembering.
  package var outline: ChunkContents {
    var result = self
    result.largeValues = []
    result.largeValueEntries = []
    result.index = []
    return result
  }

  /// How a chunk contradicts its reference; nil if it does not.
  package func contradiction(to reference: ChunkReference, as role: ChunkRole) -> String? {
    if count != Int(reference.count) {
      return "it holds \(count) rows or entries, not \(reference.count)"
    }
    if let number, number != reference.first { return "it is as of transaction \(number)" }
    guard let header else { return nil }
    if header.role != role { return "it is \(header.role)" }
    if !header.content.isIndex, header.firstRow != reference.first {
      return "it is from \(header.firstRow) on"
    }
    return nil
  }
}

extension ChunkHeader {
  /// What a chunk of state says that it holds.
  package var role: ChunkRole {
    switch content {
    case .rows: .rows(entity)
    case .column: .column(entity, property)
    case .uniqueIndex, .orderedIndex: .index(entity, property)
    case .references: .references(entity, property)
    }
  }
}

extension CheckpointDirectory {
  /// The chunks of the tables, and what they are said to be.
  package var tables: [(chunks: [ChunkReference], role: ChunkRole)] {
    [
      (names.chunks, .names), (openings.chunks, .openings), (largeValues.chunks, .largeValues),
      (schemaHistory.chunks, .schemaHistory), (historyIndex.chunks, .historyIndex),
      (segmentObjects?.table.chunks ?? [], .segmentObjects),
    ]
  }

  /// Every chunk of the tables, the state and the saved projections, and what each is said to be.
  package var chunks: [(reference: ChunkReference, role: ChunkRole)] {
    tables.flatMap { table in table.chunks.map { ($0, table.role) } }
      + entities.flatMap { $0.lists + $0.chunks }
      + (projections?.list ?? []).map {
        ($0.chunk, .projection(name: $0.name, version: $0.version))
      }
  }
}

extension EntityDirectory {
  /// The list chunks, and what each is said to be.
  package var lists: [(reference: ChunkReference, role: ChunkRole)] {
    rowLists.map { ($0, .references(entity, 0)) }
      + columns.flatMap { column in
        column.lists.map { ($0, .references(entity, column.property)) }
      }
  }

  /// The chunks of rows, columns and indexes, and what each is said to be.
  package var chunks: [(reference: ChunkReference, role: ChunkRole)] {
    let entity = entity
    var result = rows.map { (reference: $0, role: ChunkRole.rows(entity)) }
    for column in columns {
      result += column.chunks.map { ($0, .column(entity, column.property)) }
    }
    for index in indexes {
      result += index.chunks.map { ($0.reference, .index(entity, index.rule)) }
    }
    return result
  }
}

extension ColumnValues {
  /// The descriptions of large values among the values.
  fileprivate var largeValues: [LargeValue] {
    guard large.contains(true) else { return [] }
    var result: [LargeValue] = []
    forEachBytes { tag, isLarge, bytes in
      if isLarge { result.append(LargeValue(tag: tag, description: bytes)) }
    }
    return result
  }

  /// Whether a text among the values is not UTF-8.
  fileprivate var hasMalformedText: Bool {
    var result = false
    forEachBytes { tag, isLarge, bytes in
      if !result, tag.isText, !isLarge { result = !HiddenCharacters.isUTF8(bytes) }
    }
    return result
  }

  /// Calls `body` with the kind and the bytes of each value that is kept as bytes, and with whether
  /// these are the description of a large one.
  private func forEachBytes(_ body: (ValueTag, Bool, UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      for (index, length) in lengths.enumerated() {
        let end = start + Int(length)
        if let tag = kind.tag ?? ValueTag(rawValue: tags[index]) {
          let isLarge = !large.isEmpty && large[index]
          body(tag, isLarge, UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }
        start = end
      }
    }
  }
}
