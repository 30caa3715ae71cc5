import AnnalsFormat
import AnnalsModel

/// Checks the tombstones (deletes of pruned history, in front of the base): each frame by itself,
/// and the base's references to them.
///
/// FORMAT.md, "Tombstones".
struct TombstoneChecks {
  /// The frames so far, as a directory refers to them.
  private var frames: [ChunkReference] = []
  /// The last transaction with a tombstone.
  private var last: Int64 = 0
  /// Their references to large values, which follow in the file, and the frames that hold them.
  private var values: [(value: LargeValue, offset: UInt64)] = []
  private var hasBase = false

  /// Checks a frame. `base` is the number of the file's base, nil if unknown; `fault` what is wrong
  /// with the frame's records by themselves.
  mutating func check(
    _ batch: ChangeBatch, payload: (length: Int, checksum: UInt32), at offset: UInt64,
    base: Int64?, isAnnounced: Bool, fault: String?, _ log: inout FindingLog
  ) {
    func report(_ what: String) {
      log.error(.tombstone, at: offset, "the tombstones here \(what)", remedy: Remedy.salvage)
    }
    if !isAnnounced { report("are in a file that does not announce the feature") }
    if hasBase { report("stand behind the base") }
    if let fault { report("have \(fault)") }
    if let first = batch.transactions.first, first.number < last {
      report("are of transaction \(first.number), behind those of \(last)")
    }
    last = max(last, batch.transactions.last?.number ?? 0)
    if let base, last > base { report("are of transaction \(last), but the base is \(base)") }
    let count = frames.last.map { $0.first + Int64($0.count) } ?? 0
    frames.append(
      ChunkReference(
        offset: offset, length: UInt32(truncatingIfNeeded: payload.length),
        checksum: payload.checksum, first: count, count: UInt32(batch.changes.count)))
    batch.forEachLargeValue { values.append(($0, offset)) }
  }

  /// Compares the base's directory with the frames before it.
  mutating func check(
    _ directory: CheckpointDirectory, at offset: UInt64, _ largeValues: inout LargeValueChecks,
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
    for (value, offset) in values { largeValues.checkReference(to: value, from: offset, &log) }
    values = []
  }

  /// Reports tombstones that no base followed.
  func reportWithoutBase(_ log: inout FindingLog) {
    guard !hasBase, let first = frames.first else { return }
    log.error(
      .tombstone, at: first.offset, "tombstones in a file without a base",
      remedy: Remedy.salvage)
  }
}
