import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The sparse index of a log's transactions: for each segment of about 64 KiB its offset, first
/// number, greatest timestamp, and the entities it touches.
///
/// Grows as units are appended or replayed. The last entry is the open segment, whose entities may
/// still grow; its greatest timestamp so far is kept by `LogTables`, since most transactions change
/// nothing else, and noted when the segment ends.
struct HistoryIndex: Sendable {
  private(set) var table = GrowingTable<HistoryIndexEntry>()
  /// The greatest timestamp of each chunk of the table that was asked for.
  private let chunkMaxima = ChunkMaxima()
  /// Whether the last entry still accepts units.
  private var isOpen = false

  /// The length of log that fills a segment.
  static let segmentLength: UInt64 = 64 << 10

  init() {}

  init(_ directory: TableDirectory<HistoryIndexEntry>) {
    table = GrowingTable(directory)
  }

  /// Adds a unit of transactions whose first frame is at `offset`. `greatest` is the greatest
  /// timestamp of the open segment before it; `entities` rise. Returns whether a segment begins
  /// with it.
  mutating func note(
    firstNumber: Int64, at offset: UInt64, timestamp: Timestamp, after greatest: Timestamp,
    entities: [EntityNumber]
  ) -> Bool {
    if isOpen, var entry = table.entries.last, offset - entry.offset < HistoryIndex.segmentLength {
      let isNew = entities.map { entry.entities.insertRising($0) }
      if isNew.contains(true) { table.replaceLast(with: entry) }
      return false
    }
    closeSegment(greatest)
    table.append(
      HistoryIndexEntry(
        firstNumber: firstNumber, offset: offset, maximumTimestamp: timestamp, entities: entities))
    isOpen = true
    return true
  }

  /// Whether the open segment has room for a unit at `offset` and already lists its entities: then
  /// `note` would change nothing.
  func covers(_ offset: UInt64, entities: [EntityNumber]) -> Bool {
    guard isOpen, let last = table.entries.last else { return false }
    return offset - last.offset < HistoryIndex.segmentLength
      && entities.allSatisfy { last.entities.contains($0) }
  }

  /// Closes the open segment, if any, which has this greatest timestamp: the next unit begins
  /// another.
  mutating func closeSegment(_ greatest: Timestamp) {
    guard isOpen, var entry = table.entries.last else { return }
    isOpen = false
    guard entry.maximumTimestamp < greatest else { return }
    entry.maximumTimestamp = greatest
    table.replaceLast(with: entry)
  }

  mutating func checkpoint(
    _ store: ChunkStore, _ greatest: Timestamp
  ) throws(LogError) -> TableDirectory<HistoryIndexEntry> {
    closeSegment(greatest)
    return try table.checkpoint(store)
  }

  /// The greatest timestamp of the segments in a chunk of the table. Reads it the first time.
  func greatest(
    ofChunk place: Int, in generation: LogGeneration
  ) throws(LogError) -> Timestamp {
    if let known = chunkMaxima.known(place) { return known }
    let greatest = try table.entries(ofChunk: place, in: generation).greatest
    chunkMaxima.hold(greatest, of: place)
    return greatest
  }
}

extension Collection<HistoryIndexEntry> {
  /// The greatest timestamp of these segments.
  var greatest: Timestamp {
    lazy.map(\.maximumTimestamp).max() ?? .min
  }
}

/// The greatest timestamps of the chunks of a history index, shared by its copies: chunks stay as
/// they are. 16 bytes for 64 MiB of log.
private final class ChunkMaxima: Sendable {
  /// By place. No dictionary: freeing the first one of a process searches all its conformances.
  private let maxima = Locked<ContiguousArray<Timestamp?>>([])

  func known(_ place: Int) -> Timestamp? {
    maxima.withLock { place < $0.count ? $0[place] : nil }
  }

  func hold(_ greatest: Timestamp, of place: Int) {
    maxima.withLock { maxima in
      while maxima.count <= place { maxima.append(nil) }
      maxima[place] = greatest
    }
  }
}
