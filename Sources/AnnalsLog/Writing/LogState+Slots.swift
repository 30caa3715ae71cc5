import AnnalsFormat
import AnnalsFrames

// Root slots, as writers see them. One slot must be whole whatever happens. So none is written
// before this log itself has synced the newest one, with a sync that succeeded and began after that
// slot was read under the lock. Then the disk also has a slot that another process wrote and could
// not sync.

/// What a log knows of the newest root slot.
struct SlotStanding: Sendable {
  /// The slot as last read or written; nil if none could be read.
  var newest: RootSlot?
  /// The sequence of the newest slot when it was last read under the lock, or was written here; 0
  /// before.
  var seen: UInt64 = 0
  /// The sequence of the slot seen before the last successful sync here.
  var synced: UInt64 = 0

  /// How many commits may follow the newest slot's mark before the next slot is written.
  static let mostCommits: Int64 = 256
  static let mostBytes: UInt64 = 64 << 10
}

extension LogState {
  /// Whether to write the next slot along with the next commit: so much was synced since the newest
  /// that losing it should be noticed, or the file has grown.
  var isSlotDue: Bool {
    guard let newest = slot.newest else { return true }
    if synced.size > newest.extent { return true }
    return synced.offset > newest.durableMark
      && (synced.offset - newest.durableMark >= SlotStanding.mostBytes
        || synced.head - newest.head >= SlotStanding.mostCommits)
  }

  /// Reads the slots again, under the lock. Makes sure that the disk has the newest if another
  /// process wrote it, before a sync that is to cover it. Throws `damage` or `header` if they are
  /// not sound; `outcomeUnknown`, poisoned, if a write failed.
  @discardableResult
  mutating func rereadSlots() throws(LogError) -> RootSlots {
    let slots = try generation.slots()
    try slots.requireSound()
    guard let newest = slots.newest else { preconditionFailure("no sound slot") }
    slot.newest = newest
    if slot.seen != newest.sequence {
      // The slots of a clean end were synced before the file was cut.
      if !slots.sayClosed(at: newest.durableMark, size: size) {
        let start = FormatLimits.slotOffsets[newest.index]
        try ensureOnDisk(start..<start + UInt64(FormatLimits.blockLength))
      }
      slot.seen = newest.sequence
    }
    return slots
  }

  /// Writes the next slot, which names the last synced point and the newest checkpoint before it,
  /// unless this log has not yet synced the newest slot. `extent` is the length of the file that it
  /// guarantees. The next sync covers it. Returns whether it was written.
  ///
  /// Throws `outcomeUnknown`, poisoned, if the write failed.
  @discardableResult
  mutating func writeSlot(extent: UInt64) throws(LogError) -> Bool {
    let slots = try rereadSlots()
    guard let newest = slots.newest, newest.sequence == slot.synced,
      synced.offset >= newest.durableMark
    else { return false }
    var next = RootSlot(
      sequence: newest.sequence + 1, durableMark: synced.offset, head: synced.head,
      markChecksum: synced.checksum)
    next.extent = max(extent, synced.offset)
    next.header = generation.header
    next.announced = synced.announced
    if let place = tables.checkpoint, place.offset < next.durableMark,
      tables.checkpointEnd <= next.durableMark, place.number <= next.head
    {
      next.checkpointOffset = place.offset
      next.checkpointNumber = place.number
    }
    let block = next.encode(seed: generation.seed)
    let offset = FormatLimits.slotOffsets[next.index]
    do {
      try generation.file.write(block, at: offset)
    } catch {
      throw poison(error)
    }
    slot.newest = next
    slot.seen = next.sequence
    return true
  }
}
