import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

/// Where a file's log ends, and whether the bytes behind are what a crash leaves or damage.
///
/// Applies the rule of FORMAT.md, "Recovery", as `EndSearch` does, to the whole file from the first
/// frame on, whatever checkpoint the slots name. It passes frames that only a later version
/// understands: they do not end the chain.
package struct LogEnd: Sendable {
  /// What lies behind the last whole unit.
  package enum Tail: Hashable, Sendable {
    /// Nothing.
    case clean
    /// Zeros: space that a writer allocated ahead. It still runs, or did not close the file.
    case unclosed
    /// An incomplete unit: a torn tail, or a commit in progress.
    case torn(byteCount: UInt64)
    /// Bytes that were synced are damaged or missing.
    case damaged(reason: String)
    /// A frame that only a later version can read: what it says of what follows is not known.
    case newer
    /// Not known: the header is damaged, so no checksum can be checked.
    case unknown
  }

  /// The offset behind the last whole unit before the bad spot.
  package private(set) var end = FormatLimits.logStart
  /// Where the chain of frames breaks off.
  package private(set) var badSpot = FormatLimits.logStart
  package private(set) var tail = Tail.clean

  /// Reads the headers of the frames, the payloads that no mark proves synced, and what lies behind
  /// the bad spot; with the memory of a walk.
  package static func find(in walk: FileWalk) throws(StorageError) -> LogEnd {
    var walk = walk
    var result = LogEnd()
    guard walk.seed != nil else {
      result.tail = .unknown
      return result
    }
    let slots = try EndSearch.Slots(before: &walk)
    let search = try EndSearch(in: walk.log, slots: slots, passesUnknown: true)
    walk.jump(to: search.badSpot)
    let behind = try BytesBehind(&walk)
    result.end = search.point.offset
    result.badSpot = search.badSpot
    result.tail = tail(search, slots, behind, size: walk.size)
    return result
  }

  /// What follows the end, in words.
  private static func tail(
    _ search: EndSearch, _ slots: EndSearch.Slots, _ behind: BytesBehind, size: UInt64
  ) -> Tail {
    if let unreadable = behind.unreadable {
      return .damaged(reason: "the disk cannot read the bytes at \(unreadable)")
    }
    if behind.hasNewerFrame { return .newer }
    // What breaks the chain: where no frame begins, in the words for regions.
    var why = search.reason
    if let end = search.why, end.frame == nil { why = behind.first ?? WalkEnd.limit.reason }
    switch search.tail {
    case .clean: return .clean
    case .unclosed: return .unclosed
    case .unfinished: return .torn(byteCount: behind.lastForeign - search.point.offset)
    case .damaged(.shorterThanMark):
      return .damaged(
        reason:
          "the file is shorter than the \(slots.mark) bytes that a root slot says were synced")
    case .damaged(.refusedFrame): return .damaged(reason: "at \(search.badSpot) is \(why)")
    case .damaged(.synced): return .damaged(reason: "\(why), though bytes behind it were synced")
    case .damaged(.cut):
      return .damaged(
        reason: "the file was cut to \(size) bytes; \(slots.extent) were there")
    case .damaged(.noSlot):
      return .damaged(reason: "\(why), and no root slot tells what was synced")
    case .damaged(.slotLost):
      return .damaged(
        reason: "\(why), and the root slot that may have said what was synced is lost")
    }
  }
}

extension EndSearch.Slots {
  /// The slots of a walk that has not begun.
  fileprivate init(before walk: inout FileWalk) throws(StorageError) {
    self.init([])
    var holdsZeros = false
    while walk.position < FormatLimits.logStart, let region = try walk.next() {
      switch region.content {
      case .slot(_, .valid(let slot)): valid.append(slot)
      case .slot(_, .unwritten): holdsZeros = true
      default: break
      }
    }
    valid.sort { $0.sequence > $1.sequence }
    isAnyValid = !valid.isEmpty
    // Slots are written in turn, so their sequences follow one another.
    isOneLost = holdsZeros || valid.count == 2 && valid[0].sequence != valid[1].sequence + 1
  }
}

/// What lies behind the bad spot.
private struct BytesBehind {
  /// The offset behind the last byte that is not zero: of its frame, or of eight bytes.
  private(set) var lastForeign: UInt64
  /// What is at the bad spot, in words; nil if it is a frame, zeros, or the end of the file.
  private(set) var first: String?
  /// The first bytes that the disk cannot read.
  private(set) var unreadable: UInt64?
  /// Whether a frame is of a later version.
  private(set) var hasNewerFrame = false

  /// Walks from the bad spot to the end of the file.
  init(_ walk: inout FileWalk) throws(StorageError) {
    let start = walk.position
    lastForeign = start
    walk.checksPayloads = false
    while let region = try walk.next() {
      if case .unwritten = region.content { continue }
      lastForeign = region.end
      guard case .damaged(let reason) = region.content else { continue }
      if region.offset == start { first = reason.description }
      if reason == .unreadable, unreadable == nil { unreadable = region.offset }
      if case .newerFrame = reason { hasNewerFrame = true }
    }
  }
}
