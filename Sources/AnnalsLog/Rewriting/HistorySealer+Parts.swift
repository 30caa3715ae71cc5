import AnnalsFormat
import AnnalsFrames
import AnnalsModel

// Large transactions, which are in parts.

extension HistorySealer {
  /// Keeps a part of a transaction until all are there and go into a block as a whole, or are too
  /// much for one.
  mutating func gather(part frame: WalkedFrame, in walk: FrameWalk) throws(LogError) {
    var batch = ChangeBatch()
    try walk.decode(frame, into: &batch)
    _ = batch.dropPassingItems(leavingLog: leavesLog)
    guard batch.transactions[0].part == parts.count else {
      throw .damage(at: frame.offset, "a part without those before")
    }
    for record in batch.transactions { erasure?.erase(record, in: &batch) }
    let isLast = !batch.transactions[0].isContinued
    parts.append(batch)
    if parts.reduce(0, { $0 + $1.approximateLength }) >= packing.blockLength {
      try writeParts()
    } else if isLast {
      try join(at: frame.offset)
    }
  }

  /// Adds the transaction whose parts are all there to those that wait for a block.
  private mutating func join(at offset: UInt64) throws(LogError) {
    var whole = ChangeBatch()
    for part in parts {
      for change in part.changes { whole.append(change, from: part) }
    }
    var record = parts[0].transactions[0]
    // A gap record is alone; and half of a frame's limits leaves room for others.
    guard record.lost == nil, !whole.isFull(packing.blockLength) else { return try writeParts() }
    record.isContinued = false
    record.firstChange = 0
    record.changeCount = UInt32(whole.changes.count)
    parts = []
    whole.transactions = [record]
    try makeRoom(for: whole)
    try add(record, of: whole, at: offset)
  }

  /// Writes the parts gathered so far as what they are.
  private mutating func writeParts() throws(LogError) {
    try seal()
    target.beginParts(parts[0].transactions[0])
    for part in parts {
      let isContinued = part.transactions[0].isContinued
      target.beginUnit()
      try target.append(flags: isContinued ? .continued : []) {
        BlockCodec.encode(part, into: &$0, level: packing.level)
        return .block
      }
      try target.absorb(part: part, isLast: !isContinued)
    }
    parts = []
  }

  /// Copies one part of a large transaction.
  mutating func copy(part frame: WalkedFrame, in walk: FrameWalk) throws(LogError) {
    let summary = try walk.requireSummary(of: frame)
    var isKept = true
    if !target.isAmidTransaction {
      try seal()
      var batch = ChangeBatch()
      try walk.decode(frame, into: &batch)
      isKept = !batch.dropPassingItems(leavingLog: leavesLog)
      guard let record = batch.transactions.first, record.part == 0 else {
        throw .damage(at: frame.offset, "a part without its beginning")
      }
      target.beginParts(record)
    }
    try write(frame, in: walk, asItIs: isKept, anew: packing.repacksParts)
    try target.absorb(part: summary, isLast: !frame.header.flags.contains(.continued))
  }
}
