import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// Reads the transactions of a range of history, forward or backward, in batches.
///
/// Reads the log by segments of the history index, from the first or from the last. In each it
/// lists the frames by their headers, and decodes them in the wanted order. So reading backward
/// costs the same as forward, and frames need no links. Memory: one segment (about 64 KiB, or one
/// frame) and one batch.
package struct FrameHistoryReader {
  private let view: LogView
  private let after: Int64
  private let through: Int64
  private let direction: HistoryDirection
  private let filter: HistoryFilter
  private let withChanges: Bool
  /// The segments still to be read, removed from the front or the back.
  private var segments: Range<Int>
  private var walk: FrameWalk
  /// The frames of the current segment, in reading order.
  private var frames: ContiguousArray<WalkedFrame> = []
  private var position = 0
  /// The record of the first part of the transaction in parts that was read last.
  private var firstPart: TransactionRecord?
  private var order: HistoryOrder

  private static let batchLength: UInt64 = 64 << 10

  init(
    _ view: LogView, after: Int64, through: Int64, direction: HistoryDirection,
    filter: HistoryFilter, withChanges: Bool
  ) throws(LogError) {
    self.view = view
    self.withChanges = withChanges
    self.after = after
    self.through = through
    self.direction = direction
    self.filter = filter
    order = HistoryOrder(direction)
    walk = FrameWalk(view.file, from: ChainPoint(beginningOf: view.file.header), limit: view.end)
    guard after < through else {
      segments = 0..<0
      return
    }
    segments = try view.segment(of: after + 1)..<(try view.segment(of: through)) + 1
  }

  /// Fills the batch, in place of its content, with what comes next: several small transactions, a
  /// block of them, or one part of a large one. Returns false at the end.
  ///
  /// The batch's transactions are in reading order, the changes of each always forward. Each part
  /// of a transaction carries what the first part says of it (metadata, schema change, new names);
  /// read backward, the last part comes first. Throws `damage` or `decode` where the log is
  /// damaged.
  package mutating func next(into batch: inout ChangeBatch) throws(LogError) -> Bool {
    batch.removeAll()
    var length: UInt64 = 0
    while batch.transactions.isEmpty || length < FrameHistoryReader.batchLength {
      while position == frames.count {
        guard try loadSegment() else { return !batch.transactions.isEmpty }
      }
      let frame = frames[position]
      if frame.header.kind == .block {
        if !batch.transactions.isEmpty { return true }
        position += 1
        try read(block: frame, at: position - 1, into: &batch)
        if !batch.transactions.isEmpty { return true }
      } else {
        position += 1
        length += frame.header.frameLength
        try read(row: frame, into: &batch)
      }
    }
    return true
  }

  /// Lists the frames of the next segment that may match the filter. Returns false if there is
  /// none.
  private mutating func loadSegment() throws(LogError) -> Bool {
    frames.removeAll(keepingCapacity: true)
    position = 0
    while !segments.isEmpty {
      let index = direction == .forward ? segments.lowerBound : segments.upperBound - 1
      segments =
        direction == .forward
        ? index + 1..<segments.upperBound : segments.lowerBound..<index
      let entry = try view.entry(ofSegment: index)
      var end = view.end
      var last = view.head.number
      if index + 1 < view.index.count {
        let next = try view.index.entry(at: index + 1, in: view.file)
        end = next.offset
        last = first(of: next.firstNumber) - 1
      }
      if !mayMatch(entry, at: index), try !hasGap(in: index) {
        order.skip()
        continue
      }
      guard entry.offset >= FormatLimits.logStart, end > entry.offset, end <= view.end else {
        throw .damage(at: entry.offset, "the history index is out of order")
      }
      order.begin(at: direction == .forward ? first(of: entry.firstNumber) : last)
      try list(from: entry.offset, to: end)
      return true
    }
    guard order.isAtEnd else {
      throw .damage(at: walk.point.offset, "a transaction without all its parts")
    }
    return false
  }

  /// Whether the segment at this index may match the filter.
  private func mayMatch(_ entry: HistoryIndexEntry, at index: Int) -> Bool {
    guard filter.mayMatch(entry) else { return false }
    return filter.objects.map { view.mayChange($0, inSegment: index) } ?? true
  }

  /// The first transaction that the record with this number covers; a gap record covers several.
  private func first(of number: Int64) -> Int64 {
    view.gaps.isEmpty ? number : view.gap(at: number)?.first ?? number
  }

  /// Whether the segment at this index contains a gap record. Gaps are never skipped.
  private func hasGap(in index: Int) throws(LogError) -> Bool {
    if view.gaps.isEmpty { return false }
    let first = try view.index.entry(at: index, in: view.file).firstNumber
    var next = Int64.max
    if index + 1 < view.index.count {
      next = try view.index.entry(at: index + 1, in: view.file).firstNumber
    }
    return view.gaps.contains { $0.last >= first && $0.last < next }
  }

  private mutating func list(from start: UInt64, to end: UInt64) throws(LogError) {
    walk = FrameWalk(
      view.file, from: ChainPoint(offset: start, previousChecksum: nil), limit: end,
      expecting: end - start)
    while true {
      switch try walk.step() {
      case .frame(let frame):
        if frame.header.kind.holdsTransactions { frames.append(frame) }
      case .end(let end):
        guard end == .limit else {
          throw .damage(at: walk.point.offset, "the chain of frames is broken")
        }
        if direction == .backward { frames.reverse() }
        return
      }
    }
  }

  private mutating func read(
    row frame: WalkedFrame, into batch: inout ChangeBatch
  ) throws(LogError) {
    if try pass(frame) { return }
    try walk.requirePayload(of: frame)
    guard let number = walk.number(of: frame), number > 0 else {
      throw .damage(at: frame.offset, "a record without a number")
    }
    try requireOrder(of: frame, number...number, part: nil)
    if number <= after || number > through { return }
    try walk.decode(frame, withChanges: withChanges, into: &batch)
  }

  /// Passes a frame that is not wanted, if its number fits: then nothing else of it matters.
  private mutating func pass(_ frame: WalkedFrame) throws(LogError) -> Bool {
    guard let number = try walk.uncheckedNumber(of: frame), number > 0,
      number <= after || number > through
    else { return false }
    return follows(frame, number...number, part: nil)
  }

  /// Throws `damage` if a frame does not follow what was read before it.
  private mutating func requireOrder(
    of frame: WalkedFrame, _ numbers: ClosedRange<Int64>, part: UInt32?
  ) throws(LogError) {
    guard follows(frame, numbers, part: part) else {
      throw .damage(
        at: frame.offset, "transaction \(numbers.lowerBound) does not follow what is before it")
    }
  }

  /// Whether a frame follows what was read before it, which it then belongs to.
  private mutating func follows(
    _ frame: WalkedFrame, _ numbers: ClosedRange<Int64>, part: UInt32?
  ) -> Bool {
    var numbers = numbers
    if !view.gaps.isEmpty, let gap = view.gap(at: numbers.upperBound),
      gap.last == numbers.upperBound
    {
      numbers = gap.numbers
    }
    let isContinued = frame.header.flags.contains(.continued)
    return order.accept(numbers, part: part, isContinued: isContinued)
  }

  private mutating func read(
    block frame: WalkedFrame, at place: Int, into batch: inout ChangeBatch
  ) throws(LogError) {
    try walk.requirePayload(of: frame)
    let summary = try walk.requireSummary(of: frame)
    try requireOrder(
      of: frame, summary.firstNumber...summary.lastNumber,
      part: summary.isPart ? summary.part : nil)
    guard summary.lastNumber > after, summary.firstNumber <= through,
      filter.mayMatch(summary) || view.gap(at: summary.lastNumber) != nil
    else { return }
    try walk.decode(frame, withChanges: withChanges, into: &batch)
    if summary.isPart { return try complete(&batch, at: place, number: summary.firstNumber) }
    if summary.firstNumber <= after || summary.lastNumber > through {
      batch.transactions.removeAll { $0.number <= after || $0.number > through }
    }
    if direction == .backward { batch.transactions.reverse() }
  }

  /// Completes a part's record with what the first part says of the transaction.
  private mutating func complete(
    _ batch: inout ChangeBatch, at place: Int, number: Int64
  ) throws(LogError) {
    guard batch.transactions.count == 1 else { return }
    if batch.transactions[0].part == 0 {
      firstPart = batch.transactions[0]
      return
    }
    if firstPart?.number != number {
      var first = place
      let step = direction == .forward ? -1 : 1
      // The parts before this one are the continued frames, as long as their numbers are
      // consecutive.
      while frames.indices.contains(first + step),
        frames[first + step].header.flags.contains(.continued)
      { first += step }
      let frame = frames[first]
      try walk.requirePayload(of: frame)
      var other = ChangeBatch()
      try walk.decode(frame, withChanges: false, into: &other)
      firstPart = other.transactions.first
    }
    guard let firstPart, firstPart.number == number, firstPart.part == 0 else {
      throw .damage(at: frames[place].offset, "a part without its beginning")
    }
    batch.transactions[0].copyDetails(of: firstPart)
  }
}
