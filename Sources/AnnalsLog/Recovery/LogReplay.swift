import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// Replays the transactions from one point of the log to its end: updates the tables, and hands the
/// changes out in batches.
///
/// Gathers small transactions into batches of about 64 KiB of log. Hands out no part of a
/// transaction before all of its parts were found whole. So whatever ends the replay, its reader
/// has whole transactions, with one exception: a later part with a right checksum that cannot be
/// decoded (`isAmidTransaction`). Memory: one batch, which is the reader's.
struct LogReplay {
  private let generation: LogGeneration
  private var reader: UnitReader
  private(set) var tables: LogTables
  /// The end of the last unit that was applied to the tables.
  private(set) var point: ChainPoint
  private(set) var replayedTransactions: Int64 = 0
  private(set) var findings: [LogFinding] = []
  /// Where the units of the last batch begin.
  private var batchStart: ChainPoint
  /// The slots whose marks lie ahead, the nearest first.
  private var slots: ArraySlice<RootSlot>
  /// A block that was met while the batch before it was gathered.
  private var blockAhead: RecordFrame?
  /// The only part of the transaction that is being added to the tables.
  private var parts = TransactionParts()
  /// The transaction in parts whose parts are being handed out.
  private var open: OpenParts?
  /// The error that ends the replay, after the batch before it.
  private var failure: LogError?

  private static let batchLength: UInt64 = 64 << 10

  /// Creates a replay from `point`, where `tables` stand, to `limit`. Checks on the way the frame
  /// before each mark against what the valid `slots` say of it.
  init(
    _ generation: LogGeneration, from point: ChainPoint, tables: LogTables, limit: UInt64,
    slots: [RootSlot] = []
  ) {
    self.generation = generation
    self.slots = slots.sorted { $0.durableMark < $1.durableMark }[...]
    self.point = point
    batchStart = point
    self.tables = tables
    reader = UnitReader(FrameWalk(generation, from: point, limit: limit))
  }

  /// A record, and what its unit has before it.
  private struct RecordFrame {
    var frame: WalkedFrame
    var unitStart: UInt64
    var largeValues: [LargeValueEntry]
  }

  /// A transaction of which some parts were handed out.
  private struct OpenParts {
    let record: TransactionRecord
    let unitStart: UInt64
    var largeValues: [LargeValueEntry]
    var parts = TransactionParts()
    var isWhole = false
  }

  /// The features that the frames passed so far announce.
  var announced: Features { reader.walk.announced }

  /// Whether some but not all parts of a transaction were handed out, or all of them and nothing
  /// after: what the replay then ends at lies within that transaction.
  var isAmidTransaction: Bool { open != nil }

  /// Fills the batch, in place of its content, with the transactions that come next: several small
  /// ones, a block of them, or one part of a large one. Returns false at the limit.
  ///
  /// Where the log is damaged it throws `damage` or `decode`, after handing out what was read
  /// before; `point` and `tables` then stand after the last whole unit.
  mutating func next(into batch: inout ChangeBatch) throws(LogError) -> Bool {
    batch.removeAll()
    if let failure { throw failure }
    do throws(LogError) {
      try fill(&batch)
    } catch {
      let error = error.withLastGood(tables.head.number)
      guard error.endsLog, !isAmidTransaction, !batch.transactions.isEmpty else { throw error }
      failure = error
    }
    return !batch.transactions.isEmpty
  }

  /// The error of a reader that could not apply the last batch; a misfit gets the offset of its
  /// frame. O(length of the batch).
  func locating(_ error: any Error) -> LogError {
    let error = LogError(ofCaller: error)
    guard var misfit = error.misfit else { return error.withLastGood(tables.head.number) }
    let walk = FrameWalk(generation, from: batchStart, limit: reader.walk.limit)
    do throws(LogError) {
      misfit.offset = try walk.offset(of: misfit.number, part: misfit.part)
      return .interrupted(misfit)
    } catch {
      return error
    }
  }

  private mutating func fill(_ batch: inout ChangeBatch) throws(LogError) {
    if let open {
      guard open.isWhole else { return try readPart(into: &batch) }
      try close(open)
    }
    batchStart = point
    if let block = blockAhead.take() { return try read(block: block, into: &batch) }
    var length: UInt64 = 0
    while length < LogReplay.batchLength {
      try compareMarks()
      switch try reader.next() {
      case .end(.limit):
        return
      case .end(let end):
        throw .damage(at: reader.walk.point.offset, end.reason)
      case .checkpoint(let frame, let largeValues):
        tables.absorb(largeValues)
        try note(checkpoint: frame)
        point = reader.walk.point
      case .skipped(let frame, let largeValues):
        tables.absorb(largeValues)
        if case .sideRecord = frame.header.kind.role { try note(sideRecord: frame) }
        point = reader.walk.point
      case .record(let frame, let start, let largeValues):
        let next = RecordFrame(frame: frame, unitStart: start, largeValues: largeValues)
        guard frame.header.kind == .transaction else {
          if batch.transactions.isEmpty { return try read(block: next, into: &batch) }
          blockAhead = next
          return
        }
        try read(row: next, into: &batch)
        length += frame.header.frameLength
      }
    }
  }

  /// Checks that the log up to a slot's mark is the one that was synced.
  private mutating func compareMarks() throws(LogError) {
    while let slot = slots.first, slot.durableMark <= point.offset {
      slots.removeFirst()
      guard slot.durableMark == point.offset, slot.markChecksum != point.previousChecksum else {
        continue
      }
      let reason = "root slot \(slot.index) was written behind another frame than the one before"
      throw .damage(at: point.offset, reason)
    }
  }
}

extension LogReplay {
  /// Decodes one transaction in row form into the batch.
  private mutating func read(
    row next: RecordFrame, into batch: inout ChangeBatch
  ) throws(LogError) {
    let before = batch.transactions.count
    try reader.walk.decode(next.frame, into: &batch)
    try absorb(&batch, from: before, at: next.unitStart, next.largeValues)
  }

  /// Reads a block: whole transactions, or the first part of one.
  private mutating func read(
    block first: RecordFrame, into batch: inout ChangeBatch
  ) throws(LogError) {
    let isParted = first.frame.header.flags.contains(.continued)
    if isParted { try reader.requireParts(after: first.frame) }
    try reader.walk.decode(first.frame, into: &batch)
    // Nothing of it may be handed out if it does not follow.
    guard let record = batch.transactions.first, record.part == 0,
      !isParted || batch.transactions.count == 1
    else {
      batch.removeAll()
      throw .damage(at: first.frame.offset, "a part without those before it")
    }
    guard isParted else {
      return try absorb(&batch, from: 0, at: first.unitStart, first.largeValues)
    }
    do throws(LogError) {
      try tables.check(record, at: first.frame.offset)
    } catch {
      batch.removeAll()
      throw error
    }
    var open = OpenParts(
      record: record, unitStart: first.unitStart, largeValues: first.largeValues)
    open.parts.add(batch.changes.indices, of: batch)
    self.open = open
  }

  /// Reads the next part of the open transaction.
  private mutating func readPart(into batch: inout ChangeBatch) throws(LogError) {
    guard var open else { return }
    guard case .record(let frame, _, let largeValues) = try reader.next() else {
      throw .damage(at: reader.walk.point.offset, "a transaction without its last part")
    }
    try reader.walk.decode(frame, into: &batch)
    guard batch.transactions.count == 1, batch.transactions[0].number == open.record.number,
      batch.transactions[0].part == open.parts.count
    else { throw .damage(at: frame.offset, "a part out of order") }
    open.largeValues += largeValues
    open.parts.add(batch.changes.indices, of: batch)
    open.isWhole = !frame.header.flags.contains(.continued)
    self.open = open
  }

  /// Adds the open transaction to the tables, after its last part was applied.
  private mutating func close(_ whole: OpenParts) throws(LogError) {
    try tables.absorb(
      whole.record, whole.parts, at: whole.unitStart, largeValues: whole.largeValues)
    open = nil
    replayedTransactions += 1
    point = reader.walk.point
  }

  /// Adds the batch's transactions from an index on to the tables. If one does not follow, removes
  /// it and the rest from the batch, and throws.
  private mutating func absorb(
    _ batch: inout ChangeBatch, from first: Int, at unitStart: UInt64,
    _ largeValues: [LargeValueEntry]
  ) throws(LogError) {
    var largeValues = largeValues
    for index in first..<batch.transactions.count {
      let record = batch.transactions[index]
      do throws(LogError) {
        parts.removeAll()
        parts.add(record.changeRange, of: batch)
        try tables.absorb(record, parts, at: unitStart, largeValues: largeValues)
      } catch {
        batch.transactions.removeSubrange(index...)
        throw error
      }
      largeValues = []
      replayedTransactions += 1
    }
    point = reader.walk.point
  }

  /// Applies a side record. One that cannot be decoded becomes a finding, and history is kept that
  /// it may have asked to keep: see `SideState.applyUnreadable`.
  private mutating func note(sideRecord frame: WalkedFrame) throws(LogError) {
    let kind = frame.header.kind
    if try reader.walk.isWhole(frame) {
      let record = reader.walk.withPayload(of: frame) {
        try? SideRecord($0, of: kind, flags: frame.header.flags)
      }
      if let record, tables.absorb(record) { return }
    }
    tables.absorbUnreadable(kind, at: frame.offset, base: generation.header.base)
    let text = SideRecord.loss(of: kind).what
    findings.append(LogFinding(.sideRecord(kind), offset: frame.offset, text: text))
  }

  /// Notes a checkpoint on the way. One that cannot be decoded becomes a finding: its state is
  /// rebuilt.
  private mutating func note(checkpoint frame: WalkedFrame) throws(LogError) {
    guard try reader.walk.isWhole(frame) else {
      findings.append(
        LogFinding(.checkpoint, offset: frame.offset, text: "a checkpoint's directory was changed"))
      return
    }
    guard reader.walk.number(of: frame) == tables.head.number else {
      findings.append(
        LogFinding(.checkpoint, offset: frame.offset, text: "a checkpoint in the wrong place"))
      return
    }
    tables.absorb(
      checkpoint: CheckpointReference(offset: frame.offset, number: tables.head.number),
      end: frame.end)
    let directory = reader.walk.withPayload(of: frame) { try? CheckpointDirectory.decode($0) }
    if let directory { tables.adopt(directory) }
  }
}

extension LogError {
  /// Whether the log cannot be read on from here, though what lies before can be used.
  fileprivate var endsLog: Bool {
    switch self {
    case .damage, .decode: true
    default: false
    }
  }

  /// The same; damage says up to which transaction the log was read.
  fileprivate func withLastGood(_ number: Int64) -> LogError {
    guard case .damage(var damage) = self else { return self }
    damage.lastGood = number
    return .damage(damage)
  }
}
