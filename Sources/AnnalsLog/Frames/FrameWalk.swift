import AnnalsFormat
import AnnalsModel

/// A frame found by a walk.
struct WalkedFrame {
  var offset: UInt64
  var header: FrameHeader

  var payloadOffset: UInt64 { offset + UInt64(FormatLimits.frameHeaderLength) }
  var payloadEnd: UInt64 { payloadOffset + UInt64(header.payloadLength) }
  var end: UInt64 { offset + header.frameLength }
}

/// Why a walk cannot go on.
enum WalkEnd: Hashable {
  /// The limit was reached exactly.
  case limit
  /// A header's worth of zeros: space that was never written.
  case zeros
  /// A frame that does not name the one before it.
  case unchained
  /// Bytes that are not the next frame.
  case badFrame(reason: String)
  /// A header with a right checksum, so somebody wrote it, and with fields that this version
  /// refuses.
  case refusedFrame(reason: String)

  /// What it is to the rule about the end of a log.
  var kind: EndEvidence.Break {
    switch self {
    case .limit: .limit
    case .zeros: .zeros
    case .unchained, .badFrame: .noFrame
    case .refusedFrame: .refusedFrame
    }
  }

  /// What is wrong where a frame should be, in words.
  var reason: String {
    switch self {
    case .limit: "the log ends here"
    case .zeros: "zeros where a frame should be"
    case .unchained: "a frame that does not follow the one before it"
    case .badFrame(let reason), .refusedFrame(let reason): reason
    }
  }
}

/// The result of one step: the next frame, or the end of the walk.
///
/// Not a `Result`: the Swift runtime looks up the conformance of its failure once in every process,
/// which takes as long as the rest of opening a file.
enum WalkStep {
  case frame(WalkedFrame)
  case end(WalkEnd)
}

/// Reads frames forward from one point of the log to a limit, while each is valid and names the one
/// before. Checks payloads only when asked.
///
/// Reads through a window: 4 KiB at first and after a jump over a large payload, doubling while
/// frames follow one another, so that a walk over headers alone reads little. Memory: the window,
/// at most 256 KiB or one frame.
struct FrameWalk {
  let generation: LogGeneration
  /// Where the next frame begins, and its predecessor.
  private(set) var point: ChainPoint
  /// Where to stop: the end of the file as it was, or of the wanted part.
  let limit: UInt64
  /// The features announced in the frames passed so far.
  private(set) var announced = Features.none

  private var window: ContiguousArray<UInt8> = []
  private var windowStart: UInt64 = 0
  private var nextRead = FrameWalk.smallestRead

  private static let smallestRead = 4096
  private static let largestRead = 256 << 10
  private static let largestExpected: UInt64 = 128 << 10

  /// Creates a walk from `point`. `expected` is the likely number of bytes to read: the size of the
  /// first read.
  init(
    _ generation: LogGeneration, from point: ChainPoint, limit: UInt64,
    expecting expected: UInt64 = 0
  ) {
    self.generation = generation
    self.point = point
    self.limit = limit
    nextRead = Int(min(max(expected, UInt64(FrameWalk.smallestRead)), FrameWalk.largestExpected))
  }

  /// The next frame, or why there is none. Throws `unsupported` at a valid frame that this engine
  /// must not skip, `newerReader` at one that announces features which this engine must know,
  /// `decode` at one with a flag of a later version.
  mutating func next() throws(LogError) -> WalkStep {
    let step = try peek()
    if case .frame(let frame) = step {
      point = ChainPoint(
        offset: frame.end, previousChecksum: frame.header.checksum, previousOffset: frame.offset)
    }
    return step
  }

  /// The frame at the walk's point, without advancing.
  private mutating func peek() throws(LogError) -> WalkStep {
    let offset = point.offset
    guard offset < limit else { return .end(.limit) }
    let left = limit - offset
    let headerLength = FormatLimits.frameHeaderLength
    try load(offset, count: Int(min(left, UInt64(headerLength))))
    var fault: DecodeFault?
    var isZero = false
    let seed = generation.seed
    let header = withWindow(offset) { bytes -> FrameHeader? in
      let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(headerLength))
      do throws(DecodeFault) {
        return try FrameHeader.decode(head, at: offset, seed: seed)
      } catch {
        fault = error
        isZero = head.isZero
        return nil
      }
    }
    if let header { return try check(header, at: offset, left: left) }
    if isZero { return .end(.zeros) }
    switch fault {
    case .invalid(let at, let reason):
      let fault = DecodeFault.invalid(at: at, reason: reason)
      return .end(.refusedFrame(reason: "a frame header that is refused: \(fault)"))
    case .tooLarge(let at, let limit):
      let fault = DecodeFault.tooLarge(at: at, limit: limit)
      return .end(.refusedFrame(reason: "a frame header that is refused: \(fault)"))
    case .newer(let at, let reason):
      throw .decode(DecodeFault.newer(at: at, reason: reason), at: offset)
    case .checksum, .truncated, .unknownFeatures, nil:
      let what = fault.map { "\($0)" } ?? ""
      return .end(.badFrame(reason: "no frame begins here (\(what))"))
    }
  }

  private mutating func check(
    _ header: FrameHeader, at offset: UInt64, left: UInt64
  ) throws(LogError) -> WalkStep {
    if let previous = point.previousChecksum, header.previousChecksum != previous {
      return .end(.unchained)
    }
    guard header.frameLength <= left else {
      return .end(.badFrame(reason: "a frame that reaches beyond the end of the file"))
    }
    guard header.kind.isKnown || header.flags.contains(.skippable) else {
      throw .unsupported(kind: header.kind.rawValue, at: offset)
    }
    let frame = WalkedFrame(offset: offset, header: header)
    if header.kind == .featureAnnouncement { return try adopt(announcement: frame) }
    return .frame(frame)
  }

  /// Adopts the features that a frame announces. A damaged announcement ends the walk, since nobody
  /// knows whether what follows can be read.
  private mutating func adopt(announcement frame: WalkedFrame) throws(LogError) -> WalkStep {
    guard try payloadIsValid(frame) else {
      return .end(.badFrame(reason: "the payload of an announcement was changed"))
    }
    do throws(DecodeFault) {
      let features = try withPayload(of: frame) { payload throws(DecodeFault) in
        try Features(announcement: payload, flags: frame.header.flags)
      }
      announced.formUnion(features)
      return .frame(frame)
    } catch {
      if case .unknownFeatures(_, let bits) = error { throw .newerReader(bits, at: frame.offset) }
      return .end(.refusedFrame(reason: "an announcement that is refused: \(error)"))
    }
  }

  /// Whether the frame's payload matches its header's checksum.
  mutating func payloadIsValid(_ frame: WalkedFrame) throws(LogError) -> Bool {
    let length = Int(frame.header.payloadLength)
    try load(frame.payloadOffset, count: length)
    let seed = generation.seed
    return withWindow(frame.payloadOffset) { bytes in
      bytes.count >= length
        && seed.checksum(UnsafeRawBufferPointer(rebasing: bytes.prefix(length)), at: frame.offset)
          == frame.header.payloadChecksum
    }
  }

  /// Calls `body` with the payload of the frame that `payloadIsValid` has just checked. The bytes
  /// are valid only within the call.
  @inline(__always)
  func withPayload<R, E: Error>(
    of frame: WalkedFrame, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let start = Int(frame.payloadOffset - windowStart)
    let length = Int(frame.header.payloadLength)
    return try window.withBytes { bytes throws(E) in
      try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
    }
  }

  /// Calls `body` with the first bytes of the frame's payload, at most `count`, unchecked.
  mutating func withPayloadPrefix<R>(
    of frame: WalkedFrame, _ count: Int, _ body: (UnsafeRawBufferPointer) -> R
  ) throws(LogError) -> R {
    let length = min(count, Int(frame.header.payloadLength))
    try load(frame.payloadOffset, count: length)
    return withWindow(frame.payloadOffset) {
      body(UnsafeRawBufferPointer(rebasing: $0.prefix(length)))
    }
  }

  /// Whether the padding after the frame's payload, which no checksum covers, has nonzero bytes.
  mutating func hasBytesBehindPayload(_ frame: WalkedFrame) throws(LogError) -> Bool {
    try load(frame.payloadEnd, count: Int(frame.end - frame.payloadEnd))
    return withWindow(frame.payloadEnd) { bytes in
      !UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(frame.end - frame.payloadEnd))).isZero
    }
  }

  @inline(__always)
  private func withWindow<R>(_ offset: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let start = Int(offset - windowStart)
    return window.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[min(start, bytes.count)...]))
    }
  }

  /// Loads `count` bytes at `offset` into the window, or as many as the file has.
  private mutating func load(_ offset: UInt64, count: Int) throws(LogError) {
    let windowEnd = windowStart + UInt64(window.count)
    if offset >= windowStart, offset + UInt64(count) <= windowEnd { return }
    let follows = offset >= windowStart && offset <= windowEnd && !window.isEmpty
    if follows {
      nextRead = min(nextRead * 2, FrameWalk.largestRead)
    } else if !window.isEmpty {
      nextRead = FrameWalk.smallestRead
    }
    let left = limit > offset ? limit - offset : 0
    let wanted = min(UInt64(max(count, nextRead)), max(left, UInt64(count)))
    window = try generation.read(Int(wanted), at: offset)
    windowStart = offset
  }
}
