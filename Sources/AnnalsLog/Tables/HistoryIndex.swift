import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The sparse index of a log's transactions: for each segment of about 64 KiB its offset, first
/// number, greatest timestamp, the entities it touches, and their objects.
///
/// Grows as units are appended or replayed. The last entry is the open segment, whose entities may
/// still grow; its greatest timestamp so far is kept by `LogTables`, since most transactions change
/// nothing else, and noted when the segment ends.
struct HistoryIndex: Sendable {
  private(set) var table: GrowingTable<HistoryIndexEntry>
  /// The greatest timestamp of each chunk of the table that was asked for.
  private let chunkMaxima = ChunkMaxima()
  /// The objects of the closed segments from one on: all that the log was written or read with.
  private(set) var objects: GrowingTable<SegmentObjects>
  private(set) var firstSegmentOfObjects: Int
  /// The last segment while it accepts units.
  private(set) var open: OpenSegment?

  /// The length of log that fills a segment.
  static let segmentLength: UInt64 = 64 << 10

  init() {
    table = GrowingTable()
    objects = GrowingTable()
    firstSegmentOfObjects = 0
  }

  init(_ directory: CheckpointDirectory) {
    table = GrowingTable(directory.historyIndex)
    let known = directory.segmentObjects
    objects = known.map { GrowingTable($0.table) } ?? GrowingTable()
    firstSegmentOfObjects = known.map { Int(clamping: $0.firstSegment) } ?? table.count
  }

  /// Adds a unit of transactions whose first frame is at `offset`. `greatest` is the greatest
  /// timestamp of the open segment before it; `entities` rise. Returns whether a segment begins
  /// with it.
  mutating func note(
    firstNumber: Int64, at offset: UInt64, timestamp: Timestamp, after greatest: Timestamp,
    entities: [EntityNumber]
  ) -> Bool {
    if open != nil, var entry = table.entries.last,
      offset - entry.offset < HistoryIndex.segmentLength
    {
      let isNew = entities.map { entry.entities.insertRising($0) }
      if isNew.contains(true) { table.replaceLast(with: entry) }
      return false
    }
    closeSegment(greatest)
    table.append(
      HistoryIndexEntry(
        firstNumber: firstNumber, offset: offset, maximumTimestamp: timestamp, entities: entities))
    open = OpenSegment()
    return true
  }

  /// Whether the open segment has room for a unit at `offset` and already lists its entities: then
  /// `note` would change nothing.
  @inline(__always)
  func covers(_ offset: UInt64, entities: [EntityNumber]) -> Bool {
    guard open != nil, let last = table.entries.last else { return false }
    return offset - last.offset < HistoryIndex.segmentLength
      && entities.allSatisfy { last.entities.contains($0) }
  }

  /// Closes the open segment, if any, which has this greatest timestamp: the next unit begins
  /// another.
  mutating func closeSegment(_ greatest: Timestamp) {
    guard let open, var entry = table.entries.last else { return }
    objects.append(open.objects)
    self.open = nil
    guard entry.maximumTimestamp < greatest else { return }
    entry.maximumTimestamp = greatest
    table.replaceLast(with: entry)
  }

  /// Writes what a checkpoint's directory says of the index. A log of less than 1 MiB has no
  /// objects of segments: it is read in a few milliseconds.
  mutating func checkpoint(
    _ store: ChunkStore, _ greatest: Timestamp, into directory: inout CheckpointDirectory
  ) throws(LogError) {
    closeSegment(greatest)
    directory.historyIndex = try table.checkpoint(store)
    let isLong = directory.historyIndex.entries.last.map { $0.offset >= HistoryIndex.leastLength }
    guard isLong ?? true, objects.count > 0 else { return }
    directory.segmentObjects = SegmentObjectsDirectory(
      firstSegment: UInt64(firstSegmentOfObjects), try objects.checkpoint(store))
  }

  private static let leastLength: UInt64 = 1 << 20

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
