import AnnalsFormat
import AnnalsStorage

/// Finds where a log ends, and what lies after the end: the one search for whoever opens a file,
/// verifies or salvages it. Follows FORMAT.md, "Finding the end", steps 4 to 11.
///
/// A *unit* is what a crash leaves whole or not at all: a transaction with the large values before
/// it and all of its parts, or a checkpoint with its chunks. The log ends with its last whole unit
/// before the *bad spot*, where the chain of frames breaks.
///
/// The search follows frame headers while each names the one before. It checks payloads only after
/// the greatest mark that a slot or a frame on the way proves: what lies before was synced, and is
/// checked by whoever reads it. What follows the end is a torn tail, as a crash leaves it, unless
/// something proves that the bytes at the bad spot were once synced: a slot's mark or extent, or
/// the mark in a valid frame anywhere after it. Then it is damage.
///
/// Time: reading the headers after the start, the payloads after the last proven mark, and, where
/// the log does not end with the file, the rest of it. Memory: a window, or one payload.
package struct EndSearch: Sendable {
  /// What follows the end.
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

  /// What the root slots say.
  package struct Slots: Sendable {
    /// The valid ones, the newer first.
    package var valid: [RootSlot]
    /// Whether one is valid, or others tell what is missing without them.
    package var isAnyValid = true
    /// Whether one is lost in a way that no crash causes, and with it what it may have proved.
    package var isOneLost = false

    package init(_ valid: [RootSlot]) { self.valid = valid }

    /// The greatest mark.
    package var mark: UInt64 { valid.map(\.durableMark).max() ?? FormatLimits.logStart }
    /// The length of the file according to the newer one; 0 without one.
    package var extent: UInt64 { valid.first?.extent ?? 0 }
  }

  /// The end: after the last whole unit.
  package private(set) var point: ChainPoint
  /// Where the chain breaks.
  package private(set) var badSpot: UInt64
  /// Why no frame follows there; nil where one does, whose payload was not written.
  package private(set) var why: WalkEnd?
  /// The greatest offset that a slot or a frame proves synced.
  package private(set) var provenMark: UInt64
  /// The directory of the last checkpoint on the way; nil if there was none.
  package private(set) var newestCheckpoint: UInt64?
  /// The features announced between the start of the search and the end.
  package private(set) var announced = Features.none
  /// What follows the end. Not decided if what stopped the walk is beyond this version: `why`.
  package private(set) var tail = Tail.clean

  /// Searches the log from the walk's point on, where a unit begins. With `passesUnknown` the
  /// search goes on behind frames that this version cannot understand; otherwise it ends there.
  /// Throws if the system cannot read.
  package init(
    in start: FrameWalk, slots: Slots, passesUnknown: Bool
  ) throws(StorageError) {
    point = start.point
    badSpot = start.point.offset
    provenMark = slots.mark
    try followHeaders(start, passesUnknown)
    if !passesUnknown, let why, why.isNewer { return }
    try checkPayloads(start, passesUnknown)
    var evidence = EndEvidence(
      size: start.limit, slots: slots, start: start.point.offset, provenMark: provenMark,
      badSpot: badSpot, why: why, end: point.offset)
    if evidence.early == nil {
      let search = try SearchBehindDamage(in: start, from: badSpot)
      evidence.hasMarkBeyond = search.foundMarkBeyond
      evidence.sawBytes = search.sawBytes
    }
    tail = evidence.tail
  }

  /// Goes to the first frame that is missing or does not follow; raises `provenMark`.
  private mutating func followHeaders(
    _ start: FrameWalk, _ passesUnknown: Bool
  ) throws(StorageError) {
    var walk = start
    while true {
      switch try walk.next(passesUnknown: passesUnknown) {
      case .frame(let frame):
        if let mark = frame.header.durableMark(at: frame.offset) {
          provenMark = max(provenMark, mark)
        }
      case .end(let end):
        (badSpot, why) = (walk.point.offset, end)
        return
      }
    }
  }

  /// Goes through the same frames again. Those that nothing proves synced must be whole.
  private mutating func checkPayloads(
    _ start: FrameWalk, _ passesUnknown: Bool
  ) throws(StorageError) {
    var walk = start
    walk.limit = badSpot
    while case .frame(let frame) = try walk.next(passesUnknown: passesUnknown) {
      if frame.end > provenMark, try !walk.payloadIsValid(frame) {
        (badSpot, why) = (frame.offset, nil)
        return
      }
      if frame.header.closesUnit { (point, announced) = (walk.point, walk.announced) }
      if frame.header.kind == .checkpoint { newestCheckpoint = frame.offset }
    }
  }

  /// What is wrong at the bad spot, in words.
  package var reason: String { why?.reason ?? "a payload was not written" }
}

extension FrameWalk {
  /// The next frame, also one that this version cannot understand, or why there is none.
  fileprivate mutating func next(passesUnknown: Bool) throws(StorageError) -> WalkStep {
    let step = try next()
    guard passesUnknown, case .end(let end) = step, end.isInChain, let frame = end.frame else {
      return step
    }
    pass(frame)
    return .frame(frame)
  }
}
