import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

// A walk as the log makes it: over one generation, with the log's errors.

extension FrameWalk {
  /// Least and greatest first reads.
  private static var leastRead: Int { 4096 }
  private static var greatestFirstRead: UInt64 { 128 << 10 }

  /// A walk from `point` to `limit`. `expected` is the likely number of bytes to read: the size of
  /// the first read. After a jump over a large payload the walk reads little, so that one over
  /// headers alone is cheap. The generation must be kept as long as the walk.
  init(
    _ generation: LogGeneration, from point: ChainPoint, limit: UInt64,
    expecting expected: UInt64 = 0
  ) {
    let bytes = FileWindow(
      generation.file, size: limit, leastRead: FrameWalk.leastRead,
      first: Int(min(expected, FrameWalk.greatestFirstRead)))
    self.init(bytes, seed: generation.seed, from: point)
  }

  /// The next frame, or why there is none. Throws `unsupported` at a valid frame that this engine
  /// must not skip, `newerReader` at one that announces features which this engine must know,
  /// `decode` at one with a flag of a later version.
  mutating func step() throws(LogError) -> WalkStep {
    let step: WalkStep
    do throws(StorageError) {
      step = try next()
    } catch {
      throw .storage(error)
    }
    if case .end(let end) = step { try end.requireKnown(at: point.offset) }
    return step
  }

  /// Whether the frame's payload matches its checksum.
  mutating func isWhole(_ frame: WalkedFrame) throws(LogError) -> Bool {
    try wrapping { try payloadIsValid(frame) }
  }

  /// Throws `damage` unless the frame's payload matches its checksum.
  mutating func requirePayload(of frame: WalkedFrame) throws(LogError) {
    guard try isWhole(frame) else {
      throw .damage(at: frame.offset, "the frame's payload was changed")
    }
  }
}

extension WalkEnd {
  /// Throws `unsupported`, `newerReader` or `decode` if only a later version can go on.
  func requireKnown(at offset: UInt64) throws(LogError) {
    switch self {
    case .unknownKind(let frame): throw .unsupported(kind: frame.header.kind.rawValue, at: offset)
    case .newerAnnouncement(_, let bits): throw .newerReader(bits, at: offset)
    case .newerHeader(let fault): throw .decode(fault, at: offset)
    case .limit, .zeros, .noFrame, .refusedHeader, .unchained, .cut, .damagedAnnouncement,
      .refusedAnnouncement:
      return
    }
  }
}
