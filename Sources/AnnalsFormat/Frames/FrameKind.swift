/// The content of a frame.
///
/// Stored in files: never renumber. FORMAT.md, "Frames", lists the same numbers. 0 is never valid:
/// zeroed space is unwritten space.
@usableFromInline @frozen
package struct FrameKind: RawRepresentable, Hashable, Sendable {
  @usableFromInline package var rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One small transaction, by row.
  @inlinable package static var transaction: FrameKind { FrameKind(rawValue: 1) }
  /// Transactions, or a part of one, by column.
  @inlinable package static var block: FrameKind { FrameKind(rawValue: 2) }
  /// A piece of a large value.
  @inlinable package static var largeValue: FrameKind { FrameKind(rawValue: 3) }
  /// A piece of a checkpoint.
  @inlinable package static var chunk: FrameKind { FrameKind(rawValue: 4) }
  /// The directory of a checkpoint.
  @inlinable package static var checkpoint: FrameKind { FrameKind(rawValue: 5) }
  /// A change of a consumer.
  @inlinable package static var consumerChange: FrameKind { FrameKind(rawValue: 7) }
  /// The retention policy from here on.
  @inlinable package static var retention: FrameKind { FrameKind(rawValue: 8) }
  /// Tombstones: deletes in pruned history.
  @inlinable package static var tombstones: FrameKind { FrameKind(rawValue: 11) }
  /// Announces features used from here on.
  @inlinable package static var featureAnnouncement: FrameKind { FrameKind(rawValue: 14) }
  // Reserved: no version writes them yet.
  @inlinable package static var opening: FrameKind { FrameKind(rawValue: 6) }
  @inlinable package static var erasure: FrameKind { FrameKind(rawValue: 10) }
  @inlinable package static var restorePoint: FrameKind { FrameKind(rawValue: 12) }

  /// What the frames of a kind are to whoever walks over them.
  @usableFromInline @frozen
  package enum Role: Sendable {
    /// Transactions: one by row, or a block.
    case transactions
    /// A piece of a large value.
    case largeValue
    /// A piece of a checkpoint.
    case chunk
    /// The directory of a checkpoint.
    case checkpoint
    /// A change of what stands beside objects and history; see `SideRecord`.
    case sideRecord
    /// Deletes in pruned history.
    case tombstones
    /// An announcement of features.
    case announcement
    /// Nothing that this engine can read.
    case unknown
  }

  /// What frames of this kind are: recovery, rewrites, salvage and verification go by it.
  @inlinable package var role: Role {
    switch rawValue {
    case 1, 2: .transactions
    case 3: .largeValue
    case 4: .chunk
    case 5: .checkpoint
    case 7, 8: .sideRecord
    case 11: .tombstones
    case 14: .announcement
    default: .unknown
    }
  }

  /// What FORMAT.md calls the kind.
  package var name: String {
    switch self {
    case .transaction: "transaction"
    case .block: "block"
    case .largeValue: "large value"
    case .chunk: "chunk"
    case .checkpoint: "checkpoint"
    case .opening: "opening"
    case .consumerChange: "consumer change"
    case .retention: "retention"
    case .erasure: "erasure"
    case .tombstones: "tombstones"
    case .restorePoint: "restore point"
    case .featureAnnouncement: "feature announcement"
    default: "unknown kind"
    }
  }

  /// The feature that a file with frames of this kind announces; none for kinds without one.
  package var feature: Features {
    switch self {
    case .consumerChange: .consumers
    case .retention: .retention
    case .tombstones: .tombstones
    default: .none
    }
  }

  /// The kinds of side records.
  package static let sideRecords = (1...UInt8.max).map(FrameKind.init(rawValue:)).filter {
    $0.role == .sideRecord
  }

  /// Whether the payload is transactions: one by row, or a block.
  @inlinable package var holdsTransactions: Bool {
    if case .transactions = role { true } else { false }
  }

  /// Whether this engine can read the payload.
  @inlinable package var isKnown: Bool {
    if case .unknown = role { false } else { true }
  }

  /// Whether it is a known kind that readers may do without: neither transactions nor state.
  @inlinable package var isSkippable: Bool {
    switch role {
    case .sideRecord, .tombstones, .announcement: true
    case .transactions, .largeValue, .chunk, .checkpoint, .unknown: false
    }
  }

  /// Whether a frame of this kind needs those behind it: it is part of a unit that another ends.
  @inlinable package var opensUnit: Bool {
    switch role {
    case .largeValue, .chunk: true
    case .transactions, .checkpoint, .sideRecord, .tombstones, .announcement, .unknown: false
    }
  }

  /// The flags that frames of a known kind may have: only blocks and large values have parts, only
  /// what is neither transactions nor state may be skipped, and no known kind is compressed or
  /// encrypted as a whole.
  var allowedFlags: FrameFlags {
    isSkippable ? .skippable : FrameFlags(isContinued: rawValue == 2 || rawValue == 3)
  }
}

/// The flags of a frame. Stored in files: never renumber.
@usableFromInline @frozen
package struct FrameFlags: OptionSet, Hashable, Sendable {
  @usableFromInline package var rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A reader that does not know the kind may skip the frame.
  @inlinable package static var skippable: FrameFlags { FrameFlags(rawValue: 1) }
  /// Another frame of the same transaction or large value follows.
  @inlinable package static var continued: FrameFlags { FrameFlags(rawValue: 2) }
  /// The whole payload is one deflate stream (not used by any kind yet).
  @inlinable package static var compressed: FrameFlags { FrameFlags(rawValue: 4) }
  /// The payload is encrypted (reserved).
  @inlinable package static var encrypted: FrameFlags { FrameFlags(rawValue: 8) }

  /// Whether the payload is something else first: compressed or encrypted as a whole.
  @inlinable package var isTransformed: Bool { rawValue & 12 != 0 }

  /// The flags of a frame of a transaction or large value: whether another follows.
  @inlinable
  package init(isContinued: Bool) { rawValue = isContinued ? 2 : 0 }

  /// Every flag that has a meaning.
  @inlinable package static var known: FrameFlags { FrameFlags(rawValue: 15) }
}
