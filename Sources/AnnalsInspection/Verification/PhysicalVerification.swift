import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The result of a physical verification.
package struct PhysicalReport: Sendable {
  package var errors = 0
  package var warnings = 0
  package var notes = 0
  /// Where the log ends, and what lies behind.
  package var end: LogEnd
  /// The number of whole or begun transactions that could be read.
  package var transactions: Int64
  package var fileSize: UInt64

  /// Whether there are no errors and no warnings; there may be notes.
  package var isClean: Bool { errors == 0 && warnings == 0 }
  /// Whether all acknowledged data can be read, so that the logical half can run.
  package var isSound: Bool { errors == 0 }
}

/// The physical half of `verify`: checks a file against its checksums, against the rules of
/// FORMAT.md and against itself, without replaying it.
///
/// Shares with the log's recovery only what a frame is and where a log ends (AnnalsFrames). The
/// first of two passes finds the end of the log, from frame header to frame header, the second
/// checks each frame. Costs reading the file twice, what lies behind damage four times, and
/// decoding it once. Memory: one frame and its batch; names, openings and the schema; and a few
/// words for each chunk, large value, checkpoint and entry of the history index.
package struct PhysicalVerification {
  var walk: FileWalk
  /// The header, if it is valid.
  package let header: FileHeader?
  /// Learns what each region is used for; set it before `run`.
  package var observer: (any VerificationObserver)?
  var batch = ChangeBatch()
  var transactions: TransactionChecks
  private var largeValues = LargeValueChecks()
  private var checkpoints: CheckpointChecks
  var sideRecords = SideRecordChecks()
  var tombstones = TombstoneChecks()
  /// The number of transactions so far.
  private var transactionCount: Int64 = 0

  /// A verification of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile) throws(StorageError) {
    walk = try FileWalk(file)
    header = if case .valid(let header) = walk.header { header } else { nil }
    transactions = TransactionChecks(base: header?.base, timestamp: header?.greatestTimestamp)
    checkpoints = CheckpointChecks(header: header)
  }

  /// Verifies the file and passes each finding to `report` at once, at most a hundred of each
  /// subject. Throws if the system cannot read. Call it once.
  package mutating func run(
    report: @escaping (Finding) -> Void
  ) throws(StorageError) -> PhysicalReport {
    var log = FindingLog(report)
    let end = try LogEnd.find(in: walk)
    var outline = OutlineChecks(end: end, size: walk.size)
    var marksMet: Set<UInt64> = []
    try learnBase(&log)
    outline.tail(&log)
    // An empty file has no region, and no header.
    if walk.size == 0 { outline.header(walk.header, &log) }
    while let region = try walk.next() {
      if outline.hasMark(at: region.offset) {
        marksMet.insert(region.offset)
        outline.boundary(at: region.offset, head: knownHead, &log)
      }
      try check(region, &outline, &log)
    }
    checkWhole(outline, marksMet, end, &log)
    let offsets = Set([header?.baseCheckpointOffset ?? 0] + checkpoints.newestOffset)
    observer?.end(
      base: checkpoints.base, newest: checkpoints.newest, offsets: offsets,
      vocabulary: transactions.vocabulary)
    log.reportHeldBack()
    return PhysicalReport(
      errors: log.severities[.error] ?? 0, warnings: log.severities[.warning] ?? 0,
      notes: log.severities[.note] ?? 0, end: end,
      transactions: transactionCount, fileSize: fileSize)
  }

  /// The length of the file.
  package var fileSize: UInt64 { walk.size }

  /// The number of the last whole transaction; nil within one, or if some may be missing.
  var knownHead: Int64? { transactions.isComplete ? transactions.head : nil }

  /// Loads names, openings and the schema from the base's checkpoint.
  private mutating func learnBase(_ log: inout FindingLog) throws(StorageError) {
    guard let header else { return transactions.markIncomplete() }
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

  /// Checks what only the whole file tells.
  private func checkWhole(
    _ outline: OutlineChecks, _ marksMet: Set<UInt64>, _ end: LogEnd, _ log: inout FindingLog
  ) {
    let size = walk.size
    var met = marksMet
    if outline.hasMark(at: end.end) {
      // No region begins at the end of the file.
      if end.end == size { outline.boundary(at: size, head: knownHead, &log) }
      met.insert(end.end)
    }
    outline.marks(met: met, &log)
    outline.slotsTogether(&log)
    if end.tail.isOrderly { transactions.reportUnfinished(at: end.end, &log) }
    tombstones.reportWithoutBase(&log)
    checkpoints.checkReferences(from: outline.slotsByAge, end: end, &log)
    if let offset = transactions.firstErasure ?? checkpoints.firstErasure, !outline.has(.erasure) {
      log.error(
        .feature, at: offset,
        "an erased value, though neither the header nor an announcement says that the file has any")
    }
    if let offset = transactions.firstDecimalOrDay ?? checkpoints.firstDecimalOrDay,
      !outline.has(.decimalsAndDays)
    {
      log.error(
        .feature, at: offset,
        "a decimal or a day, though neither the header nor an announcement says that the file has "
          + "any")
    }
    if let offset = transactions.firstUndo, !outline.has(.undo) {
      log.error(
        .feature, at: offset,
        "a group or an undo, though neither the header nor an announcement says that there is any")
    }
    if let offset = transactions.firstMigration, !outline.has(.migrations) {
      log.error(
        .feature, at: offset,
        "a migration, though neither the header nor an announcement says that there is any")
    }
    for range in walk.unreadable {
      log.error(.disk, at: range.lowerBound, "the disk cannot read \(range.count) bytes")
    }
  }
}

// Regions.
extension PhysicalVerification {
  func count(_ region: FileRegion, as use: ByteUse) { observer?.count(region, as: use) }

  private mutating func check(
    _ region: FileRegion, _ outline: inout OutlineChecks, _ log: inout FindingLog
  ) throws(StorageError) {
    if outline.isTorn(region) {
      let isZeros = if case .unwritten = region.content { true } else { false }
      return count(region, as: isZeros ? .preallocated : .torn)
    }
    switch region.content {
    case .header(let verdict):
      outline.header(verdict, &log)
      if region.end < UInt64(FormatLimits.blockLength), case .valid = verdict {
        log.error(.header, at: 0, "the file ends within its header")
      }
      count(region, as: .header)
    case .slot(let index, let verdict):
      outline.slot(index, verdict, at: region.offset, &log)
      count(region, as: .header)
    case .unwritten:
      outline.stretch(region, isLast: region.end >= walk.size, &log)
      noteMissingFrames()
      count(region, as: .preallocated)
    case .damaged:
      outline.stretch(region, isLast: region.end >= walk.size, &log)
      noteMissingFrames()
      count(region, as: .unreadable)
    case .frame(let frame):
      outline.frame(frame, in: region, &log)
      try checkMark(of: frame, in: region, &outline, &log)
      try check(frame, in: region, &outline, &log)
    }
  }

  /// Notes that frames may be missing here, unless this is the end of the file.
  private mutating func noteMissingFrames() {
    guard walk.position < walk.size else { return }
    transactions.markIncomplete()
    sideRecords.markIncomplete()
  }

  private mutating func checkMark(
    of frame: InspectedFrame, in region: FileRegion, _ outline: inout OutlineChecks,
    _ log: inout FindingLog
  ) throws(StorageError) {
    guard let frames = walk.frames else { return }
    try outline.mark(of: frame, at: region.offset, &log) { mark throws(StorageError) in
      try frames.header(at: mark) != nil
    }
  }

  private mutating func check(
    _ frame: InspectedFrame, in region: FileRegion, _ outline: inout OutlineChecks,
    _ log: inout FindingLog
  ) throws(StorageError) {
    let kind = frame.header.kind
    if kind != .largeValue { largeValues.reportUnfinished(at: region.offset, &log) }
    guard frame.payload == .valid, kind.isKnown else {
      markIncomplete(without: kind)
      return count(region, as: .unreadable)
    }
    let fault: DecodeFault?
    switch kind.role {
    case .transactions: fault = try checkTransactions(frame, in: region, &log)
    case .largeValue: fault = try checkLargeValue(frame, in: region, &log)
    case .chunk:
      try addChunk(frame, in: region)
      return
    case .sideRecord: fault = try checkSideRecord(frame, in: region, outline, &log)
    case .tombstones: fault = try checkTombstones(frame, in: region, outline, &log)
    case .announcement:
      let announcement = try walk.decode(frame, in: region, Features.init(announcement:flags:))
      fault = outline.announcement(announcement, at: region.offset, &log)
      if fault == nil { observer?.count((try? announcement.get()) ?? .none, in: region) }
    case .checkpoint: fault = try checkDirectory(frame, in: region, &log)
    case .unknown: return count(region, as: .unreadable)
    }
    guard let fault else { return }
    let what = "the \(kind.name) frame cannot be decoded: \(fault)"
    if fault.isNewer {
      log.error(.record, at: region.offset, what, remedy: Remedy.newerVersion)
      transactions.markIncomplete()
    } else {
      let severity: Finding.Severity = kind.role == .checkpoint ? .warning : .error
      log.append(Finding(severity, kind.subject, at: region.offset, what, remedy: kind.remedy))
      markIncomplete(without: kind)
    }
    count(region, as: .unreadable)
  }

  /// Notes that a frame of this kind could not be read: what follows may miss what it said.
  private mutating func markIncomplete(without kind: FrameKind) {
    switch kind.role {
    case .sideRecord: sideRecords.markIncomplete()
    case .chunk, .checkpoint, .tombstones: break
    case .transactions, .largeValue, .announcement, .unknown: transactions.markIncomplete()
    }
  }

  private mutating func checkTransactions(
    _ frame: InspectedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    if let fault = try walk.decode(frame, in: region, into: &batch) { return fault }
    if frame.header.kind == .block {
      // Readers skip blocks by their summary, so a wrong one would hide transactions.
      let summary = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
        try BlockCodec.decodeSummary(payload)
      }
      guard (try? summary.get()) == BlockCodec.summary(of: batch) else {
        return .invalid(at: 0, reason: "a summary that does not fit the block")
      }
    }
    var largeValues = self.largeValues
    self.largeValues = LargeValueChecks()
    for record in batch.transactions {
      if record.part == 0 { transactionCount += 1 }
      transactions.check(record, in: batch, at: region.offset, &log) {
        largeValues.checkReference(to: $0, from: region.offset, &$1)
      }
    }
    self.largeValues = largeValues
    observer?.count(batch, in: region)
    return nil
  }

  private mutating func checkLargeValue(
    _ frame: InspectedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    var largeValues = self.largeValues
    self.largeValues = LargeValueChecks()
    defer { self.largeValues = largeValues }
    let frames = walk.frames
    let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try LargeValueCodec.decode(payload).owned()
    }
    switch decoded {
    case .failure(let fault): return fault
    case .success(var piece):
      if piece.base != nil, let frames {
        switch try frames.made(piece, { largeValues.largeValues[$0]?.offset }) {
        case .failure(let fault): return fault
        case .success(let made): piece = made
        }
      }
      let isContinued = frame.header.flags.contains(.continued)
      largeValues.check(piece, isContinued: isContinued, at: region.offset, &log)
    }
    count(region, as: .largeValues)
    return nil
  }

  private mutating func addChunk(
    _ frame: InspectedFrame, in region: FileRegion
  ) throws(StorageError) {
    let summary = try walk.withPayload(of: frame, at: region.offset) { payload in
      (length: payload.count, checksum: Checksum.crc32(payload))
    }
    checkpoints.add(chunkOf: summary.length, checksum: summary.checksum, at: region.offset)
    observer?.countCheckpointFrame(region)
  }

  private mutating func checkDirectory(
    _ frame: InspectedFrame, in region: FileRegion, _ log: inout FindingLog
  ) throws(StorageError) -> DecodeFault? {
    let decoded = try walk.decode(frame, in: region) { (payload, _) throws(DecodeFault) in
      try CheckpointDirectory.decode(payload)
    }
    switch decoded {
    case .failure(let fault): return fault
    case .success(var directory):
      if let fault = try walk.frames?.resolveLists(of: &directory) { return fault }
      try checkpoints.check(
        directory, at: region.offset, behind: transactions, largeValues: &largeValues, in: &walk,
        &log)
      sideRecords.check(directory, at: region.offset, &log)
      tombstones.check(directory, at: region.offset, &largeValues, &log)
      observer?.countCheckpointFrame(region)
      return nil
    }
  }
}

extension LogEnd.Tail {
  /// Whether nothing behind the last unit was ever synced.
  package var isOrderly: Bool {
    switch self {
    case .clean, .unclosed, .torn: true
    case .damaged, .newer, .unknown: false
    }
  }
}
