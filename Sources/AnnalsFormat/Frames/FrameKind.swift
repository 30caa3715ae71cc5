/// What a frame holds.
///
/// Stored in files: never renumber. FORMAT.md, "Frame kinds", lists the same numbers. 0 is never
/// valid: zeroed space is unwritten space.
package struct FrameKind: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One small transaction, by row.
  package static let transaction = FrameKind(rawValue: 1)
  /// Transactions, or a part of one, by column.
  package static let block = FrameKind(rawValue: 2)
  /// The bytes of a large value.
  package static let blob = FrameKind(rawValue: 3)
  /// A piece of a checkpoint.
  package static let chunk = FrameKind(rawValue: 4)
  /// The directory of a checkpoint.
  package static let checkpoint = FrameKind(rawValue: 5)
  // Reserved: no version writes them yet.
  package static let opening = FrameKind(rawValue: 6)
  package static let consumerChange = FrameKind(rawValue: 7)
  package static let prune = FrameKind(rawValue: 8)
  package static let gap = FrameKind(rawValue: 9)
  package static let erasure = FrameKind(rawValue: 10)
  package static let tombstones = FrameKind(rawValue: 11)
  package static let restorePoint = FrameKind(rawValue: 12)
  package static let projectionState = FrameKind(rawValue: 13)
  package static let featureAnnouncement = FrameKind(rawValue: 14)
  package static let digest = FrameKind(rawValue: 15)

  /// Whether this engine can read the payload.
  package var isKnown: Bool { (1...5).contains(rawValue) }

  /// The flags that frames of a known kind may have: only blocks and blobs have parts, and no known
  /// kind is compressed or encrypted as a whole.
  var allowedFlags: FrameFlags { self == .block || self == .blob ? [.continued] : [] }
}

/// The flags of a frame. Stored in files: never renumber.
package struct FrameFlags: OptionSet, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A reader that does not know the kind may go on behind the frame.
  package static let skippable = FrameFlags(rawValue: 1)
  /// Another frame of the same transaction or blob follows.
  package static let continued = FrameFlags(rawValue: 2)
  /// The whole payload is one deflate stream (not used by kinds 1 to 5).
  package static let compressed = FrameFlags(rawValue: 4)
  /// The payload is encrypted (reserved).
  package static let encrypted = FrameFlags(rawValue: 8)

  /// Whether the payload is something else first: compressed or encrypted as a whole.
  package var isTransformed: Bool { rawValue & 12 != 0 }

  /// The flags of a frame of a transaction or blob: whether another follows.
  package init(isContinued: Bool) { rawValue = isContinued ? 2 : 0 }

  /// Every flag that has a meaning.
  package static let known: FrameFlags = [.skippable, .continued, .compressed, .encrypted]
}
