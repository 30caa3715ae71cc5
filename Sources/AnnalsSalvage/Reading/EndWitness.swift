import AnnalsFormat
import AnnalsInspection

/// Decides from the root slots and the readable frames whether a damaged file may have had more
/// transactions behind the last readable one.
///
/// A slot proves the head at the time it was written; the writer may have committed more before it
/// was killed. The file was closed only if both slots name the same head and the end of the file.
struct EndWitness: Sendable {
  private var newest: RootSlot?
  private var other: RootSlot?
  /// Whether a frame begins or ends at the mark of the newest slot.
  private var isMarkReached = false
  private var endsWithZeros = false
  private var hasFrames = false

  /// Records the next region of the file.
  mutating func visit(_ region: FileRegion) {
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

  /// Whether the slots are those of a file that was closed, or written by a rewrite. A writer
  /// killed before its second commit was synced leaves such slots, too.
  private var wasClosed: Bool {
    guard let newest, let other else { return false }
    return newest.extent == newest.durableMark && other.extent == other.durableMark
      && newest.durableMark == other.durableMark && newest.head == other.head
  }

  /// Whether both slots name the end of the file, so that nothing behind the last transaction is
  /// gone. `size` is the file's.
  func provesEnd(size: UInt64) -> Bool { wasClosed && newest?.durableMark == size }

  /// Why there may have been transactions behind `head` although no unreadable byte says so; nil if
  /// there is no reason to think so. `size` is the file's.
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
