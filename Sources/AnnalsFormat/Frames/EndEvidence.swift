/// What a search for the end of a log has found, and what follows from it: one rule for whoever
/// opens a file, verifies it, or salvages it.
///
/// FORMAT.md, "Finding the end", steps 3 to 11.
package struct EndEvidence: Sendable {
  /// Why no frame follows at the bad spot.
  package enum Break: Hashable, Sendable {
    /// The file ends.
    case limit
    /// Zeros are there.
    case zeros
    /// A frame with right checksums breaks a rule.
    case refusedFrame
    /// Something else is there.
    case noFrame
  }

  /// What lies after the last whole unit.
  package enum Tail: Hashable, Sendable {
    /// Nothing.
    case clean
    /// Zeros: space allocated ahead.
    case unclosed
    /// A commit in progress, or a torn tail.
    case unfinished
    case damaged(Damage)
  }

  /// What proves that more was there, or may have been.
  package enum Damage: Hashable, Sendable {
    /// The file is shorter than a slot's mark.
    case shorterThanMark
    /// No crash leaves a frame with right checksums that breaks a rule.
    case refusedFrame
    /// A mark says that the bytes at the bad spot were synced.
    case synced
    /// The file was longer when it was synced, and not by zeros alone.
    case cut
    /// Nothing tells what was synced: there is no valid slot.
    case noSlot
    /// A slot is lost in a way that no crash causes, and what it proved with it.
    case slotLost
  }

  /// The length of the file.
  package var size: UInt64
  /// The greatest mark of a valid slot; the log's beginning without one.
  package var slotMark: UInt64
  /// The length of the file according to the newer slot; 0 without one.
  package var extent: UInt64
  /// The greatest mark of a slot or of a frame before the bad spot.
  package var provenMark: UInt64
  /// Where the chain of frames breaks off, and why.
  package var badSpot: UInt64
  package var kind: Break
  /// After the last whole unit before the bad spot.
  package var end: UInt64
  /// Whether a valid frame after the bad spot has a mark beyond it.
  package var hasMarkBeyond = false
  /// Whether any byte from the bad spot on is not zero.
  package var sawBytes = false
  /// Whether a slot is valid.
  package var hasSlot = true
  /// Whether a slot holds zeros, or is not the one that was written last in its place.
  package var hasLostSlot = false

  package init(
    size: UInt64, slotMark: UInt64, extent: UInt64, provenMark: UInt64, badSpot: UInt64,
    kind: Break, end: UInt64
  ) {
    self.size = size
    self.slotMark = slotMark
    self.extent = extent
    self.provenMark = provenMark
    self.badSpot = badSpot
    self.kind = kind
    self.end = end
  }

  /// What is known without `hasMarkBeyond` and `sawBytes`, for which the bytes from the bad spot on
  /// must be read; nil if they decide.
  package var early: Tail? {
    if size < slotMark { return .damaged(.shorterThanMark) }
    if kind == .limit, end == size, size >= extent { return .clean }
    if kind == .refusedFrame { return .damaged(.refusedFrame) }
    return nil
  }

  /// What lies after the last whole unit.
  package var tail: Tail {
    if let early { return early }
    if badSpot < provenMark || hasMarkBeyond { return .damaged(.synced) }
    if size < extent, kind != .zeros || sawBytes { return .damaged(.cut) }
    if kind == .zeros, end == badSpot, !sawBytes { return .unclosed }
    if !hasSlot { return .damaged(.noSlot) }
    return hasLostSlot ? .damaged(.slotLost) : .unfinished
  }
}
