import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// The end of the log of a file that others may be writing, and what follows the end: what
/// `EndSearch` finds, in the words of the log.
struct EndOfLog {
  private let search: EndSearch
  /// What follows the end.
  private(set) var tail = LogTail.clean
  /// The size of the file when it was examined.
  let size: UInt64
  /// The valid slots of the file, the newer first, as they were when the end was found; none if the
  /// search ran without them.
  let slots: [RootSlot]

  /// The end: after the last whole unit.
  var point: ChainPoint { search.point }
  /// The greatest offset that a slot or a frame proves synced.
  var provenMark: UInt64 { search.provenMark }
  /// The directory of the last checkpoint on the way; nil if there was none.
  var newestCheckpoint: UInt64? { search.newestCheckpoint }
  /// The features announced between the start of the search and the end.
  var announced: Features { search.announced }

  /// Finds the end of the log that begins at `start`, where a unit begins. `slots` are the file's
  /// valid ones, the newer first; without any, the frames alone tell what was synced.
  ///
  /// Another process may write meanwhile, or close the file and so shorten it. So after damage,
  /// slots, size and bad spot are read again, and the search restarts if they have changed.
  ///
  /// Throws `storage`, `unsupported`, `newerReader` and `decode`; damage is in `tail`.
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
    self.slots = slots
    let witness = EndSearch.Slots(slots)
    size = try generation.size()
    let walk = FrameWalk(generation, from: start, limit: size)
    search = try wrapping { try EndSearch(in: walk, slots: witness, passesUnknown: false) }
    try search.why?.requireKnown(at: search.badSpot)
    switch search.tail {
    case .clean: tail = .clean
    case .unclosed: tail = .unclosed
    case .unfinished:
      let last = try endOfBytes(in: generation)
      tail = .unfinished(from: point.offset, byteCount: last - point.offset)
    case .damaged(.shorterThanMark):
      let reason = "the file is shorter than the \(witness.mark) bytes that were synced"
      tail = .damaged(LogDamage(offset: size, reason: reason))
    case .damaged(.cut):
      let reason = "the file was cut to \(size) bytes; \(witness.extent) were there"
      tail = .damaged(LogDamage(offset: search.badSpot, reason: reason))
    case .damaged: tail = .damaged(LogDamage(offset: search.badSpot, reason: search.reason))
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
    switch search.why {
    case .unchained, .refusedHeader, .refusedAnnouncement: return false
    default: break
    }
    var walk = FrameWalk(
      generation, from: ChainPoint(offset: search.badSpot, previousChecksum: nil), limit: sizeNow)
    guard case .frame(let frame) = try walk.step() else { return false }
    return try walk.isWhole(frame)
  }
}
