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
package struct FrameHeader: Hashable, Sendable {
  package var kind: FrameKind
  package var flags: FrameFlags
  package var payloadLength: UInt32
  package var payloadChecksum: UInt32
  /// The header checksum of the frame before, or the file header's checksum for the first frame.
  package var previousChecksum: UInt32
  /// How many bytes before this frame the durable mark was when it was written.
  package var durableMarkBack: UInt32
  /// This header's own checksum; set by `encode` and `decode`.
  package internal(set) var checksum: UInt32 = 0

  /// The `durableMarkBack` of a writer that knows no mark within reach.
  package static let unknownMark = UInt32.max

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
  package var frameLength: UInt64 { FrameHeader.frameLength(payloadLength: Int(payloadLength)) }

  /// The length of a frame with a payload of this length.
  package static func frameLength(payloadLength: Int) -> UInt64 {
    let alignment = UInt64(FormatLimits.frameAlignment)
    let length = UInt64(FormatLimits.frameHeaderLength) + UInt64(payloadLength)
    return (length + alignment - 1) / alignment * alignment
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
    let start = bytes.count
    // Three words, the first without the checksum yet.
    let kindAndFlags = UInt64(kind.rawValue) << 32 | UInt64(flags.rawValue) << 40
    bytes.append(fixed: kindAndFlags)
    bytes.append(fixed: UInt64(payloadLength) | UInt64(payloadChecksum) << 32)
    bytes.append(fixed: UInt64(previousChecksum) | UInt64(durableMarkBack) << 32)
    checksum = bytes.withUnsafeMutableBytes { all in
      let header = UnsafeMutableRawBufferPointer(rebasing: all[start...])
      let sum = seed.checksum(UnsafeRawBufferPointer(rebasing: header[4...]), at: offset)
      header.storeBytes(of: sum.littleEndian, as: UInt32.self)
      return sum
    }
  }

  /// Reads the header of the frame at `offset` from at least 24 bytes. The payload is not looked
  /// at: compare `payloadChecksum` with `seed.checksum(payload, at: offset)`.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, seed: FrameSeed
  ) throws(DecodeFault) -> FrameHeader {
    var reader = ByteReader(bytes)
    try reader.require(FormatLimits.frameHeaderLength)
    let checksum = try reader.read(UInt32.self)
    let covered = UnsafeRawBufferPointer(rebasing: bytes[4..<FormatLimits.frameHeaderLength])
    guard checksum == seed.checksum(covered, at: offset) else { throw .checksum(at: 0) }
    let kind = FrameKind(rawValue: try reader.readUInt8())
    guard kind.rawValue != 0 else { throw .invalid(at: 4, reason: "a frame of kind 0") }
    let flags = FrameFlags(rawValue: try reader.readFlags(known: FrameFlags.known.rawValue))
    guard !kind.isKnown || kind.allowedFlags.isSuperset(of: flags) else {
      throw .invalid(at: 5, reason: "a flag that this kind of frame cannot have")
    }
    try reader.skipZeros(2)
    let length = try reader.read(UInt32.self)
    guard length <= UInt32(FormatLimits.maximumPayload) else {
      throw .tooLarge(at: 8, limit: UInt64(FormatLimits.maximumPayload))
    }
    let payloadChecksum = try reader.read(UInt32.self)
    let previousChecksum = try reader.read(UInt32.self)
    let durableMarkBack = try reader.read(UInt32.self)
    guard
      durableMarkBack == unknownMark || durableMarkBack % UInt32(FormatLimits.frameAlignment) == 0
    else { throw .invalid(at: 20, reason: "a durable mark between frames") }
    var header = FrameHeader(
      kind: kind, flags: flags, payloadLength: length, payloadChecksum: payloadChecksum,
      previousChecksum: previousChecksum, durableMarkBack: durableMarkBack)
    header.checksum = checksum
    return header
  }
}
