import AnnalsFormat
import AnnalsStorage

/// Where a file's log ends, and whether the bytes behind are what a crash leaves or damage.
///
/// Applies the rule of FORMAT.md, "Recovery", to the whole file from the first frame on, whatever
/// checkpoint the slots name. A *unit* is what a crash leaves whole or not at all: a transaction
/// with the large values before it and all its parts, or a checkpoint with its chunks. The log ends
/// with its last whole unit before the *bad spot*, the first place where the chain of frames breaks
/// off.
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
  /// The file's length according to the newer slot; 0 without a slot.
  package private(set) var extent: UInt64 = 0

  /// Reads the whole file once, with the memory of a walk.
  package static func find(in walk: FileWalk) throws(StorageError) -> LogEnd {
    var search = LogEndSearch()
    var walk = walk
    while let region = try walk.next() { search.visit(region) }
    guard walk.seed != nil else {
      var result = LogEnd()
      result.tail = .unknown
      return result
    }
    return search.judge(size: walk.bytes.size)
  }
}

/// Collects, region by region, what decides where the log ends.
private struct LogEndSearch {
  /// A frame whose payload is damaged and that no mark so far proves synced.
  private struct BadFrame {
    var offset, end: UInt64
    /// The offset behind the last whole unit before it.
    var unitEnd: UInt64
  }

  private var slotMark = FormatLimits.logStart
  private var hasSlot = false
  private var extent: UInt64 = 0
  /// The sequence of the slot that `extent` is from.
  private var newestSequence: UInt64 = 0
  /// The sequence of the other valid slot; 0 without one.
  private var otherSequence: UInt64 = 0
  /// Whether a slot holds zeros, which no crash leaves.
  private var hasZeroSlot = false
  private var provenMark = FormatLimits.logStart
  private var badFrames: [BadFrame] = []
  /// The index of the first bad frame that no mark so far proves synced.
  private var firstBad = 0
  /// Further bad frames change nothing, so they are not kept.
  private static let maximumBadFrames = 1 << 16
  private var unitEnd = FormatLimits.logStart
  /// The offset behind the last frame of the chain.
  private var chainEnd = FormatLimits.logStart
  /// Why the chain of frame headers breaks off; nil as long as it does not.
  private var breakReason: String?
  /// What is at the break; `limit` as long as the chain holds.
  private var breakKind = EndEvidence.Break.limit
  private var isBroken: Bool { breakKind != .limit }
  /// The greatest mark in valid frames behind the break.
  private var markBehind: UInt64 = 0
  /// The offset behind the last byte that is not zero.
  private var lastForeign = FormatLimits.logStart
  private var unreadable: UInt64?
  /// Whether a frame is of a later version.
  private var hasNewerFrame = false

  mutating func visit(_ region: FileRegion) {
    switch region.content {
    case .header: break
    case .slot(_, .valid(let slot)):
      hasSlot = true
      slotMark = max(slotMark, slot.durableMark)
      if slot.sequence > newestSequence {
        (otherSequence, newestSequence, extent) = (newestSequence, slot.sequence, slot.extent)
      } else {
        otherSequence = slot.sequence
      }
      provenMark = max(provenMark, slot.durableMark)
    case .slot(_, .unwritten): hasZeroSlot = true
    case .slot: break
    case .unwritten:
      if !isBroken { breakKind = .zeros }
    case .damaged(let reason):
      if reason == .unreadable, unreadable == nil { unreadable = region.offset }
      if case .newerFrame = reason { hasNewerFrame = true }
      if !isBroken {
        breakKind = if case .invalidFrame = reason { .refusedFrame } else { .noFrame }
        breakReason = reason.description
      }
      lastForeign = region.end
    case .frame(let frame):
      lastForeign = region.end
      visit(frame, in: region)
    }
  }

  private mutating func visit(_ frame: WalkedFrame, in region: FileRegion) {
    if !isBroken {
      if case .broken = frame.chain {
        (breakKind, breakReason) = (.noFrame, "a frame that does not follow the one before it")
      } else if case .cut = frame.payload {
        (breakKind, breakReason) = (.noFrame, "a frame that reaches beyond the end of the file")
      }
    }
    if isBroken {
      guard frame.payload == .valid, let mark = frame.durableMark else { return }
      markBehind = max(markBehind, mark)
      return
    }
    if let mark = frame.durableMark { provenMark = max(provenMark, mark) }
    while firstBad < badFrames.count, badFrames[firstBad].end <= provenMark { firstBad += 1 }
    if frame.payload != .valid, region.end > provenMark,
      badFrames.count < LogEndSearch.maximumBadFrames
    {
      badFrames.append(BadFrame(offset: region.offset, end: region.end, unitEnd: unitEnd))
    }
    chainEnd = region.end
    if frame.header.closesUnit { unitEnd = region.end }
  }

  func judge(size: UInt64) -> LogEnd {
    let bad = firstBad < badFrames.count ? badFrames[firstBad] : nil
    let badSpot = bad?.offset ?? chainEnd
    let end = bad?.unitEnd ?? unitEnd
    let reason = bad == nil ? breakReason : "a payload was not written"
    var evidence = EndEvidence(
      size: size, slotMark: slotMark, extent: extent, provenMark: provenMark, badSpot: badSpot,
      kind: bad == nil ? breakKind : .noFrame, end: end)
    evidence.hasMarkBeyond = markBehind > badSpot
    evidence.sawBytes = lastForeign > badSpot
    evidence.hasSlot = hasSlot
    // Slots are written in turn, so their sequences follow one another.
    evidence.hasLostSlot =
      hasZeroSlot || otherSequence > 0 && newestSequence != otherSequence + 1
    return LogEnd(
      end: end, badSpot: badSpot, tail: tail(evidence, reason ?? "the log ends here"),
      extent: extent)
  }

  /// What follows the end, in words. `why` is what breaks the chain.
  private func tail(_ evidence: EndEvidence, _ why: String) -> LogEnd.Tail {
    if let unreadable { return .damaged(reason: "the disk cannot read the bytes at \(unreadable)") }
    if hasNewerFrame { return .newer }
    switch evidence.tail {
    case .clean: return .clean
    case .unclosed: return .unclosed
    case .unfinished: return .torn(byteCount: lastForeign - evidence.end)
    case .damaged(.shorterThanMark):
      return .damaged(
        reason: "the file is shorter than the \(slotMark) bytes that a root slot says were synced")
    case .damaged(.refusedFrame):
      return .damaged(reason: "at \(evidence.badSpot) is \(why)")
    case .damaged(.synced): return .damaged(reason: "\(why), though bytes behind it were synced")
    case .damaged(.cut):
      return .damaged(
        reason: "the file was cut to \(evidence.size) bytes; \(evidence.extent) were there")
    case .damaged(.noSlot):
      return .damaged(reason: "\(why), and no root slot tells what was synced")
    case .damaged(.slotLost):
      return .damaged(
        reason: "\(why), and the root slot that may have said what was synced is lost")
    }
  }
}
