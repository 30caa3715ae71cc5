/// What a search for the end of a log has found, and what follows from it: one rule for whoever
/// opens a file, verifies it, or salvages it.
///
/// FORMAT.md, "Finding the end", steps 3 to 11.
struct EndEvidence {
  /// The length of the file.
  let size: UInt64
  /// What the root slots say.
  let slots: EndSearch.Slots
  /// Where the search began; a whole unit ended there.
  let start: UInt64
  /// The greatest mark of a slot or of a frame before the bad spot.
  let provenMark: UInt64
  /// Where the chain of frames breaks off.
  let badSpot: UInt64
  /// Why no frame follows there; nil where one does, whose payload was not written.
  let why: WalkEnd?
  /// After the last whole unit before the bad spot.
  let end: UInt64
  /// Whether a valid frame after the bad spot has a mark beyond it.
  var hasMarkBeyond = false
  /// Whether any byte from the bad spot on is not zero.
  var sawBytes = false

  /// What is known without `hasMarkBeyond` and `sawBytes`, for which the bytes from the bad spot on
  /// must be read; nil if they decide.
  var early: EndSearch.Tail? {
    if size < max(slots.mark, start) { return .damaged(.shorterThanMark) }
    switch why {
    case .limit: return end == size && size >= slots.extent ? .clean : nil
    case .refusedHeader, .refusedAnnouncement: return .damaged(.refusedFrame)
    default: return nil
    }
  }

  /// What lies after the last whole unit.
  var tail: EndSearch.Tail {
    if let early { return early }
    if badSpot < provenMark || hasMarkBeyond { return .damaged(.synced) }
    let isZeros = why == .zeros && !sawBytes
    if size < slots.extent, !isZeros { return .damaged(.cut) }
    if isZeros, end == badSpot { return .unclosed }
    if !slots.isAnyValid { return .damaged(.noSlot) }
    return slots.isOneLost ? .damaged(.slotLost) : .unfinished
  }
}
