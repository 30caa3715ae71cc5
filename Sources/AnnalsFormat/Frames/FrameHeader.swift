import AnnalsModel

/// The 24 bytes before a frame's payload.
///
/// ```
///      0        1        2        3        4        5        6        7
///  +--------+--------+--------+--------+--------+--------+--------+--------+
///  |          header checksum          |  kind  |  flags |   reserved (0)  |
///  +--------+--------+--------+--------+--------+--------+--------+--------+
///  |          payload length           |          payload checksum         |
///  +--------+--------+--------+--------+--------+--------+--------+--------+
///  |  previous frame's header checksum |         durable mark back         |
///  +--------+--------+--------+--------+--------+--------+--------+--------+
/// ```
@usableFromInline @frozen
package struct FrameHeader: Hashable, Sendable {
  @usableFromInline package var kind: FrameKind
  @usableFromInline package var flags: FrameFlags
  @usableFromInline package var payloadLength: UInt32
  @usableFromInline package var payloadChecksum: UInt32
  /// The header checksum of the frame before, or the file header's checksum for the first frame.
  @usableFromInline package var previousChecksum: UInt32
  /// How many bytes before this frame the durable mark was when it was written.
  @usableFromInline package var durableMarkBack: UInt32
  /// This header's own checksum; set by `encode` and `decode`.
  @usableFromInline package internal(set) var checksum: UInt32 = 0

  /// The `durableMarkBack` of a writer that knows no mark within reach.
  package static let unknownMark = UInt32.max

  @inlinable
  package init(
    kind: FrameKind, flags: FrameFlags, payloadLength: UInt32, payloadChecksum: UInt32,
    previousChecksum: UInt32, durableMarkBack: UInt32
  ) {
    self.kind = kind
    self.flags = flags
    self.payloadLength = payloadLength
    self.payloadChecksum = payloadChecksum
    self.previousChecksum = previousChecksum
    self.durableMarkBack = durableMarkBack
  }

  /// Header, payload and padding.
  @inlinable package var frameLength: UInt64 {
    FrameHeader.frameLength(payloadLength: Int(payloadLength))
  }

  /// The length of a frame with a payload of this length.
  @inlinable
  package static func frameLength(payloadLength: Int) -> UInt64 {
    let alignment = UInt64(FormatLimits.frameAlignment)
    let length = UInt64(FormatLimits.frameHeaderLength) + UInt64(payloadLength)
    return (length + alignment - 1) / alignment * alignment
  }

  /// Whether everything before the end of this frame is whole: it is the last part of a
  /// transaction, or a checkpoint's directory. Large values, chunks and continued parts need
  /// what follows them.
  @inlinable package var closesUnit: Bool {
    !kind.opensUnit && !flags.contains(.continued)
  }

  /// Whether a frame can begin at this offset of a file.
  package static func mayBegin(at offset: UInt64) -> Bool {
    offset >= FormatLimits.logStart && offset % UInt64(FormatLimits.frameAlignment) == 0
  }

  /// The offset of the durable mark, given the frame's own; nil if the writer knew none, or if the
  /// field points before the log.
  package func durableMark(at offset: UInt64) -> UInt64? {
    guard durableMarkBack != FrameHeader.unknownMark, UInt64(durableMarkBack) <= offset,
      offset - UInt64(durableMarkBack) >= FormatLimits.logStart
    else { return nil }
    return offset - UInt64(durableMarkBack)
  }

  /// Appends the header of the frame at `offset`; sets `checksum`.
  package mutating func encode(
    into bytes: inout ContiguousArray<UInt8>, at offset: UInt64, seed: FrameSeed
  ) {
    // Three words, the first without the checksum yet.
    let kindAndFlags = UInt64(kind.rawValue) << 32 | UInt64(flags.rawValue) << 40
    var words = (
      kindAndFlags.littleEndian,
      (UInt64(payloadLength) | UInt64(payloadChecksum) << 32).littleEndian,
      (UInt64(previousChecksum) | UInt64(durableMarkBack) << 32).littleEndian
    )
    checksum = withUnsafeMutableBytes(of: &words) { header in
      let sum = seed.checksum(UnsafeRawBufferPointer(rebasing: header[4...]), at: offset)
      header.storeBytes(of: sum.littleEndian, as: UInt32.self)
      bytes.append(contentsOf: UnsafeRawBufferPointer(header))
      return sum
    }
  }

  /// Reads the header of the frame at `offset` from at least 24 bytes. The payload is not looked
  /// at: compare `payloadChecksum` with `seed.checksum(payload, at: offset)`.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, seed: FrameSeed
  ) throws(DecodeFault) -> FrameHeader {
    let length = FormatLimits.frameHeaderLength
    guard bytes.count >= length else { throw .truncated(at: 0, needed: length - bytes.count) }
    // Three words.
    let head = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    let payload = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let links = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
    let checksum = UInt32(truncatingIfNeeded: head)
    let covered = UnsafeRawBufferPointer(rebasing: bytes[4..<length])
    guard checksum == seed.checksum(covered, at: offset) else { throw .checksum(at: 0) }
    let kind = FrameKind(rawValue: UInt8(truncatingIfNeeded: head >> 32))
    guard kind.rawValue != 0 else { throw .invalid(at: 4, reason: "a frame of kind 0") }
    let flags = FrameFlags(rawValue: UInt8(truncatingIfNeeded: head >> 40))
    let refused = kind.isKnown ? flags.subtracting(kind.allowedFlags) : []
    guard flags.isSubset(of: .known), !refused.isTransformed else {
      throw .newer(at: 5, reason: "a flag of a frame")
    }
    guard refused.isEmpty else {
      throw .invalid(at: 5, reason: "a flag that this kind of frame cannot have")
    }
    guard head >> 48 == 0 else {
      let place = head >> 48 & 0xFF != 0 ? 6 : 7
      throw .invalid(at: place, reason: "a reserved byte that is not zero")
    }
    let payloadLength = UInt32(truncatingIfNeeded: payload)
    guard payloadLength <= UInt32(FormatLimits.maximumPayload) else {
      throw .tooLarge(at: 8, limit: UInt64(FormatLimits.maximumPayload))
    }
    let durableMarkBack = UInt32(truncatingIfNeeded: links >> 32)
    guard
      durableMarkBack == unknownMark || durableMarkBack % UInt32(FormatLimits.frameAlignment) == 0
    else { throw .invalid(at: 20, reason: "a durable mark between frames") }
    var header = FrameHeader(
      kind: kind, flags: flags, payloadLength: payloadLength,
      payloadChecksum: UInt32(truncatingIfNeeded: payload >> 32),
      previousChecksum: UInt32(truncatingIfNeeded: links), durableMarkBack: durableMarkBack)
    header.checksum = checksum
    return header
  }
}
