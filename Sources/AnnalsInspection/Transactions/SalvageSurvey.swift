import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// What can be read of a damaged file, as a first pass over it finds: where unbroken runs of
/// transactions are, which checkpoints and large values are whole.
///
/// Memory: a few words for each run, checkpoint and large value.
package struct SalvageSurvey: Sendable {
  /// Transactions whose numbers follow one another without a gap.
  package struct Run: Hashable, Sendable {
    package var first: Int64
    package var last: Int64
    /// The frame with the first transaction, and the last frame.
    package var firstOffset: UInt64
    /// The first number in that frame, which may hold others before the run.
    package var frameFirst: Int64
    package var lastOffset: UInt64
    /// What could not be read before it, in words; empty if nothing was.
    package var reason: String
    /// Where that was.
    package var lostBytes: Range<UInt64>
    /// The timestamps of the first transaction and of the one with the greatest.
    package var firstTimestamp: Timestamp
    package var maximumTimestamp: Timestamp
  }

  /// The directory of a checkpoint whose payload is what was written.
  package struct Checkpoint: Hashable, Sendable {
    package var offset: UInt64
    package var number: Int64
    package var isBase: Bool
  }

  /// A large value whose pieces are all there.
  package struct Blob: Hashable, Sendable {
    package var number: UInt64
    package var length: UInt64
    package var offset: UInt64
    package var checksum: UInt32
    /// Whether it says that its bytes were lost in an earlier salvage.
    package var isLost = false

    /// Whether its bytes are those that a record describes.
    package func suits(_ value: LargeValue) -> Bool {
      length == value.length && (isLost || checksum == value.checksum)
    }
  }

  package private(set) var runs: [Run] = []
  package private(set) var checkpoints: [Checkpoint] = []
  /// As the last frames that can be read leave them.
  package private(set) var consumers = ConsumerTable()
  package private(set) var retention = RetentionPolicy.off
  /// What the base says of tombstones.
  package private(set) var tombstones: KeptTombstones?
  /// Where the frames of tombstones are that can be read.
  package private(set) var tombstoneOffsets: [UInt64] = []
  /// In the order of the file.
  package private(set) var blobs: [Blob] = []
  /// The large values that transactions mention, by number: as the first that suits the whole one
  /// of that number describes it, or else as the first does.
  package private(set) var mentioned: [UInt64: LargeValue] = [:]
  /// What could not be read behind the last run; nil if nothing was.
  package private(set) var rest: (bytes: Range<UInt64>, reason: String)?
  private var witness = EndWitness()
  /// The greatest number that there was for certain: the head that a valid root slot names, the
  /// base in the header, the transaction that a checkpoint is of; 0 without any.
  package private(set) var slotHead: Int64 = 0
  /// The greatest durable mark of a slot that names this head.
  package private(set) var slotMark: UInt64 = 0
  /// Frames of kinds that only a newer version can read.
  package private(set) var newerKind: UInt8?
  /// The features announced in slots and frames.
  package private(set) var announced = Features.none
  /// Features that only a newer version knows and a reader must know, and the offset of the header,
  /// slot or frame that says so; nil if there are none.
  package private(set) var newerFeatures: (bits: UInt64, offset: UInt64)?
  /// Where the log ends, and what lies behind.
  package let end: LogEnd
  /// The header, as it is or restored; nil if it cannot be had.
  package let header: FileHeader?
  /// What was made of the first block.
  package let headerVerdict: HeaderVerdict
  package let hasSeed: Bool
  package let fileSize: UInt64

  /// Goes through an open file twice. Throws if the system refuses to read.
  package init(_ file: any StorageFile) throws(StorageError) {
    let walk = try FileWalk(file)
    header = walk.restoredHeader
    headerVerdict = walk.header
    hasSeed = walk.seed != nil
    fileSize = walk.bytes.size
    end = try LogEnd.find(in: walk)
    try survey(frames: walk)
    try survey(transactionsOf: file)
    let known = max(header?.base ?? 0, checkpoints.map(\.number).max() ?? 0)
    if known > slotHead {
      slotHead = known
      slotMark = 0
    }
  }

  private mutating func survey(frames start: FileWalk) throws(StorageError) {
    var walk = start
    var pieces = BlobPieces()
    while let region = try walk.next() {
      witness.take(region)
      switch region.content {
      case .header(.damaged(.unknownFeatures(let bits))): newerFeatures = (bits, 0)
      case .slot(_, .damaged(.unknownFeatures(_, let bits))): newerFeatures = (bits, region.offset)
      case .slot(_, .valid(let slot)): note(slot)
      default: break
      }
      guard let frame = region.frame, frame.payload == .valid else {
        pieces.open = nil
        continue
      }
      let kind = frame.header.kind
      if !kind.isKnown, !frame.header.flags.contains(.skippable) { newerKind = kind.rawValue }
      if kind != .blob { pieces.open = nil }
      if kind == .featureAnnouncement {
        note(
          try walk.decode(frame, in: region, Features.init(announcement:flags:)), at: region.offset)
      } else if kind == .blob {
        var taken = pieces
        let isLast = !frame.header.flags.contains(.continued)
        let blob = try walk.withPayload(of: frame, at: region.offset) {
          taken.take($0, at: region.offset, isLast: isLast)
        }
        pieces = taken
        if let blob, blob.number > blobs.last?.number ?? 0 { blobs.append(blob) }
      } else if kind == .consumerChange {
        let change = try walk.decode(frame, in: region, ConsumerCodec.decode(_:flags:))
        if case .success(let change) = change { consumers.apply(change) }
      } else if kind == .retention {
        let policy = try walk.decode(frame, in: region, RetentionCodec.decode(_:flags:))
        retention = (try? policy.get()) ?? .off
      } else if kind == .tombstones {
        tombstoneOffsets.append(region.offset)
      } else if kind == .checkpoint {
        let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
          try CheckpointDirectory.decode(payload)
        }
        guard case .success(let directory) = decoded else { continue }
        consumers = directory.consumers
        retention = directory.retention
        if directory.isBase { tombstones = directory.tombstones }
        checkpoints.append(
          Checkpoint(offset: region.offset, number: directory.number, isBase: directory.isBase))
      }
    }
  }

  private mutating func note(_ announcement: Result<Features, DecodeFault>, at offset: UInt64) {
    switch announcement {
    case .success(let features): announced.formUnion(features)
    case .failure(.unknownFeatures(_, let bits)): newerFeatures = (bits, offset)
    case .failure: break
    }
  }

  private mutating func note(_ slot: RootSlot) {
    announced.formUnion(slot.announced)
    if slot.head > slotHead { slotMark = 0 }
    guard slot.head >= slotHead else { return }
    slotHead = slot.head
    slotMark = max(slotMark, slot.durableMark)
  }

  /// Whether there may have been transactions behind `head`, the greatest number that is known of:
  /// how many bytes could not be read there, and why; 0 bytes if they are gone. Nil if nothing
  /// speaks for it.
  package func rest(behind head: Int64) -> (bytes: UInt64, reason: String)? {
    if let rest, !proves(head, upTo: rest.bytes.upperBound) {
      let start = slotHead == head ? max(rest.bytes.lowerBound, slotMark) : rest.bytes.lowerBound
      return (rest.bytes.upperBound - min(start, rest.bytes.upperBound), rest.reason)
    }
    if fileSize < FormatLimits.logStart {
      // No store is that short: what was cut off, and how much, nothing tells.
      return (0, "the file ends within its first blocks")
    }
    return witness.reasonForMore(behind: head, size: fileSize).map { (0, $0) }
  }

  /// Whether the file tells where it ended. What a process that was killed wrote last may be gone
  /// without a trace, where zeros are in its place.
  package var provesEnd: Bool { witness.provesEnd(size: fileSize) }

  /// Whether a slot or a checkpoint says that no transaction behind `head` was before `offset`.
  private func proves(_ head: Int64, upTo offset: UInt64) -> Bool {
    if slotHead == head, slotMark >= offset { return true }
    return checkpoints.contains { $0.offset >= offset && $0.number == head }
  }

  /// Puts the pieces of large values together.
  private struct BlobPieces {
    var open: Blob?
    private var done: UInt64 = 0

    /// Takes the next piece; returns the value that it makes whole, if it does.
    mutating func take(
      _ payload: UnsafeRawBufferPointer, at offset: UInt64, isLast: Bool
    ) -> Blob? {
      guard let part = try? BlobCodec.decode(payload) else {
        open = nil
        return nil
      }
      if part.isFirst {
        open = Blob(number: part.number, length: part.totalLength, offset: offset, checksum: 0)
        open?.isLost = part.isLost
        done = part.isLost ? part.totalLength : 0
      }
      guard var blob = open, blob.number == part.number, blob.length == part.totalLength,
        part.isLost || done == part.start
      else {
        open = nil
        return nil
      }
      blob.checksum = Checksum.crc32(part.bytes, startingFrom: blob.checksum)
      done += UInt64(part.bytes.count)
      open = isLast ? nil : blob
      return isLast && done == blob.length ? blob : nil
    }
  }

  private mutating func survey(transactionsOf file: any StorageFile) throws(StorageError) {
    let whole = Dictionary(blobs.map { ($0.number, $0) }) { first, _ in first }
    var transactions = try ReadableTransactions(file)
    var lost: (bytes: Range<UInt64>, reason: String)?
    while let item = try transactions.next() {
      switch item {
      case .hole(let hole): lost = (hole.bytes, hole.reason)
      case .transactions(let offset):
        note(transactions.batch, at: offset, lost)
        mention(in: transactions.batch, whole)
        lost = nil
      }
    }
    rest = lost
  }

  private mutating func note(
    _ batch: ChangeBatch, at offset: UInt64, _ lost: (bytes: Range<UInt64>, reason: String)?
  ) {
    for record in batch.transactions {
      if record.part == 0 {
        if let last = runs.indices.last, runs[last].last == record.firstNumber - 1 {
          runs[last].last = record.number
        } else {
          runs.append(
            Run(
              first: record.firstNumber, last: record.number, firstOffset: offset,
              frameFirst: batch.transactions.first?.firstNumber ?? record.firstNumber,
              lastOffset: offset, reason: lost?.reason ?? "",
              lostBytes: lost?.bytes ?? offset..<offset, firstTimestamp: record.timestamp,
              maximumTimestamp: record.timestamp))
        }
      }
      guard let last = runs.indices.last else { return }
      runs[last].lastOffset = offset
      runs[last].maximumTimestamp = max(runs[last].maximumTimestamp, record.timestamp)
    }
  }

  /// Takes note of the large values that transactions speak of.
  private mutating func mention(in batch: ChangeBatch, _ whole: [UInt64: Blob]) {
    batch.forEachLargeValue { value in
      if mentioned[value.number] == nil || whole[value.number]?.suits(value) == true {
        mentioned[value.number] = value
      }
    }
  }
}
