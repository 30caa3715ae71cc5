import AnnalsFormat
import AnnalsModel

/// Finds where the log of a file ends, and what follows the end.
///
/// A *unit* is what a crash leaves whole or not at all: a transaction with the large values before
/// it and all of its parts, or a checkpoint with its chunks. The log ends with its last whole unit.
///
/// The search follows frame headers from a root slot's mark (or the log's beginning) while each
/// names the one before. It checks payloads only after the greatest mark that a slot or a frame on
/// the way proves: what lies before was synced, and is checked by whoever reads it.
///
/// What follows the end is a torn tail, as a crash leaves it, unless something proves that the
/// bytes at the bad spot were once synced: a slot's mark or extent, or the mark in a valid frame
/// anywhere after it. Then it is damage.
struct EndOfLog {
  /// The end: after the last whole unit.
  private(set) var point: ChainPoint
  /// The greatest offset that a slot or a frame proves synced.
  private(set) var provenMark: UInt64
  /// What follows the end.
  private(set) var tail = LogTail.clean
  /// The size of the file when it was examined.
  private(set) var size: UInt64
  /// The directory of the last checkpoint on the way; nil if there was none.
  private(set) var newestCheckpoint: UInt64?
  /// The features announced between the start of the search and the end.
  private(set) var announced = Features.none

  /// The valid slots of the file, the newer first, as they were when the end was found; none if the
  /// search ran without them.
  private(set) var slots: [RootSlot]

  /// Finds the end of the log that begins at `start`, where a unit begins. `slots` are the file's
  /// valid ones, the newer first; without any, the frames alone tell what was synced.
  ///
  /// Another process may write meanwhile, or close the file and so shorten it. So after damage,
  /// slots, size and bad spot are read again, and the search restarts if they have changed.
  ///
  /// Time: reading the headers after `start`, the payloads after the last proven mark, and the rest
  /// of the file once. Throws `storage`, `unsupported` and `newerReader`; damage is in `tail`.
  static func find(
    in generation: LogGeneration, from start: ChainPoint, slots: [RootSlot]
  ) throws(LogError) -> EndOfLog {
    var result = try EndOfLog(in: generation, from: start, slots: slots)
    var tries = 1
    while case .damaged = result.tail, tries < LogGeneration.mostTries {
      let slotsNow = slots.isEmpty ? [] : try generation.slots().valid
      if slotsNow == result.slots, try !result.hasChanged(in: generation) { break }
      result = try EndOfLog(in: generation, from: start, slots: slotsNow)
      tries += 1
    }
    return result
  }

  /// Searches once.
  private init(
    in generation: LogGeneration, from start: ChainPoint, slots: [RootSlot]
  ) throws(LogError) {
    let slotMark = slots.map(\.durableMark).max() ?? FormatLimits.logStart
    self.slots = slots
    point = start
    provenMark = slotMark
    size = try generation.size()
    guard size >= slotMark, size >= start.offset else {
      // The rest of the log can be read as far as it goes.
      if size >= start.offset { _ = try findBadSpot(in: generation, from: start) }
      tail = .damaged(
        LogDamage(
          offset: size, reason: "the file is shorter than the \(slotMark) bytes that were synced"))
      return
    }
    let spot = try findBadSpot(in: generation, from: start)
    badSpot = spot
    try judge(spot, in: generation)
  }

  /// Where the chain of frames breaks; nil if the search did not look for it.
  private var badSpot: BadSpot?

  private struct BadSpot {
    var offset: UInt64
    var end: WalkEnd
  }

  /// Advances to the first frame that is missing or invalid; sets `point` and `provenMark`.
  private mutating func findBadSpot(
    in generation: LogGeneration, from start: ChainPoint
  ) throws(LogError) -> BadSpot {
    var walk = FrameWalk(generation, from: start, limit: size)
    var spot = BadSpot(offset: start.offset, end: .limit)
    headers: while true {
      switch try walk.next() {
      case .frame(let frame):
        if let mark = frame.header.durableMark(at: frame.offset) {
          provenMark = max(provenMark, mark)
        }
      case .end(let end):
        spot = BadSpot(offset: walk.point.offset, end: end)
        break headers
      }
    }
    // The frames before `spot` are chained. Those that nothing proves synced must be whole.
    walk = FrameWalk(generation, from: start, limit: spot.offset)
    point = start
    while case .frame(let frame) = try walk.next() {
      if frame.end > provenMark, try !walk.payloadIsValid(frame) {
        return BadSpot(offset: frame.offset, end: .badFrame(reason: "a payload was not written"))
      }
      if frame.header.closesUnit { (point, announced) = (walk.point, walk.announced) }
      if frame.header.kind == .checkpoint { newestCheckpoint = frame.offset }
    }
    return spot
  }

  /// Decides whether the bad spot is a torn tail or damage; sets `tail`.
  private mutating func judge(
    _ spot: BadSpot, in generation: LogGeneration
  ) throws(LogError) {
    var evidence = EndEvidence(
      size: size, slotMark: slots.map(\.durableMark).max() ?? FormatLimits.logStart,
      extent: slots.first?.extent ?? 0, provenMark: provenMark, badSpot: spot.offset,
      kind: spot.end.kind, end: point.offset)
    if evidence.early == nil {
      var search = SearchBehindDamage(generation, badSpot: spot.offset, end: size)
      try search.run()
      evidence.hasMarkBeyond = search.foundMarkBeyond
      evidence.sawBytes = search.sawBytes
    }
    switch evidence.tail {
    case .clean: tail = .clean
    case .unclosed: tail = .unclosed
    case .unfinished:
      let last = try endOfBytes(in: generation)
      tail = .unfinished(from: point.offset, byteCount: last - point.offset)
    case .damaged(.cut):
      tail = .damaged(
        LogDamage(
          offset: spot.offset,
          reason: "the file was cut to \(size) bytes; \(evidence.extent) were there"))
    case .damaged: tail = .damaged(LogDamage(offset: spot.offset, reason: spot.end.reason))
    }
  }

  /// The end of the last nonzero byte; the end of the log if only zeros follow.
  private func endOfBytes(in generation: LogGeneration) throws(LogError) -> UInt64 {
    var limit = size
    while limit > point.offset {
      let start = limit - min(limit - point.offset, 1 << 20)
      let bytes = try generation.read(Int(limit - start), at: start)
      if let last = bytes.lastIndex(where: { $0 != 0 }) { return start + UInt64(last) + 1 }
      limit = start
    }
    return limit
  }

  /// The same end, with a tail that was found to be damaged in another way.
  func damaged(_ tail: LogTail) -> EndOfLog {
    var result = self
    result.tail = tail
    return result
  }

  /// Whether a valid frame is now at the bad spot, or the file's size has changed.
  private func hasChanged(in generation: LogGeneration) throws(LogError) -> Bool {
    let sizeNow = try generation.size()
    if sizeNow != size { return true }
    guard let badSpot else { return false }
    switch badSpot.end {
    case .unchained, .refusedFrame: return false
    default: break
    }
    var walk = FrameWalk(
      generation, from: ChainPoint(offset: badSpot.offset, previousChecksum: nil), limit: sizeNow)
    guard case .frame(let frame) = try walk.next() else { return false }
    return try walk.payloadIsValid(frame)
  }
}
