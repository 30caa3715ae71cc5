import AnnalsModel

/// Builds a run of frames in one buffer, to be written to the file with one write.
package struct FrameWriter: Sendable {
  /// The frames appended since the start or the last `removeAll`.
  package private(set) var bytes: ContiguousArray<UInt8> = []
  /// Behind the last frame.
  package private(set) var point: ChainPoint
  /// What frames name as the durable mark; nil if none is known.
  package var durableMark: UInt64?
  private let seed: FrameSeed

  /// A writer of a run that begins at a point.
  package init(seed: FrameSeed, at point: ChainPoint, durableMark: UInt64?) {
    let alignment = UInt64(FormatLimits.frameAlignment)
    precondition(point.offset % alignment == 0, "frames begin at multiples of 8")
    self.seed = seed
    self.point = point
    self.durableMark = durableMark
  }

  /// A writer of a run that begins at `offset`, behind the frame whose header has
  /// `previousChecksum`.
  package init(seed: FrameSeed, offset: UInt64, previousChecksum: UInt32, durableMark: UInt64?) {
    let point = ChainPoint(offset: offset, previousChecksum: previousChecksum)
    self.init(seed: seed, at: point, durableMark: durableMark)
  }

  /// Where in the file the next frame begins.
  package var offset: UInt64 { point.offset }
  /// The header checksum of the last frame.
  package var previousChecksum: UInt32 { point.previousChecksum ?? 0 }

  /// Where in the file the first frame of `bytes` begins.
  package var start: UInt64 { offset - UInt64(bytes.count) }

  /// Appends one frame. The payload is at most `FormatLimits.maximumPayload` bytes; `crc` is its
  /// crc32 by itself, if that is known.
  @discardableResult
  package mutating func append(
    kind: FrameKind, flags: FrameFlags = [], payload: UnsafeRawBufferPointer, crc: UInt32? = nil
  ) -> FrameHeader {
    precondition(payload.count <= FormatLimits.maximumPayload, "a payload is at most 16 MiB")
    let checksum =
      crc.map { seed.checksum(ofBytesWith: $0, count: payload.count, at: offset) }
      ?? seed.checksum(payload, at: offset)
    var header = FrameHeader(
      kind: kind, flags: flags, payloadLength: UInt32(payload.count),
      payloadChecksum: checksum, previousChecksum: previousChecksum,
      durableMarkBack: markBack)
    let end = bytes.count + Int(header.frameLength)
    header.encode(into: &bytes, at: offset, seed: seed)
    bytes.append(contentsOf: payload)
    bytes.append(zerosUpTo: end)
    point = ChainPoint(
      offset: offset + header.frameLength, previousChecksum: header.checksum,
      previousOffset: offset)
    return header
  }

  /// Removes the frames behind a point, none of which was written.
  package mutating func rollBack(to point: ChainPoint) {
    precondition(point.offset >= start && point.offset <= offset, "frames that were written stay")
    bytes.removeLast(Int(offset - point.offset))
    self.point = point
  }

  /// Forgets the bytes, which were written, and keeps their memory and the place in the file.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// How far back the durable mark lies; unknown beyond 4 GiB.
  private var markBack: UInt32 {
    guard let durableMark, durableMark <= offset else { return FrameHeader.unknownMark }
    return UInt32(exactly: offset - durableMark) ?? FrameHeader.unknownMark
  }
}
