import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// Goes from frame to frame of a log, from one point to a limit: the only walk over frames, whether
/// the log is recovered, read, rewritten, verified or salvaged.
///
/// `next` stops where a frame is not what the log promises: valid, naming the one before it, of a
/// kind that is known or may be skipped. Whoever relies on the log ends there. Whoever wants to see
/// all that is in a file goes on with `pass` or `goOn`. Checks payloads only when asked, except
/// those of announcements, and never writes.
///
/// Memory: the window.
@usableFromInline
package struct FrameWalk: Sendable {
  /// The file's bytes.
  @usableFromInline package var bytes: FileWindow
  package let seed: FrameSeed
  /// Where the next frame begins, and its predecessor.
  package private(set) var point: ChainPoint
  /// Where to stop: the end of the file as it was, or of the wanted part.
  package var limit: UInt64
  /// The features announced in the frames passed so far.
  package private(set) var announced = Features.none

  /// A walk from `point` to the end of what the window reads.
  package init(_ bytes: FileWindow, seed: FrameSeed, from point: ChainPoint) {
    self.bytes = bytes
    self.seed = seed
    self.point = point
    limit = bytes.size
  }

  /// The next frame, or why there is none; then the walk stays where it is. Throws if the system
  /// cannot read.
  package mutating func next() throws(StorageError) -> WalkStep {
    let step = try peek()
    if case .frame(let frame) = step { pass(frame) }
    return step
  }

  /// Goes on behind a frame.
  package mutating func pass(_ frame: WalkedFrame) {
    point = ChainPoint(
      offset: frame.end, previousChecksum: frame.header.checksum, previousOffset: frame.offset)
  }

  /// Goes on at `offset`, where a frame is thought to begin; it may name any as the one before.
  package mutating func goOn(at offset: UInt64) {
    point = ChainPoint(offset: offset, previousChecksum: nil)
  }

  private mutating func peek() throws(StorageError) -> WalkStep {
    let offset = point.offset
    guard offset < limit else { return .end(.limit) }
    let left = limit - offset
    let length = Int(min(left, UInt64(FormatLimits.frameHeaderLength)))
    try bytes.load(offset, count: length)
    var fault = DecodeFault.checksum(at: 0)
    var isZero = false
    // The closure must not hold the walk, or the window would be copied before it is lent.
    let seed = seed
    let header = bytes.withLoaded(from: offset) { loaded -> FrameHeader? in
      let head = UnsafeRawBufferPointer(rebasing: loaded.prefix(length))
      do throws(DecodeFault) {
        return try FrameHeader.decode(head, at: offset, seed: seed)
      } catch {
        fault = error
        isZero = head.isZero
        return nil
      }
    }
    if let header { return try check(WalkedFrame(offset: offset, header: header), left: left) }
    if isZero { return .end(.zeros) }
    return switch fault {
    case .invalid, .tooLarge: .end(.refusedHeader(fault))
    case .newer: .end(.newerHeader(fault))
    case .checksum, .truncated, .unknownFeatures: .end(.noFrame(fault))
    }
  }

  private mutating func check(
    _ frame: WalkedFrame, left: UInt64
  ) throws(StorageError) -> WalkStep {
    let header = frame.header
    if let previous = point.previousChecksum, header.previousChecksum != previous {
      return .end(.unchained(frame))
    }
    guard header.frameLength <= left else { return .end(.cut(frame)) }
    guard header.kind.isKnown || header.flags.contains(.skippable) else {
      return .end(.unknownKind(frame))
    }
    if header.kind == .featureAnnouncement { return try adopt(announcement: frame) }
    return .frame(frame)
  }

  /// Adopts the features that a frame announces.
  private mutating func adopt(
    announcement frame: WalkedFrame
  ) throws(StorageError) -> WalkStep {
    guard try payloadIsValid(frame) else { return .end(.damagedAnnouncement(frame)) }
    do throws(DecodeFault) {
      let features = try withPayload(of: frame) { payload throws(DecodeFault) in
        try Features(announcement: payload, flags: frame.header.flags)
      }
      announced.formUnion(features)
      return .frame(frame)
    } catch {
      if case .unknownFeatures(_, let bits) = error { return .end(.newerAnnouncement(frame, bits)) }
      return .end(.refusedAnnouncement(frame, error))
    }
  }
}

// Payloads.
extension FrameWalk {
  /// Whether the frame's payload matches its header's checksum.
  package mutating func payloadIsValid(_ frame: WalkedFrame) throws(StorageError) -> Bool {
    let length = Int(frame.header.payloadLength)
    try bytes.load(frame.payloadOffset, count: length)
    let seed = seed
    return bytes.withLoaded(from: frame.payloadOffset) { loaded in
      loaded.count >= length
        && seed.checksum(UnsafeRawBufferPointer(rebasing: loaded.prefix(length)), at: frame.offset)
          == frame.header.payloadChecksum
    }
  }

  /// Calls `body` with the payload of the frame that `payloadIsValid` has just checked. The bytes
  /// are valid only within the call.
  @inlinable @inline(__always)
  package func withPayload<R, E: Error>(
    of frame: WalkedFrame, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let start = Int(frame.payloadOffset - bytes.windowStart)
    let length = Int(frame.header.payloadLength)
    return try bytes.window.withBytes { window throws(E) in
      try body(UnsafeRawBufferPointer(rebasing: window[start..<start + length]))
    }
  }

  /// Calls `body` with the first bytes of the frame's payload, at most `count`, unchecked.
  @inlinable @inline(__always)
  package mutating func withPayloadPrefix<R>(
    of frame: WalkedFrame, _ count: Int, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(StorageError) -> R {
    let length = min(count, Int(frame.header.payloadLength))
    return try bytes.withBytes(at: frame.payloadOffset, count: length, body)
  }

  /// Whether the padding after the frame's payload, which no checksum covers, has nonzero bytes.
  package mutating func hasBytesBehindPayload(_ frame: WalkedFrame) throws(StorageError) -> Bool {
    try bytes.withBytes(at: frame.payloadEnd, count: Int(frame.end - frame.payloadEnd)) {
      !$0.isZero
    }
  }
}
