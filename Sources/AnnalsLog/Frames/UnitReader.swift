import AnnalsFormat
import AnnalsFrames
import AnnalsModel

/// Groups the frames of a walk into units: the frames of one transaction, or of one checkpoint.
///
/// Used by recovery, history and rewrites. Decodes nothing: callers decode the frames that it hands
/// out, whose payloads it has checked.
struct UnitReader {
  var walk: FrameWalk
  /// Where the unit of the next frame begins; nil between units.
  private(set) var unitStart: UInt64?
  /// The large values found since the last unit ended.
  private(set) var largeValues: [LargeValueEntry] = []

  /// A frame of interest. Pieces of large values and chunks are skipped.
  enum Step {
    /// A transaction in row form, or a block; its payload is checked.
    case record(WalkedFrame, unitStart: UInt64, largeValues: [LargeValueEntry])
    /// A checkpoint's directory, unchecked, and the large values before it in its unit.
    case checkpoint(WalkedFrame, largeValues: [LargeValueEntry])
    /// A frame without transactions or state: a consumer change, unchecked; one of a later
    /// version's kind; or an announcement of features, which the walk has adopted. It ends a unit;
    /// `largeValues` are the large values before it in that unit.
    case skipped(WalkedFrame, largeValues: [LargeValueEntry])
    /// The walk cannot go on.
    case end(WalkEnd)
  }

  init(_ walk: FrameWalk) { self.walk = walk }

  /// The next frame of interest. Throws `damage` at a record whose payload fails its check.
  mutating func next() throws(LogError) -> Step {
    while true {
      let frame: WalkedFrame
      switch try walk.step() {
      case .end(let end): return .end(end)
      case .frame(let next): frame = next
      }
      let start = unitStart ?? frame.offset
      unitStart = start
      switch frame.header.kind {
      case .largeValue: try note(largeValue: frame)
      case .chunk: break
      case .checkpoint:
        let found = largeValues
        close()
        return .checkpoint(frame, largeValues: found)
      case .transaction, .block:
        try walk.requirePayload(of: frame)
        let found = largeValues
        if frame.header.closesUnit { close() } else { largeValues = [] }
        return .record(frame, unitStart: start, largeValues: found)
      default:
        guard frame.header.closesUnit else { break }
        let found = largeValues
        close()
        return .skipped(frame, largeValues: found)
      }
    }
  }

  private mutating func close() {
    unitStart = nil
    if !largeValues.isEmpty { largeValues = [] }
  }

  /// Notes the large value whose first piece this frame holds, if it does. The payload is checked
  /// when the value is read.
  private mutating func note(largeValue frame: WalkedFrame) throws(LogError) {
    let piece = try wrapping {
      try walk.withPayloadPrefix(of: frame, LargeValueCodec.maximumHeadLength) { bytes in
        var reader = ByteReader(bytes)
        return try? LargeValueCodec.decodeHead(&reader)
      }
    }
    guard let piece, piece.isFirst else { return }
    largeValues.append(
      LargeValueEntry(number: piece.number, offset: frame.offset, length: piece.totalLength))
  }

  /// Checks that all parts after `frame`, the first of several, exist, whole and in order. Throws
  /// `damage` at the frame that is not.
  func requireParts(after frame: WalkedFrame) throws(LogError) {
    var ahead = walk
    guard try ahead.isWhole(frame), let first = ahead.summary(of: frame), first.isPart else {
      throw .damage(at: frame.offset, "a transaction without its last part")
    }
    var last = frame
    var part = first.part
    while last.header.flags.contains(.continued) {
      guard let next = try ahead.nextBehindLargeValues(), next.header.kind == .block else {
        throw .damage(at: frame.offset, "a transaction without its last part")
      }
      try ahead.requirePayload(of: next)
      guard let summary = ahead.summary(of: next), summary.isPart,
        summary.firstNumber == first.firstNumber, summary.part == part &+ 1
      else { throw .damage(at: next.offset, "a part out of order") }
      part = summary.part
      last = next
    }
  }
}

extension FrameWalk {
  /// The next frame that is not a piece of a large value; nil if the walk cannot go on.
  fileprivate mutating func nextBehindLargeValues() throws(LogError) -> WalkedFrame? {
    while case .frame(let frame) = try step() {
      if frame.header.kind != .largeValue { return frame }
    }
    return nil
  }

  /// Appends the transactions of a frame, whose payload was checked, to the batch; see
  /// `FrameHeader.decodeTransactions`.
  func decode(
    _ frame: WalkedFrame, withChanges: Bool = true, into batch: inout ChangeBatch
  ) throws(LogError) {
    try decoding(at: frame.offset) { () throws(DecodeFault) in
      try withPayload(of: frame) { payload throws(DecodeFault) in
        try frame.header.decodeTransactions(payload, withChanges: withChanges, into: &batch)
      }
    }
  }

  /// The transaction number at the beginning of a record or directory; nil if it cannot be decoded.
  /// The frame's payload must have been checked.
  @inline(never)
  func number(of frame: WalkedFrame) -> Int64? {
    withPayload(of: frame) { payload in
      var reader = ByteReader(payload)
      return try? reader.readVarInt64()
    }
  }

  /// As `number(of:)`, of a frame whose payload was not checked: it may be anything.
  mutating func uncheckedNumber(of frame: WalkedFrame) throws(LogError) -> Int64? {
    try wrapping {
      try withPayloadPrefix(of: frame, 10) { bytes in
        var reader = ByteReader(bytes)
        return try? reader.readVarInt64()
      }
    }
  }

  /// The block's summary; nil if it cannot be decoded. The frame's payload must have been checked.
  func summary(of frame: WalkedFrame) -> BlockSummary? {
    try? requireSummary(of: frame)
  }

  /// The block's summary. The frame's payload must have been checked. Throws `decode` for one of a
  /// later version, `damage` for another one that cannot be decoded.
  func requireSummary(of frame: WalkedFrame) throws(LogError) -> BlockSummary {
    do throws(DecodeFault) {
      return try withPayload(of: frame) { payload throws(DecodeFault) in
        try BlockCodec.decodeSummary(payload)
      }
    } catch {
      if error.isNewer { throw .decode(error, at: frame.offset) }
      throw .damage(at: frame.offset, "a block that cannot be decoded")
    }
  }
}
