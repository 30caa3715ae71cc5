import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The state of a `LogFile`, guarded by its mutex: the position in the file, the tables, and the
/// open transaction.
struct LogState: Sendable {
  var generation: LogGeneration
  var tables: LogTables
  /// The end of the log: where the next frame goes.
  var end: ChainPoint
  var report: RecoveryReport
  /// The durable mark for the next frames and slots.
  var durableMark: UInt64
  /// Up to where this log has synced itself, or found everything proven.
  var synced: SyncedPoint
  /// Where a failure begins to remove: after what was acknowledged, and after everything that was
  /// there when the lock was taken.
  var acknowledged: ChainPoint
  /// After the last frame that nobody may remove: it was appended here, or is known to be synced.
  /// If it is gone, somebody has written other bytes over the file.
  var kept: ChainPoint?
  /// What others appended since the tail was repaired, and nothing proves synced: compared with the
  /// disk before a sync that is to cover it.
  var unchecked: Range<UInt64>?

  var isLocked = false
  /// Whether the tail after the end is repaired, so that frames may be appended.
  var isTailRepaired = false
  /// The failure that left an outcome unknown; after it nothing more is written.
  var failure: StorageError?
  /// Whether the file's name, too, is known to survive a power cut.
  var isNameSynced = false
  var isClosed = false
  /// The generation that has replaced this one; a recovery goes on with it.
  var replacement: LogGeneration?

  /// The size of the file, as far as known; between the end and it the file reads as zeros.
  var size: UInt64
  /// By how much to grow the file next.
  var growth = LogState.leastGrowth
  /// The newest root slot, as far as known, and whether it was synced.
  var slot: SlotStanding

  /// The open transaction.
  var transaction: OpenTransaction?
  /// The one before, empty, for its memory.
  var spareTransaction: OpenTransaction?
  /// Consumers' advances that the file does not contain yet.
  var advances = PendingAdvances()
  /// The frames that are not written yet.
  var frames: FrameWriter
  /// Memory for encoding payloads.
  var payload: ContiguousArray<UInt8> = []
  var names = NameNumbers()
  /// The number of this log's own opening, once a transaction has recorded it; 0 before.
  var ownOpening: OpeningNumber = 0

  static let leastGrowth: UInt64 = 64 << 10
  static let greatestGrowth: UInt64 = 4 << 20

  /// A point up to which everything was synced.
  struct SyncedPoint: Sendable {
    var offset: UInt64
    var checksum: UInt32
    var head: Int64
    /// The features announced before it.
    var announced = Features.none
    /// The size of the file that was synced along with it.
    var size: UInt64
  }

  /// The state after loading, at the end of the log. Throws `newerWriter` if the options ask for
  /// writing and the file must not be written to.
  init(_ loading: LogLoading, _ options: LogOptions) throws(LogError) {
    precondition(loading.isDone, "the recovery has not reached its end")
    generation = loading.generation
    tables = loading.tables
    end = loading.end
    report = loading.report
    durableMark = min(loading.report.provenMark, loading.end.offset)
    acknowledged = loading.end
    size = try loading.generation.size()
    slot = SlotStanding(newest: loading.newestSlot)
    synced = SyncedPoint(
      offset: 0, checksum: 0, head: loading.tables.head.number, size: slot.newest?.extent ?? 0)
    frames = FrameWriter(seed: generation.seed, at: end, durableMark: nil)
    if let opening = options.opening {
      let known = tables.openings.list.last { $0.id == opening.id }
      ownOpening = known?.number ?? 0
    }
    if durableMark == end.offset { noteSynced() }
    if options.access == .writing { try requireWritable() }
  }

  var isPoisoned: Bool { failure != nil }

  var view: LogView { LogView(file: generation, tables: tables, end: end.offset) }

  /// Notes that everything up to the end is known to be synced.
  mutating func noteSynced() {
    synced = SyncedPoint(
      offset: end.offset, checksum: end.previousChecksum ?? 0, head: tables.head.number,
      announced: tables.announced, size: min(synced.size, size))
    durableMark = end.offset
    acknowledged = end
    kept = end
  }

  func requireOpen() throws(LogError) {
    if isClosed { throw .closed }
    if let failure { throw .poisoned(failure) }
  }

  /// Throws `newerWriter` if a writer must know features that this engine does not. Another process
  /// may announce one at any time; then its commits are read, and nothing more is written.
  func requireWritable() throws(LogError) { try features.requireWritable() }

  /// The features of the file: those in its header, and those announced since.
  var features: Features { generation.header.features.union(tables.announced) }

  /// Drops the frames that were not written, and returns to the end.
  mutating func resetFrames() {
    frames = FrameWriter(seed: generation.seed, at: end, durableMark: durableMark)
  }
}

extension LogState {
  /// Writes the gathered frames, and grows the file as needed. Throws `storage`, with nothing
  /// written, if there is no space; `outcomeUnknown`, poisoned, if the write failed.
  mutating func writeFrames() throws(LogError) {
    guard !frames.bytes.isEmpty else { return }
    let file = generation.file
    let start = frames.start
    try reserve(upTo: frames.offset)
    do {
      try frames.bytes.withBytes { bytes throws(StorageError) in try file.write(bytes, at: start) }
    } catch {
      throw poison(error)
    }
    frames.removeAll()
  }

  /// Makes the file at least `needed` bytes long: by steps that double from 64 KiB to 4 MiB, or by
  /// just what is needed if there is no space for more. The new space reads as zeros.
  mutating func reserve(upTo needed: UInt64) throws(LogError) {
    guard needed > size else { return }
    let file = generation.file
    let from = size
    let wanted = max(needed, size + growth)
    do {
      try file.allocate(from: from, to: wanted)
      size = wanted
      growth = min(growth * 2, LogState.greatestGrowth)
    } catch {
      do {
        try file.allocate(from: from, to: needed)
        size = needed
      } catch {
        // The file may have grown in part.
        if let length = try? file.size() { size = max(size, length) }
        throw .storage(error)
      }
    }
  }

  /// Writes zeros over everything from the end to `limit`, the first frame's header last: until
  /// then a reader sees a unit that is not whole, and afterwards none.
  mutating func erase(upTo limit: UInt64) throws(StorageError) {
    try erase(from: end.offset, upTo: limit)
  }

  private func erase(from start: UInt64, upTo limit: UInt64) throws(StorageError) {
    guard limit > start else { return }
    let file = generation.file
    let head = min(limit, start + UInt64(FormatLimits.frameHeaderLength))
    let zeros = ContiguousArray<UInt8>(repeating: 0, count: 1 << 20)
    try zeros.withBytes { bytes throws(StorageError) in
      var offset = head
      while offset < limit {
        let count = Int(min(limit - offset, UInt64(bytes.count)))
        try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
        offset += UInt64(count)
      }
      try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<Int(head - start)]), at: start)
    }
  }

  /// A point of the open transaction to roll back to.
  struct Standing {
    fileprivate let point: ChainPoint
    fileprivate let largeValueCount: Int
  }

  var standing: Standing {
    Standing(point: frames.point, largeValueCount: transaction?.largeValues.count ?? 0)
  }

  /// Rolls the open transaction back to `standing`: removes the frames since then, including
  /// written ones. Throws `outcomeUnknown`, poisoned, if that fails.
  mutating func rollBack(to standing: Standing) throws(LogError) {
    let written = frames.start
    if written > standing.point.offset {
      do {
        try erase(from: standing.point.offset, upTo: written)
      } catch {
        throw poison(error)
      }
      frames = FrameWriter(
        seed: generation.seed, at: standing.point, durableMark: frames.durableMark)
    } else {
      frames.rollBack(to: standing.point)
    }
    let count = transaction?.largeValues.count ?? 0
    transaction?.largeValues.removeLast(count - standing.largeValueCount)
    transaction?.isWithinLargeValue = false
  }

  /// Poisons the log after a failed write or sync: removes what was not acknowledged, as far as
  /// possible, and lets nothing more be written. Returns the error to throw.
  mutating func poison(_ failure: StorageError) -> LogError {
    guard !isPoisoned else { return .outcomeUnknown(failure) }
    transaction = nil
    if isLocked {
      end = acknowledged
      try? erase(upTo: frames.offset)
    }
    return ended(by: failure)
  }

  /// Lets nothing more be written after an error of the storage. Returns the error to throw.
  mutating func ended(by error: any Error) -> LogError {
    guard let failure = error as? StorageError else { return LogError(error) }
    self.failure = failure
    return .outcomeUnknown(failure)
  }
}
