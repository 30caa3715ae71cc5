import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

// Invariants of a walk:
// - It writes nothing, and it trusts no slot, no directory and no length that has not passed its
//   checksum.
// - Its regions cover the file from the first byte to the last, in order, so it ends whatever the
//   bytes are. Memory: one window, or one frame if that is longer.
// - It trusts the length in a valid frame header, whatever the payload. Where a header is not
//   valid, it continues at the next multiple of eight where one is.
// - What a frame is and what follows it, `FrameWalk` decides; where that walk ends, this one goes
//   on.

/// A cursor over the regions of one file in the order of their offsets.
///
/// The walk covers the length that the file had when the walk began. While somebody else writes,
/// the end may be half written: hold the shared lock where that matters.
package struct FileWalk: Sendable {
  /// The walk over the log. What lies before the log is read through its window.
  var log: FrameWalk
  /// Whether the first block is a valid header.
  package let header: HeaderVerdict
  /// The seed of the checksums; nil if nothing can be checked.
  package let seed: FrameSeed?
  /// The header, recovered if it is damaged (`HeaderSearch`); nil if it cannot be recovered.
  package let restoredHeader: FileHeader?
  /// Whether payloads are checked; if not, `PayloadVerdict.unchecked` says so.
  package var checksPayloads = true
  /// Where the next region begins.
  package private(set) var position: UInt64 = 0
  /// Regions of a stretch without frames that `next()` has still to return, last first.
  private var pending: [FileRegion] = []

  /// A walk from the beginning of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile) throws(StorageError) {
    var bytes = try FileWindow(file)
    var verdict = try bytes.withBytes(at: 0, count: FormatLimits.blockLength) { block in
      do throws(HeaderFault) {
        return HeaderVerdict.valid(try FileHeader.decode(block))
      } catch {
        return .damaged(error)
      }
    }
    if case .valid(let own) = verdict, try HeaderSearch.isForeign(own, in: &bytes) {
      verdict = .damaged(.foreign)
    }
    header = verdict
    // What another version has written is not damage to look behind.
    let isWhole = try bytes.withBytes(
      at: 0, count: FormatLimits.blockLength, FileHeader.hasRightChecksum)
    if isWhole, verdict.isOfAnotherVersion {
      restoredHeader = nil
      seed = nil
    } else {
      restoredHeader = try HeaderSearch.find(header: header, in: &bytes)
      // Not by `??`, which loses the type of the error.
      let seed = restoredHeader?.seed
      self.seed = if let seed { seed } else { try SeedSearch.find(in: &bytes) }
    }
    var start = ChainPoint(offset: FormatLimits.logStart, previousChecksum: nil)
    if case .valid(let header) = header { start = ChainPoint(beginningOf: header) }
    // Without a seed no frame is looked for.
    log = FrameWalk(bytes, seed: self.seed ?? FrameSeed(start: 0), from: start)
  }

  /// The number of bytes in the file when the walk began.
  package var size: UInt64 { log.bytes.size }

  /// The ranges that the disk could not read so far, in order, merged where they touch.
  package var unreadable: [Range<UInt64>] { log.bytes.unreadable }

  /// The next region; nil at the end of the file.
  package mutating func next() throws(StorageError) -> FileRegion? {
    guard position < size else { return nil }
    let region: FileRegion
    if let waiting = pending.popLast() {
      region = waiting
    } else if position < FormatLimits.slotOffsets[0] {
      region = fixed(.header(header), upTo: FormatLimits.slotOffsets[0])
    } else if position < FormatLimits.slotOffsets[1] {
      region = fixed(.slot(0, try slot(0)), upTo: FormatLimits.slotOffsets[1])
    } else if position < FormatLimits.logStart {
      region = fixed(.slot(1, try slot(1)), upTo: FormatLimits.logStart)
    } else {
      region = try logRegion()
    }
    position = region.end
    return region
  }

  /// Advances until the next region is the one that holds the byte at `offset`, or the file ends.
  /// Reads the file up to there, but checks no payload.
  package mutating func skip(to offset: UInt64) throws(StorageError) {
    let checks = checksPayloads
    checksPayloads = false
    defer { checksPayloads = checks }
    var before = self
    while let region = try next() {
      if region.end > offset {
        // The restored walk can use the window that was read meanwhile.
        before.log.bytes = log.bytes
        self = before
        checksPayloads = checks
        return
      }
      before = self
    }
  }

  /// Continues at `offset`, where a frame is known to begin, without reading what lies between.
  package mutating func jump(to offset: UInt64) {
    position = offset
    pending = []
    log.goOn(at: offset)
  }

  /// Runs `body` with the bytes of a region, or of a part of it.
  package mutating func withBytes<R>(
    of region: FileRegion, from start: UInt64 = 0, count: Int? = nil,
    _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let left = region.length - min(start, region.length)
    let count = min(UInt64(count ?? Int.max), left)
    return try log.bytes.withBytes(at: region.offset + start, count: Int(count), body)
  }

  /// Runs `body` with the payload of a frame, as far as the file has it.
  package mutating func withPayload<R>(
    of frame: InspectedFrame, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let start = offset + UInt64(FormatLimits.frameHeaderLength)
    return try log.bytes.withBytes(at: start, count: Int(frame.header.payloadLength), body)
  }

  private func fixed(_ content: FileRegion.Content, upTo end: UInt64) -> FileRegion {
    FileRegion(offset: position, length: min(end, size) - position, content: content)
  }

  private mutating func slot(_ index: Int) throws(StorageError) -> SlotVerdict {
    guard let seed else {
      let isZero = try log.bytes.withBytes(at: position, count: FormatLimits.blockLength) {
        $0.isZero
      }
      return isZero ? .unwritten : .unchecked
    }
    let header = restoredHeader
    return try log.bytes.withBytes(at: position, count: FormatLimits.blockLength) { block in
      if block.count < FormatLimits.blockLength { return .cut }
      if block.isZero { return .unwritten }
      do throws(DecodeFault) {
        return .valid(try RootSlot.decode(block, index: index, seed: seed))
      } catch {
        if let header,
          let other = RootSlot.identity(provenBy: block, index: index, notOf: header)
        {
          return .foreign(other)
        }
        return .damaged(error)
      }
    }
  }
}

// The log.
extension FileWalk {
  private mutating func logRegion() throws(StorageError) -> FileRegion {
    guard seed != nil else {
      return FileRegion(offset: position, length: size - position, content: .damaged(.noSeed))
    }
    let expected = log.point.previousChecksum
    switch try log.next() {
    case .frame(let frame): return try region(of: frame, behind: expected)
    case .end(let end):
      guard let frame = end.frame else { return try stretch(behind: end) }
      log.pass(frame)
      return try region(of: frame, behind: expected)
    }
  }

  private mutating func region(
    of walked: WalkedFrame, behind expected: UInt32?
  ) throws(StorageError) -> FileRegion {
    let (offset, header) = (walked.offset, walked.header)
    let available = min(header.frameLength, size - offset)
    var frame = InspectedFrame(
      header: header, payload: .unchecked, chain: .unknown,
      durableMark: header.durableMark(at: offset), hasForeignPadding: false)
    if let expected {
      frame.chain =
        header.previousChecksum == expected ? .follows : .broken(expected: expected)
    }
    if available < header.frameLength {
      frame.payload = .cut(missing: header.frameLength - available)
    } else if checksPayloads {
      try log.bytes.load(offset, count: Int(available))
      frame.payload = try log.payloadIsValid(walked) ? .valid : .mismatch
      frame.hasForeignPadding = try log.hasBytesBehindPayload(walked)
    }
    return FileRegion(offset: offset, length: available, content: .frame(frame))
  }

  /// The stretch up to the next frame: zeros, damaged bytes, zeros again.
  private mutating func stretch(behind why: WalkEnd) throws(StorageError) -> FileRegion {
    let start = position
    let search = try FrameSearch(from: start, seed: log.seed, in: &log.bytes)
    log.goOn(at: search.end)
    let isUnreadable = log.bytes.isUnreadable(start..<search.end)
    guard let foreign = search.foreign else {
      let content = isUnreadable ? FileRegion.Content.damaged(.unreadable) : .unwritten
      return FileRegion(offset: start, length: search.end - start, content: content)
    }
    let alignment = UInt64(FormatLimits.frameAlignment)
    let from = foreign.lowerBound / alignment * alignment
    let rounded = (foreign.upperBound - 1) / alignment * alignment
    let to = search.end - rounded < alignment ? search.end : rounded + alignment
    if to < search.end { pend(.unwritten, to..<search.end) }
    var reason = DamageReason.noFrame
    if isUnreadable {
      reason = .unreadable
    } else if from == start, case .refusedHeader(let fault) = why {
      reason = .invalidFrame(fault.brokenRule)
    } else if from == start, case .newerHeader(let fault) = why {
      reason = .newerFrame("\(fault)")
    } else if search.end - from < UInt64(FormatLimits.frameHeaderLength) {
      reason = .tooShort
    }
    pend(.damaged(reason), from..<to)
    if from > start { pend(.unwritten, start..<from) }
    return pending.removeLast()
  }

  private mutating func pend(_ content: FileRegion.Content, _ range: Range<UInt64>) {
    pending.append(
      FileRegion(
        offset: range.lowerBound, length: range.upperBound - range.lowerBound, content: content))
  }
}

extension DecodeFault {
  /// The rule that a refused header breaks.
  fileprivate var brokenRule: String {
    switch self {
    case .invalid(_, let reason): reason.description
    case .tooLarge: "a length beyond the limit"
    case .truncated, .checksum, .unknownFeatures, .newer: description
    }
  }
}
