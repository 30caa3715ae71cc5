import AnnalsFormat
import AnnalsModel

/// A checkpoint's directory that uses every field.
enum SampleDirectory {
  static var directory: CheckpointDirectory {
    var result = CheckpointDirectory(number: 900)
    result.timestamp = Timestamp(microseconds: 1_600_000_000_000_000)
    result.maximumTimestamp = Timestamp(microseconds: 1_600_000_000_000_001)
    result.openingID = 0xFEED_FACE_CAFE_BEEF
    result.changeCount = 12_345
    result.clockJumps = 2
    result.migrations = [
      MigrationRecord(name: "split the name", number: 7),
      MigrationRecord(name: "dates", number: 900),
    ]
    result.isBase = true
    result.schema = Schema(entities: SampleSchema.entities)
    result.names.entries = ["ann", "share sheet"]
    result.names.chunks = [reference(20_000, first: 0)]
    result.openings.entries = [
      Opening(number: 1, id: 77, processName: "annals", processID: 311)
    ]
    result.largeValues.entries = [LargeValueEntry(number: 4, offset: 12_288, length: 1_000_000)]
    result.nextLargeValueNumber = 5
    result.schemaHistory.entries = [
      SchemaHistoryEntry(number: 1, schema: SampleSchema.entities)
    ]
    result.historyIndex.entries = [
      HistoryIndexEntry(
        firstNumber: 1, offset: 12_288, maximumTimestamp: Timestamp(microseconds: 0),
        entities: [1, 2])
    ]
    var objects = TableDirectory<SegmentObjects>()
    objects.entries = [
      SegmentObjects([RowRange(1, 3...3), RowRange(1, 7...90), RowRange(2, 1...1)]) ?? .unknown
    ]
    result.segmentObjects = SegmentObjectsDirectory(firstSegment: 0, objects)
    result.entities = [
      EntityDirectory(
        entity: 1, nextRow: 5_000, liveCount: 4_000, rows: [reference(30_000, first: 1)],
        columns: [
          ColumnDirectory(
            property: 1, chunks: [reference(40_000, first: 1), reference(50_000, first: 4_097)]),
          ColumnDirectory(property: 3, chunks: []),
        ],
        indexes: [
          IndexDirectory(
            rule: 1, count: 4_000,
            chunks: [IndexChunk(reference: reference(60_000, first: 0), lowestKey: [6, 1, 2])])
        ])
    ]
    result.previousCheckpoint = CheckpointReference(offset: 12_344, number: 800)
    result.projections = SavedProjections(
      generation: 3,
      [
        SavedProjection(name: "words", version: 2, chunk: saved(70_000, number: 890)),
        SavedProjection(name: "posts per day", version: 0, chunk: saved(80_000, number: 900)),
      ])
    result.extensions = [9, 1, 0xAB]
    return result
  }

  private static func saved(_ offset: UInt64, number: Int64) -> ChunkReference {
    ChunkReference(offset: offset, length: 999, checksum: 0x1234_5678, first: number, count: 1)
  }

  private static func reference(_ offset: UInt64, first: Int64) -> ChunkReference {
    ChunkReference(offset: offset, length: 999, checksum: 0x1234_5678, first: first, count: 4_000)
  }
}
