import AnnalsModel

/// The directory of a checkpoint: the whole state as of one transaction, as references to chunks,
/// and the log's tables up to it.
///
/// The tables (names, openings, large values, schema history, history index) only grow, so each is
/// a list of chunks that later checkpoints share, followed by the newest entries inline. A writer
/// moves the inline entries into a chunk of their own (`TableCodec`) when they become many.
package struct CheckpointDirectory: Sendable {
  /// The transaction that the state is as of.
  package var number: Int64
  /// The greatest timestamp of transactions up to `number`; `.min` if there is none.
  package var maximumTimestamp = Timestamp.min
  /// The timestamp of transaction `number`.
  package var timestamp = Timestamp(microseconds: 0)
  /// The id of the opening that wrote transaction `number`; 0 if none is known.
  package var openingID: UInt64 = 0
  /// The number of changes in the file, from the base to here.
  package var changeCount: Int64 = 0
  /// How many transactions up to `number` record that their clock had jumped back.
  package var clockJumps: Int64 = 0
  /// Whether this is the state at the base: primary, written in full.
  package var isBase = false
  /// The schema at `number`.
  package var schema = Schema()
  /// Interned names, from number 1.
  package var names = TableDirectory<String>()
  package var openings = TableDirectory<Opening>()
  package var largeValues = TableDirectory<LargeValueEntry>()
  /// Schema changes since the base.
  package var schemaHistory = TableDirectory<SchemaHistoryEntry>()
  package var historyIndex = TableDirectory<HistoryIndexEntry>()
  /// The objects of the last segments of the history index; nil if the directory has none.
  package var segmentObjects: SegmentObjectsDirectory?
  /// The gaps that salvages left in the history up to here, including those before the base.
  package var gaps: [LostTransactions] = []
  /// The migrations made up to here, including those before the base, in their order.
  package var migrations: [MigrationRecord] = []
  /// The number for the next large value.
  package var nextLargeValueNumber: UInt64 = 1
  /// One for each entity that ever had an object, rising by number.
  package var entities: [EntityDirectory] = []
  /// What the side records before it add up to.
  package var side = SideState()
  /// The tombstones of a base; nil if there are none, and in all other directories.
  package var tombstones: KeptTombstones?
  /// The checkpoint before this one; nil for the first.
  package var previousCheckpoint: CheckpointReference?
  /// The saved projections; nil if there are none.
  package var projections: SavedProjections?
  /// The items of the extension area that this version does not know, kept by rewrites.
  package var extensions: ContiguousArray<UInt8> = []

  package init(number: Int64) { self.number = number }
}

/// An append-only table: chunks with the older entries, and the newer ones.
package struct TableDirectory<Entry: Sendable>: Sendable {
  /// The chunks, `first` counting entries from 0.
  package var chunks: [ChunkReference] = []
  /// The entries behind those in the chunks.
  package var entries: [Entry] = []

  package init() {}

  /// How many entries the table has, according to its references.
  package var count: UInt64 { chunks.reduce(UInt64(entries.count)) { $0 &+ UInt64($1.count) } }
}

/// The place of an older checkpoint.
package struct CheckpointReference: Hashable, Sendable {
  package var offset: UInt64
  package var number: Int64

  package init(offset: UInt64, number: Int64) {
    self.offset = offset
    self.number = number
  }
}

/// The place of a large value's bytes.
package struct LargeValueEntry: Hashable, Sendable {
  package var number: UInt64
  /// The offset of the frame of its first piece.
  package var offset: UInt64
  /// The length of the whole value.
  package var length: UInt64

  package init(number: UInt64, offset: UInt64, length: UInt64) {
    self.number = number
    self.offset = offset
    self.length = length
  }
}

/// A change of the schema: what a transaction defined of the entities that it touched.
package struct SchemaHistoryEntry: Hashable, Sendable {
  package var number: Int64
  package var change: [EntityChange]

  package init(number: Int64, change: [EntityChange]) {
    self.number = number
    self.change = change
  }

  /// The whole schema, as of a transaction.
  package init(number: Int64, schema: [Entity]) {
    self.init(number: number, change: schema.map(EntityChange.init))
  }
}

/// An entry of the sparse history index: what begins at `offset`.
package struct HistoryIndexEntry: Hashable, Sendable {
  /// The first transaction of the frame at `offset`.
  package var firstNumber: Int64
  /// Where that frame begins.
  package var offset: UInt64
  /// The greatest timestamp of the transactions from here to the next entry.
  package var maximumTimestamp: Timestamp
  /// The entities that changes from here to the next entry are of, rising.
  package var entities: [EntityNumber]

  package init(
    firstNumber: Int64, offset: UInt64, maximumTimestamp: Timestamp, entities: [EntityNumber]
  ) {
    self.firstNumber = firstNumber
    self.offset = offset
    self.maximumTimestamp = maximumTimestamp
    self.entities = entities
  }
}

/// The state of one entity.
package struct EntityDirectory: Sendable {
  package var entity: EntityNumber
  /// The row for the next object.
  package var nextRow: Int64
  /// How many objects live.
  package var liveCount: Int64
  /// Which rows live.
  package var rows: [ChunkReference]
  /// The list chunks that hold the first of `rows`: all of them, once they are resolved.
  package var rowLists: [ChunkReference] = []
  /// The values, by property.
  package var columns: [ColumnDirectory]
  package var indexes: [IndexDirectory]

  package init(
    entity: EntityNumber, nextRow: Int64, liveCount: Int64, rows: [ChunkReference] = [],
    columns: [ColumnDirectory] = [], indexes: [IndexDirectory] = []
  ) {
    self.entity = entity
    self.nextRow = nextRow
    self.liveCount = liveCount
    self.rows = rows
    self.columns = columns
    self.indexes = indexes
  }

  /// Replaces each reference to a chunk; none is in a list chunk afterwards.
  package mutating func replaceChunks<E: Error>(
    _ replace: (ChunkReference) throws(E) -> ChunkReference
  ) throws(E) {
    rowLists = []
    rows = try rows.map(replace)
    for index in columns.indices {
      columns[index].lists = []
      columns[index].chunks = try columns[index].chunks.map(replace)
    }
    for index in indexes.indices {
      for chunk in indexes[index].chunks.indices {
        let reference = indexes[index].chunks[chunk].reference
        indexes[index].chunks[chunk].reference = try replace(reference)
      }
    }
  }
}

/// The chunks of one property.
package struct ColumnDirectory: Sendable {
  package var property: PropertyNumber
  package var chunks: [ChunkReference]
  /// The list chunks that hold the first of `chunks`.
  package var lists: [ChunkReference] = []

  package init(property: PropertyNumber, chunks: [ChunkReference]) {
    self.property = property
    self.chunks = chunks
  }
}

/// The chunks of one index, in key order.
package struct IndexDirectory: Sendable {
  /// The number of the attribute or index that states the rule.
  package var rule: PropertyNumber
  /// How many entries there are.
  package var count: Int64
  package var chunks: [IndexChunk]

  package init(rule: PropertyNumber, count: Int64, chunks: [IndexChunk]) {
    self.rule = rule
    self.count = count
    self.chunks = chunks
  }
}

/// One chunk of an index, with its lowest key.
package struct IndexChunk: Sendable {
  package var reference: ChunkReference
  /// The lowest key, as index chunks encode keys.
  package var lowestKey: ContiguousArray<UInt8>

  package init(reference: ChunkReference, lowestKey: ContiguousArray<UInt8>) {
    self.reference = reference
    self.lowestKey = lowestKey
  }
}
