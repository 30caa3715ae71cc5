import AnnalsFormat
import AnnalsStorage

// Invariants of a walk:
// - It writes nothing, and it trusts no slot, no directory and no length that has not passed its
//   checksum.
// - Its regions cover the file from the first byte to the last, in order, so it ends whatever the
//   bytes are. Memory: one window, or one frame if that is longer.
// - It trusts the length in a valid frame header, whatever the payload. Where a header is not
//   valid, it continues at the next multiple of eight where one is.

/// A cursor over the regions of one file in the order of their offsets.
///
/// The walk covers the length that the file had when the walk began. While somebody else writes,
/// the end may be half written: hold the shared lock where that matters.
package struct FileWalk: Sendable {
  /// The file's bytes.
  package var bytes: FileBytes
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
  /// The header checksum that the next frame should name; nil if unknown.
  private var previousChecksum: UInt32?
  /// Regions of a stretch without frames that `next()` has still to return, last first.
  private var pending: [FileRegion] = []

  /// A walk from the beginning of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile) throws(StorageError) {
    bytes = try FileBytes(file)
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
    restoredHeader = try HeaderSearch.find(header: header, in: &bytes)
    // Not by `??`, which loses the type of the error.
    let seed = restoredHeader?.seed
    self.seed = if let seed { seed } else { try SeedSearch.find(header: header, in: &bytes) }
    if case .valid(let header) = header { previousChecksum = header.checksum }
  }

  /// The next region; nil at the end of the file.
  package mutating func next() throws(StorageError) -> FileRegion? {
    guard position < bytes.size else { return nil }
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
        before.bytes = bytes
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
    previousChecksum = nil
  }

  /// Runs `body` with the bytes of a region, or of a part of it.
  package mutating func withBytes<R>(
    of region: FileRegion, from start: UInt64 = 0, count: Int? = nil,
    _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let left = region.length - min(start, region.length)
    let count = min(UInt64(count ?? Int.max), left)
    return try bytes.withBytes(at: region.offset + start, count: Int(count), body)
  }

  /// Runs `body` with the payload of a frame, as far as the file has it.
  package mutating func withPayload<R>(
    of frame: WalkedFrame, at offset: UInt64, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let start = offset + UInt64(FormatLimits.frameHeaderLength)
    return try bytes.withBytes(at: start, count: Int(frame.header.payloadLength), body)
  }

  private func fixed(_ content: FileRegion.Content, upTo end: UInt64) -> FileRegion {
    FileRegion(offset: position, length: min(end, bytes.size) - position, content: content)
  }

  private mutating func slot(_ index: Int) throws(StorageError) -> SlotVerdict {
    guard let seed else {
      let isZero = try bytes.withBytes(at: position, count: FormatLimits.blockLength) {
        $0.isZero
      }
      return isZero ? .unwritten : .unchecked
    }
    let header = restoredHeader
    return try bytes.withBytes(at: position, count: FormatLimits.blockLength) { block in
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

extension DecodeFault {
  /// The rule that a frame header with a valid checksum breaks; nil if the checksum is wrong.
  fileprivate var brokenRule: String? {
    switch self {
    case .truncated, .checksum, .unknownFeatures, .newer: nil
    case .invalid(_, let reason): reason.description
    case .tooLarge: "a length beyond the limit"
    }
  }
}

// The log.
extension FileWalk {
  private mutating func logRegion() throws(StorageError) -> FileRegion {
    guard let seed else {
      return FileRegion(
        offset: position, length: bytes.size - position, content: .damaged(.noSeed))
    }
    let offset = position
    let decoded = try bytes.withBytes(at: offset, count: FormatLimits.frameHeaderLength) {
      header -> Result<FrameHeader, DecodeFault> in
      do throws(DecodeFault) {
        return .success(try FrameHeader.decode(header, at: offset, seed: seed))
      } catch {
        return .failure(error)
      }
    }
    switch decoded {
    case .success(let header): return try frame(header, seed: seed)
    case .failure(let fault): return try stretch(behind: fault, seed: seed)
    }
  }

  private mutating func frame(
    _ header: FrameHeader, seed: FrameSeed
  ) throws(StorageError) -> FileRegion {
    let offset = position
    let available = min(header.frameLength, bytes.size - offset)
    var frame = WalkedFrame(
      header: header, payload: .unchecked, chain: .unknown,
      durableMark: header.durableMark(at: offset), hasForeignPadding: false)
    if let previousChecksum {
      let follows = header.previousChecksum == previousChecksum
      frame.chain = follows ? .follows : .broken(expected: previousChecksum)
    }
    previousChecksum = header.checksum
    if available < header.frameLength {
      frame.payload = .cut(missing: header.frameLength - available)
    } else if checksPayloads {
      let payloadEnd = FormatLimits.frameHeaderLength + Int(header.payloadLength)
      let (fits, foreign) = try bytes.withBytes(at: offset, count: Int(header.frameLength)) {
        whole in
        if whole.count < Int(header.frameLength) { return (false, false) }
        let payload = UnsafeRawBufferPointer(
          rebasing: whole[FormatLimits.frameHeaderLength..<payloadEnd])
        return (
          seed.checksum(payload, at: offset) == header.payloadChecksum,
          whole[payloadEnd...].contains { $0 != 0 }
        )
      }
      frame.payload = fits ? .valid : .mismatch
      frame.hasForeignPadding = foreign
    }
    return FileRegion(offset: offset, length: available, content: .frame(frame))
  }

  /// The stretch up to the next frame: zeros, damaged bytes, zeros again.
  private mutating func stretch(
    behind fault: DecodeFault, seed: FrameSeed
  ) throws(StorageError) -> FileRegion {
    previousChecksum = nil
    let start = position
    let search = try FrameSearch.run(from: start, seed: seed, in: &bytes)
    guard let foreign = search.foreign else {
      let content =
        bytes.isUnreadable(start..<search.end)
        ? FileRegion.Content.damaged(.unreadable) : .unwritten
      return FileRegion(offset: start, length: search.end - start, content: content)
    }
    let alignment = UInt64(FormatLimits.frameAlignment)
    let from = foreign.lowerBound / alignment * alignment
    let rounded = (foreign.upperBound - 1) / alignment * alignment
    let to = search.end - rounded < alignment ? search.end : rounded + alignment
    if to < search.end { pend(.unwritten, to..<search.end) }
    let reason: DamageReason =
      if bytes.isUnreadable(start..<search.end) {
        .unreadable
      } else if from == start, let broken = fault.brokenRule {
        .invalidFrame(broken)
      } else if from == start, case .newer = fault {
        .newerFrame("\(fault)")
      } else if search.end - from < UInt64(FormatLimits.frameHeaderLength) {
        .tooShort
      } else {
        .noFrame
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
