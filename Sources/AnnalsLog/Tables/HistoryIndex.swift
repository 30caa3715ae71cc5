import AnnalsFormat
import AnnalsModel

/// The sparse index of a log's transactions: for each segment of about 64 KiB its offset, first
/// number, running maximum of timestamps before it, and the entities it touches.
///
/// Grows as units are appended or replayed. The last entry is the open segment, whose entities may
/// still grow.
struct HistoryIndex: Sendable {
  private(set) var table = GrowingTable<HistoryIndexEntry>()
  /// Whether the last entry still accepts units.
  private var isOpen = false

  /// The length of log that fills a segment.
  static let segmentLength: UInt64 = 64 << 10

  init() {}

  init(_ directory: TableDirectory<HistoryIndexEntry>) {
    table = GrowingTable(directory)
  }

  /// Adds a unit of transactions whose first frame is at `offset`. `maximumTimestamp` is the
  /// running maximum before it; `entities` rise.
  mutating func note(
    firstNumber: Int64, at offset: UInt64, maximumTimestamp: Timestamp, entities: [EntityNumber]
  ) {
    if isOpen, var entry = table.entries.last, offset - entry.offset < HistoryIndex.segmentLength {
      let isNew = entities.map { entry.entities.insertRising($0) }
      if isNew.contains(true) { table.replaceLast(with: entry) }
      return
    }
    table.append(
      HistoryIndexEntry(
        firstNumber: firstNumber, offset: offset, maximumTimestamp: maximumTimestamp,
        entities: entities))
    isOpen = true
  }

  /// Whether the open segment has room for a unit at `offset` and already lists its entities: then
  /// `note` would change nothing.
  func covers(_ offset: UInt64, entities: [EntityNumber]) -> Bool {
    guard isOpen, let last = table.entries.last else { return false }
    return offset - last.offset < HistoryIndex.segmentLength
      && entities.allSatisfy { last.entities.contains($0) }
  }

  /// Closes the open segment, if any: the next unit begins another.
  mutating func closeSegment() { isOpen = false }

  mutating func checkpoint(
    _ store: ChunkStore
  ) throws(LogError) -> TableDirectory<HistoryIndexEntry> {
    closeSegment()
    return try table.checkpoint(store)
  }
}
