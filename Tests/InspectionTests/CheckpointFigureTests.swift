import AnnalsDescription
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import Testing

/// What `stat` and `dump` count of bases and checkpoints.
@Suite struct CheckpointFigureTests {
  private static func directory(_ number: Int64) -> CheckpointDirectory {
    var directory = CheckpointDirectory(number: number)
    directory.timestamp = SampleStore.record(number).timestamp
    directory.maximumTimestamp = directory.timestamp
    directory.openingID = SampleStore.opening.id
    directory.schema = Schema(entities: SampleStore.schema)
    directory.names.entries = ["Safari", "share"]
    directory.openings.entries = [SampleStore.opening]
    directory.schemaHistory.entries = [SchemaHistoryEntry(number: 4, schema: SampleStore.schema)]
    return directory
  }

  /// A file with the base 4, which `make` writes with the chunks before it; it returns where its
  /// directory begins.
  private func file(_ make: (inout HandMadeFile) -> UInt64) -> HandMadeFile {
    func build(baseAt offset: UInt64) -> (file: HandMadeFile, base: UInt64) {
      var file = HandMadeFile(base: 4) {
        $0.baseTimestamp = SampleStore.record(4).timestamp
        $0.baseCheckpointOffset = offset
        $0.features = .tombstones
      }
      let base = make(&file)
      return (file, base)
    }
    return build(baseAt: build(baseAt: FormatLimits.logStart).base).file
  }

  /// A checkpoint shares with the base what has not changed.
  @Test func aSharedChunkIsCountedOnce() throws {
    var rowsLength: UInt64 = 0
    var columnsLength: UInt64 = 0
    let file = file { file in
      var deflate = Deflate()
      var words = ContiguousArray<UInt64>(repeating: 0, count: 64)
      words[0] = 1
      let rows = RowPresence(words: words)
      func chunk(_ payload: ContiguousArray<UInt8>) -> ChunkReference {
        ChunkReference(
          offset: file.append(.chunk, payload), length: UInt32(payload.count),
          checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: 1, count: 1)
      }
      func column(_ id: UInt64) -> ColumnDirectory {
        var ids = ColumnValues(kind: .int, rows: rows)
        ids.words = [id]
        var payload: ContiguousArray<UInt8> = []
        ColumnChunkCodec.encode(
          ids, entity: 1, property: 1, firstRow: 1, into: &payload, deflate: &deflate)
        let reference = chunk(payload)
        columnsLength += file.offset - reference.offset
        return ColumnDirectory(property: 1, chunks: [reference])
      }
      var payload: ContiguousArray<UInt8> = []
      RowsChunkCodec.encode(rows, entity: 1, firstRow: 1, into: &payload, deflate: &deflate)
      let shared = chunk(payload)
      (rowsLength, columnsLength) = (file.offset - shared.offset, 0)
      var directory = CheckpointFigureTests.directory(4)
      directory.isBase = true
      directory.entities = [
        EntityDirectory(
          entity: 1, nextRow: 2, liveCount: 1, rows: [shared], columns: [column(100)])
      ]
      let base = file.append(.checkpoint, directory.encode())
      let behind = file.offset
      file.append(
        .transaction,
        SampleStore.row(
          SampleStore.record(5), [(.update, 1, 1, [(1, .int(100), .int(200))])]))
      directory.isBase = false
      directory.number = 5
      directory.timestamp = SampleStore.record(5).timestamp
      directory.maximumTimestamp = directory.timestamp
      directory.changeCount = 1
      directory.entities[0].columns = [column(200)]
      directory.historyIndex.entries = [
        HistoryIndexEntry(
          firstNumber: 5, offset: behind, maximumTimestamp: SampleStore.record(4).timestamp,
          entities: [1])
      ]
      file.append(.checkpoint, directory.encode())
      return base
    }
    let statistics = try statistics(of: file.bytes)
    #expect(try findings(in: file.bytes).filter { $0.severity != .note } == [])
    let rows = try #require(
      statistics.shares.first { $0.entity == 1 && $0.property == nil })
    #expect(rows.stateBytes == rowsLength)
    // The base's own column is state, too.
    let column = try #require(statistics.shares.first { $0.entity == 1 && $0.property == 1 })
    #expect(column.stateBytes == columnsLength)
    #expect(statistics.bytesByUse[.dead] ?? 0 == 0)
  }

  @Test func theStateOfAProjectionIsNotDead() throws {
    let file = SampleStore.complete { file in
      let payload = ProjectionCodec.encode(
        ProjectionCodec.Contents(name: "words", version: 2, number: 7, state: [1, 2, 3]))
      let chunk = ChunkReference(
        offset: file.append(.chunk, payload), length: UInt32(payload.count),
        checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: 7, count: 1)
      return SavedProjections(
        generation: 1, [SavedProjection(name: "words", version: 2, chunk: chunk)])
    }
    let statistics = try statistics(of: file.bytes)
    #expect(statistics.bytesByUse[.dead] ?? 0 == 0)
  }

  /// Twenty are described; how many others there are is told.
  @Test(arguments: [(20, 0), (20, 1), (20, 100), (21, 100), (3, 17), (3, 18), (30, 0)])
  func tombstonesNotDescribed(first: Int, second: Int) throws {
    let file = file { file in
      var payload: ContiguousArray<UInt8> = []
      for (number, count) in [(Int64(2), first), (3, second)] where count > 0 {
        var batch = ChangeBatch()
        SampleStore.add(
          SampleStore.record(number),
          (1...Int64(count)).map { (.delete, 1, number * 1000 + $0, []) }, to: &batch)
        TombstoneCodec.append(batch, transaction: 0, to: &payload)
      }
      let frame = file.append(.tombstones, flags: .skippable, payload)
      var directory = CheckpointFigureTests.directory(4)
      directory.isBase = true
      directory.tombstones = KeptTombstones(
        completeAfter: 1,
        frames: [
          ChunkReference(
            offset: frame, length: UInt32(payload.count),
            checksum: payload.withUnsafeBytes { Checksum.crc32($0) }, first: 0,
            count: UInt32(first + second))
        ])
      return file.append(.checkpoint, directory.encode())
    }
    var walk = try FileWalk(file.bytes.opened())
    var description = FrameDescription()
    var more: [String] = []
    var described = 0
    while let region = try walk.next() {
      for field in try description.describe(region, in: &walk).fields {
        if field.name == "more tombstones" { more.append("\(field.value)") }
        if field.name == "deleted" { described += 1 }
      }
    }
    #expect(described == min(20, first + second))
    #expect(more == (first + second > 20 ? ["\(first + second - 20)"] : []))
  }
}
