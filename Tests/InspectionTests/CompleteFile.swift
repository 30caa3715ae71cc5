import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

extension SampleStore {
  /// A closed file with rows, a sealed block, a large value in two pieces, a transaction of two
  /// parts, and a checkpoint whose tables are in a chunk.
  static func complete(
    allocated: Int = 64, isClosed: Bool = true,
    _ project: (inout HandMadeFile) -> SavedProjections? = { _ in nil }
  ) -> HandMadeFile {
    var file = HandMadeFile()
    file.allocated = allocated
    let firstOffset = file.append(
      firstRecord(), [insert(1, title: "Fog"), insert(2, title: "Mist")])
    file.sync()
    var batch = ChangeBatch()
    for number in Int64(2)...4 {
      add(
        record(number),
        [update(1, from: number == 2 ? "Fog" : "Title \(number - 1)", to: "Title \(number)")],
        to: &batch)
    }
    file.append(.block, batch.block())
    let largeValueOffset = appendLarge(to: &file, number: 5)
    file.sync()
    appendParts(to: &file)
    file.append(record(7))
    let checkpoint = appendCheckpoint(
      to: &file, number: 7, index: firstOffset, largeValueOffset: largeValueOffset, hasState: true,
      project)
    file.writeSlot(head: 7, checkpoint: (checkpoint, 7))
    file.append(
      record(8), [(.delete, 1, 2, [(1, .int(200), .null), (2, .string("Mist"), .null)])])
    if isClosed { file.close(head: 8, checkpoint: (checkpoint, 7)) }
    return file
  }

  /// A closed file of frames that can be written in one way only, for comparing with files that are
  /// kept: rows, a large value, a checkpoint with a chunk of names.
  static func plain() -> HandMadeFile {
    var file = small(3)
    file.allocated = 64
    file.sync()
    let largeValueOffset = appendLarge(to: &file, number: 4)
    let checkpoint = appendCheckpoint(
      to: &file, number: 4, index: FormatLimits.logStart, largeValueOffset: largeValueOffset)
    file.writeSlot(head: 4, checkpoint: (checkpoint, 4))
    return file
  }

  /// The bytes of the large value.
  static let picture = ContiguousArray<UInt8>((0..<400).map { UInt8(truncatingIfNeeded: $0 * 7) })

  /// A transaction with large value 1; returns where the value's first frame is.
  private static func appendLarge(to file: inout HandMadeFile, number: Int64) -> UInt64 {
    let offset = file.append(
      .largeValue, flags: .continued, largeValuePiece(1, picture[..<300], total: 400))
    file.append(.largeValue, largeValuePiece(1, picture[300...], total: 400, start: 300))
    let checksum = picture.withUnsafeBytes { Checksum.crc32($0) }
    let large = LargeValue(tag: .data, number: 1, length: 400, checksum: checksum)
    file.append(record(number), [(.update, 1, 1, [(3, .null, .large(large))])])
    return offset
  }

  /// Transaction 6 in two parts.
  private static func appendParts(to file: inout HandMadeFile) {
    for part in UInt32(0)...1 {
      var batch = ChangeBatch()
      var record = record(6)
      record.part = part
      record.isContinued = part == 0
      let tag = Int64(part) + 1
      add(record, [(.insert, 2, tag, [(1, .null, .string("tag \(tag)"))])], to: &batch)
      file.append(.block, flags: part == 0 ? .continued : [], batch.block())
    }
  }

  /// The chunks of posts 1 and 2.
  private static func appendState(to file: inout HandMadeFile) -> EntityDirectory {
    var deflate = Deflate()
    var words = ContiguousArray<UInt64>(repeating: 0, count: 64)
    words[0] = 0b11
    let both = RowPresence(words: words)
    words[0] = 0b01
    let first = RowPresence(words: words)
    func chunk(
      _ count: UInt32, from first: Int64 = 1,
      _ encode: (inout ContiguousArray<UInt8>, inout Deflate) -> Void
    ) -> ChunkReference {
      var payload: ContiguousArray<UInt8> = []
      encode(&payload, &deflate)
      return file.append(chunk: payload, first: first, count: count)
    }
    func column(_ property: PropertyNumber, _ values: ColumnValues) -> ColumnDirectory {
      let reference = chunk(UInt32(values.rows.count)) {
        ColumnChunkCodec.encode(
          values, entity: 1, property: property, firstRow: 1, into: &$0, deflate: &$1)
      }
      return ColumnDirectory(property: property, chunks: [reference])
    }
    var ids = ColumnValues(kind: .int, rows: both)
    ids.words = [100, 200]
    var titles = ColumnValues(kind: .string, rows: both)
    titles.lengths = [7, 4]
    titles.bytes = ContiguousArray("Title 4Mist".utf8)
    var pictures = ColumnValues(kind: .data, rows: first)
    pictures.lengths = [20]
    pictures.large = [true]
    LargeValue(
      tag: .data, number: 1, length: UInt64(picture.count),
      checksum: picture.withUnsafeBytes { Checksum.crc32($0) }
    ).append(to: &pictures.bytes)
    var entries = IndexEntries()
    entries.bytes = [1, 2]
    entries.ends = [1, 2]
    entries.rows = [1, 2]
    let rows = chunk(2) {
      RowsChunkCodec.encode(both, entity: 1, firstRow: 1, into: &$0, deflate: &$1)
    }
    let columns = [column(1, ids), column(2, titles), column(3, pictures)]
    let index = chunk(2, from: 0) {
      IndexChunkCodec.encode(
        entries, form: .beginnings, entity: 1, rule: 1, into: &$0, deflate: &$1)
    }
    return EntityDirectory(
      entity: 1, nextRow: 3, liveCount: 2, rows: [rows], columns: columns,
      indexes: [
        IndexDirectory(rule: 1, count: 2, chunks: [IndexChunk(reference: index, lowestKey: [])])
      ])
  }

  private static func appendCheckpoint(
    to file: inout HandMadeFile, number: Int64, index: UInt64, largeValueOffset: UInt64,
    hasState: Bool = false, _ project: (inout HandMadeFile) -> SavedProjections? = { _ in nil }
  ) -> UInt64 {
    var payload: ContiguousArray<UInt8> = []
    TableCodec<String>.encode(["Safari", "share"], into: &payload)
    var directory = directory(number, changes: number == 7 ? 8 : 4)
    directory.names.entries = []
    directory.names.chunks = [file.append(chunk: payload, count: 2)]
    directory.schemaHistory.entries = [SchemaHistoryEntry(number: 1, schema: schema)]
    directory.largeValues.entries = [
      LargeValueEntry(number: 1, offset: largeValueOffset, length: UInt64(picture.count))
    ]
    directory.nextLargeValueNumber = 2
    directory.historyIndex.entries = [
      HistoryIndexEntry(
        firstNumber: 1, offset: index, maximumTimestamp: Timestamp(microseconds: 0),
        entities: [1, 2])
    ]
    directory.projections = project(&file)
    if hasState { directory.entities = [appendState(to: &file)] }
    return file.append(.checkpoint, directory.encode())
  }
}
