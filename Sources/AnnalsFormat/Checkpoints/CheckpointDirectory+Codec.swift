import AnnalsModel

// FORMAT.md, "Checkpoints".

extension CheckpointDirectory {
  private static let isBaseFlag: UInt8 = 1
  private static let hasGaps: UInt8 = 2

  /// The payload of the checkpoint's frame.
  package func encode() -> ContiguousArray<UInt8> {
    var bytes: ContiguousArray<UInt8> = []
    bytes.append(varInt: UInt64(bitPattern: number))
    bytes.append(
      (isBase ? CheckpointDirectory.isBaseFlag : 0)
        | (gaps.isEmpty ? 0 : CheckpointDirectory.hasGaps))
    bytes.append(zigzag: timestamp.microseconds)
    bytes.append(zigzag: maximumTimestamp.microseconds)
    bytes.append(fixed: openingID)
    bytes.append(varInt: UInt64(bitPattern: changeCount))
    SchemaCodec.encode(schema.entities, into: &bytes)
    names.encode(into: &bytes)
    openings.encode(into: &bytes)
    bytes.append(varInt: nextLargeValueNumber)
    largeValues.encode(into: &bytes)
    schemaHistory.encode(into: &bytes)
    historyIndex.encode(into: &bytes)
    if !gaps.isEmpty { GapCodec.encode(gaps, into: &bytes) }
    bytes.append(count: entities.count)
    for entity in entities { entity.encode(into: &bytes) }
    ExtensionArea.append(allExtensions, to: &bytes)
    return bytes
  }

  /// The items of the extension area: those that this version knows, and the others, by tag.
  private var allExtensions: ContiguousArray<UInt8> {
    var items = ExtensionArea.items(of: extensions)
    if clockJumps != 0 {
      items.append(
        (ExtensionArea.clockJumps, .made { $0.append(varInt: UInt64(bitPattern: clockJumps)) }))
    }
    if let previousCheckpoint {
      var bytes: ContiguousArray<UInt8> = []
      bytes.append(varInt: previousCheckpoint.offset)
      bytes.append(varInt: UInt64(bitPattern: previousCheckpoint.number))
      items.append((ExtensionArea.olderCheckpoint, bytes))
    }
    if let projections, !projections.list.isEmpty {
      items.append((ExtensionArea.savedProjections, projections.encode()))
    }
    items += side.extensionItems
    if let tombstones {
      items.append((ExtensionArea.tombstones, .made { tombstones.encode(into: &$0) }))
    }
    if !migrations.isEmpty {
      items.append(
        (ExtensionArea.migrations, .made { MigrationCodec.encode(migrations, into: &$0) }))
    }
    if let segmentObjects {
      items.append((ExtensionArea.segmentObjects, segmentObjects.encode()))
    }
    items.sort { $0.tag < $1.tag }
    var result: ContiguousArray<UInt8> = []
    for item in items { ExtensionArea.append(item.tag, item.bytes, to: &result) }
    return result
  }

  /// Takes apart the extension area that ends the directory.
  private mutating func readExtensions(_ reader: inout ByteReader) throws(DecodeFault) {
    let area = try ExtensionArea.read(&reader)
    extensions = try ExtensionArea.rest(of: area) { (tag, bytes) throws(DecodeFault) in
      try bytes.withBytes { bytes throws(DecodeFault) in try readExtension(tag, ByteReader(bytes)) }
    }
  }

  /// Reads an item of the extension area, if this version knows it.
  private mutating func readExtension(
    _ tag: UInt64, _ bytes: ByteReader
  ) throws(DecodeFault) -> Bool {
    var item = bytes
    switch tag {
    case ExtensionArea.clockJumps: clockJumps = try item.readVarInt64()
    case ExtensionArea.olderCheckpoint:
      previousCheckpoint = CheckpointReference(
        offset: try item.readVarUInt62(), number: try item.readVarInt64())
    case ExtensionArea.savedProjections: projections = try SavedProjections(&item)
    case ExtensionArea.tombstones:
      let found = try KeptTombstones(&item)
      guard isBase, found.completeAfter <= number else {
        throw item.invalid("tombstones beyond the base")
      }
      tombstones = found
    case ExtensionArea.migrations:
      migrations = try MigrationCodec.decode(&item, upTo: number)
    case ExtensionArea.segmentObjects:
      let found = try SegmentObjectsDirectory(&item)
      guard found.firstSegment &+ found.table.count == historyIndex.count else {
        throw item.invalid("objects of other segments than the history index has")
      }
      segmentObjects = found
    default: if try !side.readExtension(tag, &item) { return false }
    }
    try item.expectEnd()
    return true
  }

  /// Reads the payload of a checkpoint's frame.
  package static func decode(
    _ payload: UnsafeRawBufferPointer
  ) throws(DecodeFault) -> CheckpointDirectory {
    var reader = ByteReader(payload)
    var result = CheckpointDirectory(number: try reader.readVarInt64())
    let flags = try reader.readFlags(known: isBaseFlag | hasGaps)
    result.isBase = flags & isBaseFlag != 0
    result.timestamp = Timestamp(microseconds: try reader.readZigzag())
    result.maximumTimestamp = Timestamp(microseconds: try reader.readZigzag())
    result.openingID = try reader.read(UInt64.self)
    result.changeCount = try reader.readVarInt64()
    result.schema = Schema(entities: try SchemaCodec.decode(&reader))
    result.names = try TableDirectory(&reader)
    result.openings = try TableDirectory(&reader)
    result.nextLargeValueNumber = try reader.readVarUInt62()
    result.largeValues = try TableDirectory(&reader)
    result.schemaHistory = try TableDirectory(&reader)
    result.historyIndex = try TableDirectory(&reader)
    if flags & hasGaps != 0 { result.gaps = try GapCodec.decodeList(&reader) }
    let count = try reader.readCount(
      limit: FormatLimits.maximumPayload, minimumLength: EntityDirectory.minimumLength)
    for _ in 0..<count {
      let entity = try EntityDirectory(&reader)
      if let last = result.entities.last, entity.entity <= last.entity {
        throw reader.invalid("entities out of order")
      }
      result.entities.append(entity)
    }
    try result.readExtensions(&reader)
    try reader.expectEnd()
    guard result.chunksHaveRoom else { throw reader.invalid("chunks that overlap") }
    return result
  }

  /// Whether the frames of all chunks have room before the end of the last. If not, one is named
  /// twice or lies within another; so what is read through a directory is bounded by the file.
  var chunksHaveRoom: Bool {
    var all = tables.flatMap(\.chunks)
    for entity in entities {
      all += entity.rowLists + entity.rows
      for column in entity.columns { all += column.lists + column.chunks }
      for index in entity.indexes { all += index.chunks.lazy.map(\.reference) }
    }
    return CheckpointDirectory.haveRoom(all)
  }

  /// Whether the frames of these chunks together have room before the end of the last.
  static func haveRoom(_ chunks: [ChunkReference]) -> Bool {
    var length: UInt64 = 0
    var end = FormatLimits.logStart
    for chunk in chunks {
      let frame = FrameHeader.frameLength(payloadLength: Int(chunk.length))
      length += frame
      end = max(end, chunk.offset + frame)
    }
    return length <= end - FormatLimits.logStart
  }
}

extension TableDirectory where Entry: TableEntry {
  func encode(into bytes: inout ContiguousArray<UInt8>) {
    ChunkReference.encode(chunks, into: &bytes)
    TableCodec<Entry>.encode(entries, into: &bytes)
  }

  init(_ reader: inout ByteReader) throws(DecodeFault) {
    chunks = try ChunkReference.decodeList(&reader)
    var count: Int64 = 0
    for chunk in chunks {
      guard chunk.first == count else { throw reader.invalid("chunks of a table with a gap") }
      count += Int64(chunk.count)
    }
    entries = try TableCodec<Entry>.decode(&reader)
  }
}

extension EntityDirectory {
  static let minimumLength = 7

  func encode(into bytes: inout ContiguousArray<UInt8>) {
    bytes.append(varInt: UInt64(entity))
    bytes.append(varInt: UInt64(bitPattern: nextRow))
    bytes.append(varInt: UInt64(bitPattern: liveCount))
    ChunkReference.encode(rowLists, into: &bytes)
    ChunkReference.encode(rows, into: &bytes)
    bytes.append(count: columns.count)
    for column in columns {
      bytes.append(varInt: UInt64(column.property))
      ChunkReference.encode(column.lists, into: &bytes)
      ChunkReference.encode(column.chunks, into: &bytes)
    }
    bytes.append(count: indexes.count)
    for index in indexes {
      bytes.append(varInt: UInt64(index.rule))
      bytes.append(varInt: UInt64(bitPattern: index.count))
      bytes.append(count: index.chunks.count)
      for chunk in index.chunks {
        chunk.reference.encode(into: &bytes)
        chunk.lowestKey.withUnsafeBytes { bytes.append(sized: $0) }
      }
    }
  }

  init(_ reader: inout ByteReader) throws(DecodeFault) {
    let start = reader.offset
    entity = try reader.readVarUInt32()
    nextRow = try reader.readVarInt64()
    liveCount = try reader.readVarInt64()
    guard entity > 0, nextRow > 0, liveCount < nextRow else {
      throw .invalid(at: start, reason: "an entity with more objects than rows")
    }
    rowLists = try ChunkReference.decodeList(&reader)
    rows = try ChunkReference.decodeList(&reader)
    columns = []
    indexes = []
    let limit = Int(FormatLimits.maximumPropertyNumber)
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 3)) {
      let property = try reader.readVarUInt32()
      guard property > columns.last?.property ?? 0 else {
        throw reader.invalid("columns out of order")
      }
      let lists = try ChunkReference.decodeList(&reader)
      columns.append(
        ColumnDirectory(property: property, chunks: try ChunkReference.decodeList(&reader)))
      columns[columns.count - 1].lists = lists
    }
    for _ in 0..<(try reader.readCount(limit: limit, minimumLength: 3)) {
      let index = try IndexDirectory(&reader)
      guard index.rule > indexes.last?.rule ?? 0 else {
        throw reader.invalid("indexes out of order")
      }
      indexes.append(index)
    }
  }
}

extension IndexDirectory {
  init(_ reader: inout ByteReader) throws(DecodeFault) {
    rule = try reader.readVarUInt32()
    count = try reader.readVarInt64()
    chunks = []
    let length = try reader.readCount(
      limit: FormatLimits.maximumPayload, minimumLength: ChunkReference.minimumLength + 1)
    for _ in 0..<length {
      let reference = try ChunkReference(&reader)
      if let last = chunks.last, reference.first <= last.reference.first {
        throw reader.invalid("chunks out of order")
      }
      let key = ContiguousArray(try reader.readSizedBytes())
      chunks.append(IndexChunk(reference: reference, lowestKey: key))
    }
  }
}
