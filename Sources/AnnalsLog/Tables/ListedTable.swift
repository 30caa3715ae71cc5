import AnnalsFormat
import AnnalsModel

/// A table that only grows and is small enough to be held whole: names, openings, schema changes.
/// A value.
struct ListedTable<Entry: TableEntry>: Sendable {
  private(set) var list: [Entry] = []
  private var chunks: [ChunkReference] = []
  /// How many entries are in chunks.
  private var chunkedCount = 0

  init() {}

  /// The table that a checkpoint's directory describes. Reads its chunks; throws if they do not
  /// hold.
  init(_ directory: TableDirectory<Entry>, in generation: LogGeneration) throws(LogError) {
    let table = GrowingTable(directory)
    list = try table.all(in: generation)
    chunks = directory.chunks
    chunkedCount = list.count - directory.entries.count
  }

  var count: Int { list.count }

  mutating func append(_ entry: Entry) { list.append(entry) }

  /// So many bytes of entries are enough for a chunk, too: a directory and a chunk have to fit into
  /// a frame, and an entry may be a wide entity's definition.
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

  /// Moves entries into chunks, as far as there are enough for one, and returns what a checkpoint's
  /// directory says of the table.
  mutating func checkpoint(
    _ store: (UnsafeRawBufferPointer, Int64, UInt32) throws(LogError) -> ChunkReference
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
