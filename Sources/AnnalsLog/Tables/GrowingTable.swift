import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// An append-only table: older entries lie in chunks of the file, read on demand; newer ones in
/// memory. A value; copies share the chunks and the chunk read last.
///
/// Trades a read of the file for memory that would grow with history. Entries in memory move into a
/// chunk when a checkpoint finds as many as weigh `chunkLength`.
struct GrowingTable<Entry: TableEntry>: Sendable {
  private(set) var chunks: [ChunkReference] = []
  /// The entries after those in chunks.
  private(set) var entries: [Entry] = []
  /// Only where there are chunks: most files have none.
  private var cache: TableCache?

  /// The number of entries in one chunk, of weight 1.
  static var chunkLength: Int { 1024 }

  init() {}

  init(_ directory: TableDirectory<Entry>) {
    chunks = directory.chunks
    entries = directory.entries
    if !chunks.isEmpty { cache = TableCache() }
  }

  /// How many entries there are.
  var count: Int { chunkedCount + entries.count }

  /// The number of entries in chunks.
  var chunkedCount: Int {
    guard let last = chunks.last else { return 0 }
    return Int(clamping: last.first) + Int(last.count)
  }

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func replaceLast(with entry: Entry) { entries[entries.count - 1] = entry }

  /// The entry at `index`, from 0 to `count - 1`. Reads its chunk unless that was read last.
  func entry(at index: Int, in generation: LogGeneration) throws(LogError) -> Entry {
    if index >= chunkedCount { return entries[index - chunkedCount] }
    let position = chunks.rank { Int(clamping: $0.first) <= index } - 1
    guard chunks.indices.contains(position) else {
      throw .damage(at: chunks[0].offset, "a table's chunk is missing")
    }
    let reference = chunks[position]
    let chunk = try load(reference, in: generation)
    let local = index - Int(clamping: reference.first)
    guard chunk.indices.contains(local) else {
      throw .damage(at: reference.offset, "a table's chunk is missing")
    }
    return chunk[local]
  }

  /// The index of the first entry for which `isBeyond` holds; `count` if there is none. The table
  /// must be partitioned: `isBeyond` holds for all entries after that one. Reads at most O(log n)
  /// chunks.
  func partitioningIndex(
    in generation: LogGeneration, where isBeyond: (Entry) -> Bool
  ) throws(LogError) -> Int {
    var low = 0
    var high = count
    // The newest entries are looked up most, and are in memory.
    if let first = entries.first {
      if isBeyond(first) { high = chunkedCount } else { low = chunkedCount + 1 }
    }
    return try low
      + (low..<high).rank { (place) throws(LogError) in
        try !isBeyond(entry(at: place, in: generation))
      }
  }

  /// The entries of one chunk. Reads it unless it was read last.
  func entries(ofChunk place: Int, in generation: LogGeneration) throws(LogError) -> [Entry] {
    try load(chunks[place], in: generation)
  }

  /// All entries; reads every chunk.
  func all(in generation: LogGeneration) throws(LogError) -> [Entry] {
    var result: [Entry] = []
    for reference in chunks { result += try load(reference, in: generation) }
    return result + entries
  }

  private func load(
    _ reference: ChunkReference, in generation: LogGeneration
  ) throws(LogError) -> [Entry] {
    if let entries = cache?.entries(of: reference.offset, as: Entry.self) { return entries }
    let payload = try generation.chunk(reference)
    let entries = try payload.decoded(at: reference.offset) { bytes throws(DecodeFault) in
      try TableCodec<Entry>.decode(bytes)
    }
    guard entries.count == Int(reference.count) else {
      throw .damage(at: reference.offset, "a table's chunk is incomplete")
    }
    cache?.hold(entries, of: reference.offset)
    return entries
  }

  /// How many of the first entries in memory fill a chunk; nil if there are not enough.
  private var lengthOfChunk: Int? {
    var weight = 0
    for (place, entry) in entries.enumerated() {
      weight += entry.weight
      if weight >= GrowingTable.chunkLength { return place + 1 }
    }
    return nil
  }

  /// Moves entries into chunks while there are enough for one. Returns what a checkpoint's
  /// directory says of the table.
  mutating func checkpoint(
    _ store: ChunkStore
  ) throws(LogError) -> TableDirectory<Entry> {
    while let length = lengthOfChunk {
      let run = entries[..<length]
      if cache == nil { cache = TableCache() }
      chunks.append(try GrowingTable.store(run, first: chunkedCount, store))
      entries.removeFirst(run.count)
    }
    return directory
  }

  /// Stores a run of entries as a chunk.
  static func store(
    _ run: ArraySlice<Entry>, first: Int,
    _ store: ChunkStore
  ) throws(LogError) -> ChunkReference {
    var payload: ContiguousArray<UInt8> = []
    TableCodec<Entry>.encode(run, into: &payload)
    return try payload.withBytes { bytes throws(LogError) in
      try store(bytes, Int64(first), UInt32(run.count))
    }
  }

  /// The table's part of a checkpoint's directory, without moving entries.
  var directory: TableDirectory<Entry> {
    var result = TableDirectory<Entry>()
    result.chunks = chunks
    result.entries = entries
    return result
  }
}

/// The chunk of a table that was read last, shared by copies of the table.
///
/// Not generic: the runtime would look up the conformance of each kind of entry whenever a file is
/// opened.
private final class TableCache: Sendable {
  private let newest = Locked<(offset: UInt64, entries: any Sendable)?>(nil)

  func entries<Entry: Sendable>(of offset: UInt64, as type: Entry.Type) -> [Entry]? {
    newest.withLock { $0?.offset == offset ? $0?.entries as? [Entry] : nil }
  }

  func hold(_ entries: any Sendable, of offset: UInt64) {
    newest.withLock { $0 = (offset, entries) }
  }
}

/// Stores a chunk of a checkpoint being written and returns its reference. For one thread, within
/// the closure it is passed to.
///
/// Throws `tooLarge`, `storage` or `outcomeUnknown`; then the checkpoint cannot be completed.
package typealias ChunkStore =
  (_ payload: UnsafeRawBufferPointer, _ first: Int64, _ count: UInt32) throws(LogError)
  -> ChunkReference
