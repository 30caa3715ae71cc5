import AnnalsFormat

/// What the root slots and the ends of the readable frames tell of what may have stood behind the
/// last transaction of a damaged file.
///
/// A slot proves the head at its writing, and no later one: a store that was killed may have gone
/// on. Only where both slots say the same, and that the file ended there, was it closed.
struct EndWitness: Sendable {
  private var newest: RootSlot?
  private var other: RootSlot?
  /// Whether a frame begins or ends at the mark of the newest slot.
  private var isMarkReached = false
  private var endsWithZeros = false
  private var hasFrames = false

  /// Takes the next region of the file.
  mutating func take(_ region: FileRegion) {
    endsWithZeros = false
    switch region.content {
    case .slot(_, .valid(let slot)):
      if let known = newest, known.sequence > slot.sequence {
        other = slot
      } else {
        (newest, other) = (slot, newest)
      }
    case .frame:
      hasFrames = true
      if let mark = newest?.durableMark, region.offset == mark || region.end == mark {
        isMarkReached = true
      }
    case .unwritten: endsWithZeros = true
    default: break
    }
  }

  /// Whether the slots are those of a file that was closed, or written by a rewrite. One that was
  /// opened again and killed before its second commit was synced has them too.
  private var wasClosed: Bool {
    guard let newest, let other else { return false }
    return newest.extent == newest.durableMark && other.extent == other.durableMark
      && newest.durableMark == other.durableMark && newest.head == other.head
  }

  /// Whether both slots say that the file ended where it does, so that nothing is gone of what was
  /// written behind its last transaction. `size` is the file's.
  func provesEnd(size: UInt64) -> Bool { wasClosed && newest?.durableMark == size }

  /// Why there may have been transactions behind `head`, though no byte that cannot be read says
  /// so; nil if nothing speaks for it. `size` is the file's.
  func reasonForMore(behind head: Int64, size: UInt64) -> String? {
    guard let newest else {
      return hasFrames ? nil : "neither a root slot nor anything behind the slots can be read"
    }
    if wasClosed { return nil }
    if size < newest.durableMark || size < newest.extent && !endsWithZeros {
      return
        "the file was cut to \(size) bytes of at least \(newest.extent), and had not been closed"
    }
    if newest.head == head, newest.durableMark > FormatLimits.logStart, !isMarkReached {
      return "the file had not been closed, and nothing of its end can be read"
    }
    return nil
  }
}
