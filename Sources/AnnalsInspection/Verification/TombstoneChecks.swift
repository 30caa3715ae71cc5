import AnnalsFormat
import AnnalsModel

/// Judges the deletes of dropped history, which stand before the base: each by itself, and what the
/// base's directory says of them.
///
/// FORMAT.md, "Tombstones".
struct TombstoneChecks {
  /// The frames so far, as a directory names them.
  private var frames: [ChunkReference] = []
  /// The last transaction of which there was one.
  private var last: Int64 = 0
  /// The large values that they mention, and where; they stand behind.
  private var values: [(value: LargeValue, offset: UInt64)] = []
  private var hasBase = false

  /// Takes in a frame. `base` is the number of the file's base, if that is known; `fault` what is
  /// wrong with its records by themselves.
  mutating func take(
    _ batch: ChangeBatch, payload: (length: Int, checksum: UInt32), at offset: UInt64,
    base: Int64?, isAnnounced: Bool, fault: String?, _ log: inout FindingLog
  ) {
    func tell(_ what: String) {
      log.error(.tombstone, at: offset, "the tombstones here \(what)", remedy: Remedy.salvage)
    }
    if !isAnnounced { tell("are in a file that does not announce the feature") }
    if hasBase { tell("stand behind the base") }
    if let fault { tell("have \(fault)") }
    if let first = batch.transactions.first, first.number < last {
      tell("are of transaction \(first.number), behind those of \(last)")
    }
    last = max(last, batch.transactions.last?.number ?? 0)
    if let base, last > base { tell("are of transaction \(last), but the base is \(base)") }
    let count = frames.last.map { $0.first + Int64($0.count) } ?? 0
    frames.append(
      ChunkReference(
        offset: offset, length: UInt32(truncatingIfNeeded: payload.length),
        checksum: payload.checksum, first: count, count: UInt32(batch.changes.count)))
    batch.forEachLargeValue { values.append(($0, offset)) }
  }

  /// Compares the base's directory with the frames before it.
  mutating func take(
    _ directory: CheckpointDirectory, at offset: UInt64, _ blobs: inout BlobChecks,
    _ log: inout FindingLog
  ) {
    guard directory.isBase, !hasBase else { return }
    hasBase = true
    if directory.tombstones?.frames ?? [] != frames {
      log.error(
        .tombstone, at: offset,
        "the base names other tombstones than those that stand before it",
        remedy: Remedy.salvage)
    }
    for (value, offset) in values { blobs.refer(to: value, from: offset, &log) }
    values = []
  }

  /// Judges what is left at the end of the log.
  func finish(_ log: inout FindingLog) {
    guard !hasBase, let first = frames.first else { return }
    log.error(
      .tombstone, at: first.offset, "tombstones in a file without a base",
      remedy: Remedy.salvage)
  }
}
