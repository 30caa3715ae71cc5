import AnnalsFormat
import AnnalsModel

/// An append-only table that is small enough for memory: names, openings, schema changes. A value.
struct ListedTable<Entry: TableEntry>: Sendable {
  private(set) var list: [Entry] = []
  private var chunks: [ChunkReference] = []
  /// The number of entries in chunks.
  private var chunkedCount = 0

  init() {}

  /// Loads the table from a checkpoint's directory. Reads its chunks; throws if one is damaged.
  init(_ directory: TableDirectory<Entry>, in generation: LogGeneration) throws(LogError) {
    let table = GrowingTable(directory)
    list = try table.all(in: generation)
    chunks = directory.chunks
    chunkedCount = list.count - directory.entries.count
  }

  var count: Int { list.count }

  mutating func append(_ entry: Entry) { list.append(entry) }

  /// So many bytes of entries fill a chunk as well: a directory and a chunk must fit into a frame,
  /// and an entry may be a wide entity's definition.
  private static var chunkBytes: Int { 1 << 18 }

  /// Where the next chunk ends; nil if there are not enough entries for one.
  private var endOfChunk: Int? {
    var bytes: ContiguousArray<UInt8> = []
    for index in chunkedCount..<list.count {
      if index - chunkedCount == GrowingTable<Entry>.chunkLength { return index }
      TableCodec<Entry>.encode(list[index...index], into: &bytes)
      if bytes.count >= ListedTable.chunkBytes { return index + 1 }
    }
    return list.count - chunkedCount == GrowingTable<Entry>.chunkLength ? list.count : nil
  }

  /// Moves entries into chunks while there are enough for one. Returns what a checkpoint's
  /// directory says of the table.
  mutating func checkpoint(
    _ store: ChunkStore
  ) throws(LogError) -> TableDirectory<Entry> {
    while let end = endOfChunk {
      let run = list[chunkedCount..<end]
      let reference = try GrowingTable<Entry>.store(run, first: chunkedCount, store)
      chunks.append(reference)
      chunkedCount += run.count
    }
    var result = TableDirectory<Entry>()
    result.chunks = chunks
    result.entries = Array(list[chunkedCount...])
    return result
  }
}
