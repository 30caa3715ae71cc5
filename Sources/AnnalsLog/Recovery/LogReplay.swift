import AnnalsFormat
import AnnalsModel

/// Replays the transactions from one point of the log to its end: updates the tables and hands the
/// changes to the caller, in batches.
///
/// Gathers small transactions into batches of about 64 KiB of log. Hands out no part of a
/// transaction before all of its parts were found whole. So whatever ends the replay, the caller
/// has whole transactions, with one exception: a later part with a right checksum that cannot be
/// decoded (`isAmidTransaction`). Memory: one batch.
struct LogReplay {
  private let generation: LogGeneration
  private var reader: UnitReader
  private(set) var tables: LogTables
  /// The end of the last unit that was applied to the tables.
  private(set) var point: ChainPoint
  private(set) var replayedTransactions: Int64 = 0
  private(set) var findings: [LogFinding] = []
  /// Whether the caller has some but not all parts of a transaction: set only if the replay ended
  /// with an error.
  private(set) var isAmidTransaction = false
  private var batch = ChangeBatch()
  private var batchedBytes: UInt64 = 0
  /// Where the units of the current batch begin.
  private var batchStart: ChainPoint
  /// The slots whose marks lie ahead, the nearest first.
  private var slots: ArraySlice<RootSlot>

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

  /// Replays up to the limit. Where the log is damaged it throws `damage` or `decode`, after
  /// handing out what was read before; `point` and `tables` then stand after the last whole unit.
  mutating func run(apply: (inout ChangeBatch) throws -> Void) throws(LogError) {
    do {
      repeat { try compareMarks() } while try step(apply: apply)
    } catch .damage(var damage) {
      try flush(apply: apply)
      damage.lastGood = tables.head.number
      throw .damage(damage)
    } catch .decode(let fault, let offset) {
      try flush(apply: apply)
      throw .decode(fault, at: offset)
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

  private mutating func step(apply: (inout ChangeBatch) throws -> Void) throws(LogError) -> Bool {
    switch try reader.next() {
    case .end(.limit):
      try flush(apply: apply)
      return false
    case .end(let end):
      throw .damage(at: reader.walk.point.offset, end.reason)
    case .checkpoint(let frame, let largeValues):
      tables.absorb(largeValues)
      try note(checkpoint: frame)
      point = reader.walk.point
    case .skipped(let frame, let largeValues):
      tables.absorb(largeValues)
      if frame.header.kind == .consumerChange { try note(consumer: frame) }
      if frame.header.kind == .retention { try note(retention: frame) }
      point = reader.walk.point
    case .record(let frame, let start, let largeValues):
      if frame.header.kind == .transaction {
        try decode(frame, unitStart: start, largeValues: largeValues)
        batchedBytes += frame.header.frameLength
        if batchedBytes >= LogReplay.batchLength { try flush(apply: apply) }
      } else {
        try flush(apply: apply)
        try replay(block: frame, unitStart: start, largeValues: largeValues, apply: apply)
      }
    }
    return true
  }

  /// Decodes one transaction in row form into the batch.
  private mutating func decode(
    _ frame: WalkedFrame, unitStart: UInt64, largeValues: [LargeValueEntry]
  ) throws(LogError) {
    let before = batch.transactions.count
    try reader.walk.decode(frame, into: &batch)
    try absorbTransactions(from: before, at: unitStart, largeValues: largeValues)
  }

  /// Replays a block: whole transactions, or all parts of one.
  private mutating func replay(
    block first: WalkedFrame, unitStart: UInt64, largeValues: [LargeValueEntry],
    apply: (inout ChangeBatch) throws -> Void
  ) throws(LogError) {
    let isParted = first.header.flags.contains(.continued)
    if isParted { try reader.requireParts(after: first) }
    try reader.walk.decode(first, into: &batch)
    // Nothing of it may be handed out if it does not follow.
    guard let record = batch.transactions.first, record.part == 0,
      !isParted || batch.transactions.count == 1
    else {
      batch.removeAll()
      throw .damage(at: first.offset, "a part without those before it")
    }
    guard isParted else {
      try absorbTransactions(from: 0, at: unitStart, largeValues: largeValues)
      try flush(apply: apply)
      return
    }
    var parts = TransactionParts()
    parts.add(batch)
    var largeValues = largeValues
    do {
      try tables.check(record, at: first.offset)
    } catch {
      batch.removeAll()
      throw error
    }
    isAmidTransaction = true
    try call(apply)
    var isLast = false
    while !isLast {
      guard case .record(let frame, _, let more) = try reader.next() else { break }
      try reader.walk.decode(frame, into: &batch)
      guard batch.transactions.count == 1, batch.transactions[0].number == record.number,
        batch.transactions[0].part == parts.count
      else { throw .damage(at: frame.offset, "a part out of order") }
      largeValues += more
      parts.add(batch)
      isLast = !frame.header.flags.contains(.continued)
      try call(apply)
    }
    try tables.absorb(record, parts, at: unitStart, largeValues: largeValues)
    isAmidTransaction = false
    replayedTransactions += 1
    point = reader.walk.point
  }

  /// Adds the batch's transactions from an index on to the tables. If one does not follow, removes
  /// it and the rest from the batch, and throws.
  private mutating func absorbTransactions(
    from first: Int, at unitStart: UInt64, largeValues: [LargeValueEntry]
  ) throws(LogError) {
    var largeValues = largeValues
    for index in first..<batch.transactions.count {
      let record = batch.transactions[index]
      do {
        try tables.absorb(
          record, TransactionParts(record, in: batch), at: unitStart, largeValues: largeValues)
      } catch {
        batch.transactions.removeSubrange(index...)
        throw error
      }
      largeValues = []
      replayedTransactions += 1
    }
    point = reader.walk.point
  }

  /// Hands the batch to the caller.
  private mutating func flush(apply: (inout ChangeBatch) throws -> Void) throws(LogError) {
    if !batch.transactions.isEmpty { try call(apply) }
    batchedBytes = 0
  }

  private mutating func call(_ apply: (inout ChangeBatch) throws -> Void) throws(LogError) {
    defer { batch.removeAll() }
    do {
      try calling { try apply(&batch) }
      batchStart = point
    } catch {
      guard var misfit = error.misfit else { throw error }
      let walk = FrameWalk(generation, from: batchStart, limit: reader.walk.limit)
      misfit.offset = try walk.offset(of: misfit.number, part: misfit.part)
      throw .interrupted(misfit)
    }
  }

  /// Applies a consumer change. One that cannot be decoded becomes a finding; a known consumer
  /// stays as it was and reads again, and another holds all history for one that may be lost.
  private mutating func note(consumer frame: WalkedFrame) throws(LogError) {
    var isTaken = false
    if try reader.walk.payloadIsValid(frame) {
      let change = reader.walk.withPayload(of: frame) {
        try? ConsumerCodec.decode($0, flags: frame.header.flags)
      }
      isTaken = change.map { tables.absorb($0) } ?? false
    }
    if isTaken { return }
    let base = reader.walk.generation.header.base
    tables.absorbUnreadableConsumer(at: frame.offset, base: base)
    findings.append(
      LogFinding(.consumer, offset: frame.offset, text: "a consumer change cannot be read"))
  }

  /// Applies a retention policy. One that cannot be decoded becomes a finding and turns retention
  /// off, so that nothing is dropped that should be kept.
  private mutating func note(retention frame: WalkedFrame) throws(LogError) {
    var policy: RetentionPolicy?
    if try reader.walk.payloadIsValid(frame) {
      policy = reader.walk.withPayload(of: frame) {
        try? RetentionCodec.decode($0, flags: frame.header.flags)
      }
    }
    tables.absorb(policy ?? .off)
    if policy != nil { return }
    findings.append(
      LogFinding(.retention, offset: frame.offset, text: "the retention cannot be read"))
  }

  /// Notes a checkpoint on the way. One that cannot be decoded becomes a finding: its state is
  /// rebuilt.
  private mutating func note(checkpoint frame: WalkedFrame) throws(LogError) {
    guard try reader.walk.payloadIsValid(frame) else {
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
  }
}
