import AnnalsModel
import AnnalsTestSupport

@testable import AnnalsFormat

// What files hold that our writers do not make, or only of much data: extension areas of later
// versions, and chunks of tables.

extension FixtureBytes {
  /// Items that no version knows yet.
  private static let items: ContiguousArray<UInt8> = [100, 3, 1, 2, 3, 101, 0]

  /// Gives everything that has an extension area one, but for directories, and the first entity
  /// rules and an index that only a later version knows. No checkpoint may be in the file.
  mutating func extendEverything() throws {
    let first = frames.first?.offset
    try rewriteLog { frame, payload in
      switch frame.header.kind {
      case .largeValue:
        var part = try LargeValueCodec.decode(payload)
        if part.isFirst { part.extensions = FixtureBytes.items }
        var changed: ContiguousArray<UInt8> = []
        LargeValueCodec.encode(part, into: &changed)
        return [changed]
      case .transaction:
        var batch = ChangeBatch()
        try TransactionCodec.decode(payload, into: &batch)
        batch.transactions[0].extensions = FixtureBytes.items
        if frame.offset == first {
          FixtureBytes.extend(&batch.transactions[0].schemaChange)
        }
        return [batch.row()]
      default: return [ContiguousArray(payload)]
      }
    }
  }

  private static func extend(_ changes: inout [EntityChange]) {
    var entities = changes.map(\.definition)
    defer { changes = entities.map(EntityChange.init) }
    for entity in entities.indices {
      entities[entity].extensions = items
      for place in entities[entity].attributes.indices {
        entities[entity].attributes[place].extensions = items
      }
      for place in entities[entity].relationships.indices {
        entities[entity].relationships[place].extensions = items
      }
    }
    // A rule that is known, and one that is not.
    entities[0].attributes[1].validation.maximumLength = 100_000
    entities[0].attributes[1].validation.laterFlags = 0x40
    entities[0].attributes[1].validation.laterRules = [9, 9, 9]
    let next = entities[0].nextPropertyNumber
    var element = IndexElement("", isDescending: true)
    element.property = entities[0].attributes[1].number
    var known = IndexDescription("byText", [element])
    known.number = next
    known.extensions = items
    var later = IndexDescription("nearby", [])
    later.number = next + 1
    later.laterDefinition = [0x84, 0, 7, 7, 7]
    entities[0].indexes = [known, later]
    entities[0].nextPropertyNumber = next + 2
  }

  /// Moves the entries of the newest checkpoint's tables into chunks of two. No frame behind the
  /// checkpoint may hold an offset.
  mutating func moveTablesIntoChunks() throws {
    guard let newest = frames(.checkpoint).last else { return }
    var directory = try bytes[newest.payload].withUnsafeBytes {
      try CheckpointDirectory.decode($0)
    }
    var chunks: [ContiguousArray<UInt8>] = []
    var offset = UInt64(newest.offset)
    FixtureBytes.move(&directory.names, &chunks, &offset)
    FixtureBytes.move(&directory.openings, &chunks, &offset)
    FixtureBytes.move(&directory.largeValues, &chunks, &offset)
    FixtureBytes.move(&directory.schemaHistory, &chunks, &offset)
    FixtureBytes.move(&directory.historyIndex, &chunks, &offset)
    let moved = chunks.map { (FrameKind.chunk, $0) } + [(.checkpoint, directory.encode())]
    try rewriteFrames { frame, payload in
      frame.offset == newest.offset
        ? moved : [(frame.header.kind, ContiguousArray(payload))]
    }
    try moveCheckpoint(from: newest.offset, to: Int(offset))
  }

  private static func move<Entry: TableEntry>(
    _ table: inout TableDirectory<Entry>, _ chunks: inout [ContiguousArray<UInt8>],
    _ offset: inout UInt64
  ) {
    var first: Int64 = 0
    while !table.entries.isEmpty {
      let run = table.entries.prefix(2)
      var payload: ContiguousArray<UInt8> = []
      TableCodec<Entry>.encode(run, into: &payload)
      table.chunks.append(
        ChunkReference(
          offset: offset, length: UInt32(payload.count),
          checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: first,
          count: UInt32(run.count)))
      offset += FrameHeader.frameLength(payloadLength: payload.count)
      first += Int64(run.count)
      chunks.append(payload)
      table.entries.removeFirst(run.count)
    }
  }

  /// Gives the directory of the newest checkpoint an extension area.
  mutating func extendDirectory() throws {
    try changeDirectory { $0.extensions = FixtureBytes.items }
  }

  /// Makes the first section of the last block one of a compression that is reserved.
  mutating func compressAnew() throws {
    guard let block = frames(.block).last else { return }
    // The columns begin behind the summary, with those of the timestamps.
    let summary = try bytes[block.payload].withUnsafeBytes { payload in
      var reader = ByteReader(payload)
      _ = try BlockSummary(&reader)
      return reader.offset
    }
    bytes[block.payload.lowerBound + summary] |= 2
    try seal()
  }
}
