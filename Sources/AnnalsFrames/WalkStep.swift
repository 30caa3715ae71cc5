import AnnalsFormat

/// A frame whose header has a right checksum and allowed fields.
@usableFromInline @frozen
package struct WalkedFrame: Hashable, Sendable {
  @usableFromInline package var offset: UInt64
  @usableFromInline package var header: FrameHeader

  @inlinable package var payloadOffset: UInt64 { offset + UInt64(FormatLimits.frameHeaderLength) }
  @inlinable package var payloadEnd: UInt64 { payloadOffset + UInt64(header.payloadLength) }
  @inlinable package var end: UInt64 { offset + header.frameLength }
}

/// The result of one step: the next frame, or why the walk must not pass what is there.
///
/// Not a `Result`: the Swift runtime looks up the conformance of its failure once in every process,
/// which takes as long as the rest of opening a file.
package enum WalkStep: Sendable {
  case frame(WalkedFrame)
  case end(WalkEnd)
}

/// Why whoever relies on what a log says must not go on. Whoever wants to know what else is there
/// may: behind the frame if there is one, otherwise where `FrameSearch` finds the next.
package enum WalkEnd: Equatable, Sendable {
  /// The limit was reached exactly.
  case limit
  /// A header's worth of zeros: space that was never written.
  case zeros
  /// Bytes that are no frame.
  case noFrame(DecodeFault)
  /// A header with a right checksum, so somebody wrote it, whose fields break a rule.
  case refusedHeader(DecodeFault)
  /// A header with a right checksum that only a later version can read.
  case newerHeader(DecodeFault)
  /// A frame that does not name the one before it.
  case unchained(WalkedFrame)
  /// A frame that reaches beyond the limit.
  case cut(WalkedFrame)
  /// A frame of a kind that is not known and must not be skipped.
  case unknownKind(WalkedFrame)
  /// An announcement of features whose payload was changed: nobody knows what follows it.
  case damagedAnnouncement(WalkedFrame)
  /// An announcement whose contents break a rule.
  case refusedAnnouncement(WalkedFrame, DecodeFault)
  /// An announcement of features, given as bits, that a reader must know and this one does not.
  case newerAnnouncement(WalkedFrame, UInt64)

  /// The frame that is there; nil if there is none.
  package var frame: WalkedFrame? {
    switch self {
    case .limit, .zeros, .noFrame, .refusedHeader, .newerHeader: nil
    case .unchained(let frame), .cut(let frame), .unknownKind(let frame),
      .damagedAnnouncement(let frame), .refusedAnnouncement(let frame, _),
      .newerAnnouncement(let frame, _):
      frame
    }
  }

  /// Whether a frame is there that follows the one before it and is whole in length: the chain goes
  /// on behind it.
  package var isInChain: Bool {
    switch self {
    case .limit, .zeros, .noFrame, .refusedHeader, .newerHeader, .unchained, .cut: false
    case .unknownKind, .damagedAnnouncement, .refusedAnnouncement, .newerAnnouncement: true
    }
  }

  /// Whether only a later version can say how the log goes on.
  package var isNewer: Bool {
    switch self {
    case .newerHeader, .unknownKind, .newerAnnouncement: true
    default: false
    }
  }

  /// What is wrong where a frame should be, in words.
  package var reason: String {
    switch self {
    case .limit: "the log ends here"
    case .zeros: "zeros where a frame should be"
    case .noFrame(let fault): "no frame begins here (\(fault))"
    case .refusedHeader(let fault), .newerHeader(let fault):
      "a frame header that is refused: \(fault)"
    case .unchained: "a frame that does not follow the one before it"
    case .cut: "a frame that reaches beyond the end of the file"
    case .unknownKind: "a frame of an unknown kind"
    case .damagedAnnouncement: "the payload of an announcement was changed"
    case .refusedAnnouncement(_, let fault): "an announcement that is refused: \(fault)"
    case .newerAnnouncement: "an announcement of unknown features"
    }
  }
}
