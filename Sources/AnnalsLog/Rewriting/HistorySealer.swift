import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// Writes history into the new file of a rewrite: packs small transactions into blocks, and copies
/// large ones and whole blocks unchanged, unless these are packed anew, too.
struct HistorySealer {
  let target: RewriteTarget
  /// The file that is copied from.
  var view: LogView
  /// The transactions to copy: after the first number, up to and including the second.
  private let range: (after: Int64, through: Int64)
  /// Small transactions that wait for a block.
  private var pending = ChangeBatch()
  /// The length of their details.
  private var pendingDetails = 0
  /// The first parts of a large transaction that may become whole again; none after the last part.
  var parts: [ChangeBatch] = []
  let packing: HistoryPacking
  /// What is erased from the transactions.
  var erasure: HistoryErasure?
  /// Whether the new file is of another store, for which no shared log has the transactions.
  let leavesLog: Bool

  /// A block with a payload of at least this length is copied unchanged.
  private static let wholeBlockLength = 32 << 10

  /// Large values with lower numbers belong to the base.
  private let firstLargeValue: UInt64

  init(
    _ target: RewriteTarget, from view: LogView, behind base: RewriteBase, through: Int64,
    packing: HistoryPacking, erasing erasure: HistoryErasure? = nil, leavesLog: Bool
  ) {
    self.packing = packing
    self.leavesLog = leavesLog
    self.erasure = erasure
    firstLargeValue = base.firstLargeValue
    self.target = target
    self.view = view
    range = (base.number, through)
  }

  /// Copies a record's frame, whose payload was checked, and the large values before it, if they
  /// belong to the range. Returns false after the range.
  mutating func copy(
    _ frame: WalkedFrame, in walk: FrameWalk, largeValues found: [LargeValueEntry]
  ) throws(LogError) -> Bool {
    let numbers = try HistorySealer.numbers(of: frame, in: walk)
    if numbers.last <= range.after { return true }
    if numbers.first > range.through { return false }
    let bases = found.isEmpty ? [:] : try HistorySealer.bases(in: frame, walk)
    for largeValue in found where keeps(largeValue) {
      target.beginUnit()
      target.note(
        try target.copy(largeValue: largeValue, from: view, basedOn: bases[largeValue.number]))
    }
    if frame.header.kind == .transaction {
      try walk.decode(frame, into: &pending)
      _ = pending.dropPassingItems(ofLast: 1, leavingLog: leavesLog)
      try requireOrder(at: frame.offset)
      if let record = pending.transactions.last { erasure?.erase(record, in: &pending) }
      if let record = pending.transactions.last, record.lost != nil {
        var gap = ChangeBatch()
        gap.append(record, from: pending)
        pending.transactions.removeLast()
        pending.changes.removeSubrange(record.changeRange)
        try copy(gap: gap)
      } else {
        try sealIfFull()
      }
    } else {
      try copy(block: frame, in: walk, numbers: numbers)
    }
    return true
  }

  /// Whether a large value belongs to the transactions, and some reference to it is not erased.
  private func keeps(_ largeValue: LargeValueEntry) -> Bool {
    largeValue.number >= firstLargeValue
      && erasure?.keptLargeValues.contains(largeValue.number) ?? true
  }

  /// The large values that a record's frame replaces, by the numbers of those that it sets instead.
  private static func bases(
    in frame: WalkedFrame, _ walk: FrameWalk
  ) throws(LogError) -> [UInt64: UInt64] {
    var batch = ChangeBatch()
    try walk.decode(frame, into: &batch)
    var result: [UInt64: UInt64] = [:]
    batch.arena.withUnsafeBytes { arena in
      for property in batch.properties where property.before.isLarge && property.after.isLarge {
        guard case .large(let before) = property.before.value(in: arena),
          case .large(let after) = property.after.value(in: arena)
        else { continue }
        result[after.number] = before.number
      }
    }
    return result
  }

  /// Copies the large values that come with a checkpoint, after the transactions sealed so far.
  mutating func copy(_ largeValues: [LargeValueEntry]) throws(LogError) {
    var copied: [LargeValueEntry] = []
    for largeValue in largeValues where keeps(largeValue) {
      copied.append(try target.copy(largeValue: largeValue, from: view))
    }
    target.absorb(copied)
  }

  /// The first and the last transaction number in a frame.
  private static func numbers(
    of frame: WalkedFrame, in walk: FrameWalk
  ) throws(LogError) -> (first: Int64, last: Int64) {
    if frame.header.kind == .block {
      let summary = try walk.requireSummary(of: frame)
      return (summary.firstNumber, summary.lastNumber)
    }
    guard let number = walk.number(of: frame) else {
      throw .damage(at: frame.offset, "a record without a number")
    }
    return (number, number)
  }

  private mutating func copy(
    block frame: WalkedFrame, in walk: FrameWalk, numbers: (first: Int64, last: Int64)
  ) throws(LogError) {
    if frame.header.flags.contains(.continued) || target.isAmidTransaction || !parts.isEmpty {
      guard packing.repacksParts, !target.isAmidTransaction else {
        return try copy(part: frame, in: walk)
      }
      return try gather(part: frame, in: walk)
    }
    let isWhole = numbers.first > range.after && numbers.last <= range.through
    if isWhole, !packing.repacksBlocks, !erases(in: frame, walk),
      Int(frame.header.payloadLength) >= HistorySealer.wholeBlockLength
    {
      // Large values copied for this block stay with the block sealed now: either way they precede
      // the transactions that refer to them.
      try seal()
      var batch = ChangeBatch()
      try walk.decode(frame, into: &batch)
      try write(frame, in: walk, asItIs: !batch.dropPassingItems(leavingLog: leavesLog))
      return try target.absorb(batch)
    }
    var batch = ChangeBatch()
    try walk.decode(frame, into: &batch)
    _ = batch.dropPassingItems(leavingLog: leavesLog)
    for record in batch.transactions where record.number > range.after {
      erasure?.erase(record, in: &batch)
    }
    if batch.transactions.first?.lost != nil {
      return try copy(gap: batch)
    }
    try makeRoom(for: batch)
    for record in batch.transactions
    where record.number > range.after && record.number <= range.through {
      try add(record, of: batch, at: frame.offset)
    }
  }

  /// Adds a transaction to those that wait for a block.
  mutating func add(
    _ record: TransactionRecord, of batch: ChangeBatch, at offset: UInt64
  ) throws(LogError) {
    pending.append(record, from: batch)
    try requireOrder(at: offset)
    try sealIfFull()
  }

  /// Seals what waits if a block of it and of this batch might not fit into a frame.
  mutating func makeRoom(for batch: ChangeBatch) throws(LogError) {
    let details = batch.transactions.reduce(0) { $0 + TransactionCodec.detailsLength(of: $1) }
    let length = pending.approximateLength + pendingDetails + batch.approximateLength + details
    if length > FormatLimits.maximumPayload / 2 || pending.isTooMany(with: batch) { try seal() }
  }

  /// Seals what waits once it is as long as a block.
  private mutating func sealIfFull() throws(LogError) {
    guard let record = pending.transactions.last else { return }
    pendingDetails += TransactionCodec.detailsLength(of: record)
    if pending.isFull(packing.blockLength - pendingDetails) { try seal() }
  }

  /// Whether anything of a block may be erased, by its summary.
  private func erases(in frame: WalkedFrame, _ walk: FrameWalk) -> Bool {
    guard let erasure else { return false }
    return walk.summary(of: frame).map(erasure.touches) ?? true
  }

  /// Throws `damage` unless the last transaction follows the one before it. An opening does not
  /// check this before the checkpoint that it starts from.
  private func requireOrder(at offset: UInt64) throws(LogError) {
    guard let record = pending.transactions.last else { return }
    let before = pending.transactions.dropLast().last?.number ?? target.tables.head.number
    guard record.firstNumber == before + 1 else {
      throw .damage(at: offset, "transaction \(record.firstNumber) where \(before + 1) should be")
    }
  }

  /// Copies a gap record. It stands alone in its frame, since the numbers around it are not
  /// consecutive. Large values copied for it go with the block sealed before.
  private mutating func copy(gap batch: ChangeBatch) throws(LogError) {
    try seal()
    pending.append(batch.transactions[0], from: batch)
    try seal()
  }

  /// Writes a block or a part unchanged, unless something in it is erased or an item dropped.
  mutating func write(
    _ frame: WalkedFrame, in walk: FrameWalk, asItIs isKept: Bool, anew isAnew: Bool = false
  ) throws(LogError) {
    target.beginUnit()
    guard !isKept || isAnew || erases(in: frame, walk) else {
      return try walk.withPayload(of: frame) { payload throws(LogError) in
        try target.append(kind: .block, flags: frame.header.flags, payload: payload)
      }
    }
    var batch = ChangeBatch()
    try walk.decode(frame, into: &batch)
    _ = batch.dropPassingItems(leavingLog: leavesLog)
    for record in batch.transactions { erasure?.erase(record, in: &batch) }
    try target.append(flags: frame.header.flags) {
      BlockCodec.encode(batch, into: &$0, level: packing.level)
      return .block
    }
  }

  /// Writes the waiting transactions as one block; a single one as it was.
  mutating func seal() throws(LogError) {
    guard !pending.transactions.isEmpty else { return }
    target.beginUnit()
    try target.append { pending.encode(into: &$0, level: packing.level) }
    try target.absorb(pending)
    pending.removeAll()
    pendingDetails = 0
  }
}

extension ChangeBatch {
  /// Appends a transaction of another batch with its changes. O(changes).
  package mutating func append(_ record: TransactionRecord, from other: ChangeBatch) {
    var copy = record
    copy.firstChange = UInt32(changes.count)
    for index in record.changeRange { append(other.changes[index], from: other) }
    transactions.append(copy)
  }

  /// Whether a block of this batch and another would exceed its limits.
  fileprivate func isTooMany(with other: ChangeBatch) -> Bool {
    changes.count + other.changes.count > FormatLimits.maximumChanges
      || properties.count + other.properties.count > FormatLimits.maximumPropertyChanges
  }
}
