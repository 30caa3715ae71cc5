import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// What a verification found, in sum.
package struct PhysicalReport: Sendable {
  package var errors = 0
  package var warnings = 0
  package var notes = 0
  /// Where the log ends, and what lies behind.
  package var end: LogEnd
  package var statistics: FileStatistics

  /// Whether nothing is out of order; notes say what is worth knowing.
  package var isClean: Bool { errors == 0 && warnings == 0 }
  /// Whether all that is acknowledged can be read, so that the logical half makes sense.
  package var isSound: Bool { errors == 0 }
}

/// The physical half of `verify`: everything that a file says is checked against its checksums,
/// its rules and itself, without replaying it.
///
/// Shares no code with the log's recovery. Two passes: the first finds the end of the log, the
/// second judges each frame. Time: that of reading the file twice and decoding it once. Memory: one
/// frame and its batch, and per chunk, large value, checkpoint and entry of the history index a few
/// words; names, openings and the schema as any reader has them.
package struct PhysicalVerification {
  var walk: FileWalk
  let header: FileHeader?
  var batch = ChangeBatch()
  var transactions: TransactionChecks
  private var blobs = BlobChecks()
  private var checkpoints: CheckpointChecks
  var consumers = ConsumerChecks()
  var tombstones = TombstoneChecks()
  var statistics: StatisticsCollector

  /// A verification of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile) throws(StorageError) {
    walk = try FileWalk(file)
    header = if case .valid(let header) = walk.header { header } else { nil }
    transactions = TransactionChecks(base: header?.base, timestamp: header?.greatestTimestamp)
    checkpoints = CheckpointChecks(header: header)
    statistics = StatisticsCollector(fileSize: walk.bytes.size, header: header)
  }

  /// Verifies the file, handing each finding to `report` as it is made, and at most a hundred of
  /// each subject. Throws if the system refuses to read. Call it once.
  package mutating func run(
    report: @escaping (Finding) -> Void
  ) throws(StorageError) -> PhysicalReport {
    var log = FindingLog(report)
    let end = try LogEnd.find(in: walk)
    var outline = OutlineChecks(end: end, size: walk.bytes.size)
    var marksMet: Set<UInt64> = []
    try learnBase(&log)
    outline.tail(&log)
    // An empty file has no region, and no header.
    if walk.bytes.size == 0 { outline.header(walk.header, &log) }
    while let region = try walk.next() {
      if outline.hasMark(at: region.offset) {
        marksMet.insert(region.offset)
        outline.boundary(at: region.offset, head: knownHead, &log)
      }
      try judge(region, &outline, &log)
    }
    finish(outline, marksMet, end, &log)
    let offsets = Set([header?.baseCheckpointOffset ?? 0] + checkpoints.newestOffset)
    let statistics = statistics.finish(
      base: checkpoints.base, newest: checkpoints.newest, offsets: offsets,
      vocabulary: transactions.vocabulary, blobCount: blobs.blobs.count)
    log.finish()
    return PhysicalReport(
      errors: log.severities[.error] ?? 0, warnings: log.severities[.warning] ?? 0,
      notes: log.severities[.note] ?? 0, end: end, statistics: statistics)
  }

  /// The number of the last whole transaction; nil while one is unfinished or some were lost.
  var knownHead: Int64? { transactions.isComplete ? transactions.head : nil }

  /// Takes names, openings and schema from the base's checkpoint, wherever it is.
  private mutating func learnBase(_ log: inout FindingLog) throws(StorageError) {
    guard let header else { return transactions.forget() }
    guard header.baseCheckpointOffset != 0 else { return }
    guard let frames = walk.frames,
      let directory = try frames.directory(at: header.baseCheckpointOffset)
    else { return transactions.begin(nil, names: nil, openings: nil) }
    let names = try frames.entries(of: directory.names)
    let openings = try frames.entries(of: directory.openings)
    transactions.begin(directory, names: names, openings: openings)
    for (place, opening) in (openings ?? []).enumerated() where Int(opening.number) != place + 1 {
      log.error(
        .opening, at: header.baseCheckpointOffset,
        "the base has opening \(place + 1) as number \(opening.number)")
      break
    }
  }

  private func finish(
    _ outline: OutlineChecks, _ marksMet: Set<UInt64>, _ end: LogEnd, _ log: inout FindingLog
  ) {
    let size = walk.bytes.size
    var met = marksMet
    if outline.hasMark(at: end.end) {
      // The walk does not come by the end of the file.
      if end.end == size { outline.boundary(at: size, head: knownHead, &log) }
      met.insert(end.end)
    }
    outline.marks(met: met, &log)
    outline.slotsTogether(&log)
    if end.tail.isOrderly { transactions.finish(at: end.end, &log) }
    tombstones.finish(&log)
    checkpoints.finish(slots: outline.slotsByAge, end: end, &log)
    if let offset = transactions.firstErasure ?? checkpoints.firstErasure, !outline.has(.erasure) {
      log.error(
        .feature, at: offset,
        "an erased value, though neither the header nor an announcement says that the file has any")
    }
    for range in walk.bytes.unreadable {
      log.error(.disk, at: range.lowerBound, "the disk cannot read \(range.count) bytes")
    }
  }
}

// Regions.
extension PhysicalVerification {
  private mutating func judge(
    _ region: FileRegion, _ outline: inout OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) {
    if outline.isTorn(region) {
      let isZeros = if case .unwritten = region.content { true } else { false }
      return statistics.count(region, as: isZeros ? .preallocated : .torn)
    }
    switch region.content {
    case .header(let verdict):
      outline.header(verdict, &log)
      if region.end < UInt64(FormatLimits.blockLength), case .valid = verdict {
        log.error(.header, at: 0, "the file ends within its header")
      }
      statistics.count(region, as: .header)
    case .slot(let index, let verdict):
      outline.slot(index, verdict, at: region.offset, &log)
      statistics.count(region, as: .header)
    case .unwritten:
      outline.stretch(region, isLast: region.end >= walk.bytes.size, &log)
      missed()
      statistics.count(region, as: .preallocated)
    case .damaged:
      outline.stretch(region, isLast: region.end >= walk.bytes.size, &log)
      missed()
      statistics.count(region, as: .unreadable)
    case .frame(let frame):
      outline.frame(frame, in: region, &log)
      try judgeMark(of: frame, in: region, &outline, &log)
      try judge(frame, in: region, &outline, &log)
    }
  }

  /// Takes note that frames may have been lost, unless this is the end of the file.
  private mutating func missed() {
    guard walk.position < walk.bytes.size else { return }
    transactions.forget()
    consumers.forget()
  }

  private mutating func judgeMark(
    of frame: WalkedFrame, in region: FileRegion, _ outline: inout OutlineChecks,
    _ log: inout FindingLog
  ) throws(StorageError) {
    guard let frames = walk.frames else { return }
    try outline.mark(of: frame, at: region.offset, &log) { mark throws(StorageError) in
      try frames.header(at: mark) != nil
    }
  }

  private mutating func judge(
    _ frame: WalkedFrame, in region: FileRegion, _ outline: inout OutlineChecks,
    _ log: inout FindingLog
  ) throws(StorageError) {
    let kind = frame.header.kind
    if kind != .blob { blobs.interrupt(at: region.offset, &log) }
    guard frame.payload == .valid, kind.isKnown else {
      if kind == .consumerChange || kind == .retention {
        consumers.forget()
      } else if kind != .chunk, kind != .checkpoint, kind != .tombstones {
        transactions.forget()
      }
      return statistics.count(region, as: .unreadable)
    }
    let fault: DecodeFault?
    switch kind {
    case .transaction, .block: fault = try takeTransactions(frame, in: region, &log)
    case .blob: fault = try takeBlob(frame, in: region, &log)
    case .chunk:
      try takeChunk(frame, in: region)
      return
    case .consumerChange: fault = try takeConsumer(frame, in: region, outline, &log)
    case .retention: fault = try takeRetention(frame, in: region, outline, &log)
    case .tombstones: fault = try takeTombstones(frame, in: region, outline, &log)
    case .featureAnnouncement:
      let announcement = try walk.decode(frame, in: region, Features.init(announcement:flags:))
      fault = outline.announcement(announcement, at: region.offset, &log)
      if fault == nil { statistics.count((try? announcement.get()) ?? .none, in: region) }
    default: fault = try takeDirectory(frame, in: region, &log)
    }
    guard let fault else { return }
    let what = "the \(kind.name) frame cannot be decoded: \(fault)"
    if fault.isNewer {
      log.error(.record, at: region.offset, what, remedy: Remedy.newerVersion)
      transactions.forget()
    } else if kind == .checkpoint {
      log.warning(.checkpoint, at: region.offset, what, remedy: Remedy.compact)
    } else if kind == .consumerChange {
      log.error(.consumer, at: region.offset, what, remedy: Remedy.compact)
      consumers.forget()
    } else if kind == .retention {
      log.error(.retention, at: region.offset, what, remedy: Remedy.compact)
      consumers.forget()
    } else if kind == .tombstones {
      log.error(.tombstone, at: region.offset, what, remedy: Remedy.salvage)
    } else {
      log.error(.record, at: region.offset, what)
      transactions.forget()
    }
    statistics.count(region, as: .unreadable)
  }

  private mutating func takeTransactions(
    _ frame: WalkedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    if let fault = try walk.decode(frame, in: region, into: &batch) { return fault }
    if frame.header.kind == .block {
      // History skips blocks by their summary: one that lies hides transactions.
      let summary = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
        try BlockCodec.decodeSummary(payload)
      }
      guard (try? summary.get()) == BlockCodec.summary(of: batch) else {
        return .invalid(at: 0, reason: "a summary that does not fit the block")
      }
    }
    var blobs = self.blobs
    self.blobs = BlobChecks()
    for record in batch.transactions {
      transactions.take(record, in: batch, at: region.offset, &log) {
        blobs.refer(to: $0, from: region.offset, &$1)
      }
    }
    self.blobs = blobs
    statistics.count(batch, in: region)
    return nil
  }

  private mutating func takeBlob(
    _ frame: WalkedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    var blobs = self.blobs
    self.blobs = BlobChecks()
    defer { self.blobs = blobs }
    let fault = try walk.decode(frame, in: region) { (payload, flags) throws(DecodeFault) in
      let part = try BlobCodec.decode(payload)
      blobs.take(part, isContinued: flags.contains(.continued), at: region.offset, &log)
    }.fault
    if fault == nil { statistics.count(region, as: .blobs) }
    return fault
  }

  private mutating func takeChunk(
    _ frame: WalkedFrame, in region: FileRegion
  ) throws(StorageError) {
    let summary = try walk.withPayload(of: frame, at: region.offset) { payload in
      (length: payload.count, checksum: Checksum.crc32(payload))
    }
    checkpoints.take(chunkOf: summary.length, checksum: summary.checksum, at: region.offset)
    statistics.countCheckpointFrame(region)
  }

  private mutating func takeDirectory(
    _ frame: WalkedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try CheckpointDirectory.decode(payload)
    }
    switch decoded {
    case .failure(let fault): return fault
    case .success(var directory):
      if let fault = try walk.frames?.resolveLists(of: &directory) { return fault }
      try checkpoints.take(
        directory, at: region.offset, behind: transactions, blobs: &blobs, in: &walk, &log)
      consumers.take(directory, at: region.offset, &log)
      tombstones.take(directory, at: region.offset, &blobs, &log)
      statistics.countCheckpointFrame(region)
      return nil
    }
  }
}

extension LogEnd.Tail {
  /// Whether the log ends where it should: nothing behind its last unit was ever synced.
  package var isOrderly: Bool {
    switch self {
    case .clean, .unclosed, .torn: true
    case .damaged, .unknown: false
    }
  }
}
