import AnnalsFormat

/// One stretch of a file, as a `FileWalk` returns it. The regions of a file follow one another
/// without gap or overlap and cover all of it.
package struct FileRegion: Sendable {
  /// What the stretch is.
  package enum Content: Sendable {
    /// The first block, and whether it is a valid header.
    case header(HeaderVerdict)
    /// The block of root slot 0 or 1.
    case slot(Int, SlotVerdict)
    /// A frame whose header has a valid checksum.
    case frame(InspectedFrame)
    /// Zeros: space allocated ahead, or a hole that a crash left.
    case unwritten
    /// Bytes that are not a frame, and why not.
    case damaged(DamageReason)
  }

  /// Where the stretch begins in the file.
  package var offset: UInt64
  /// How many bytes it has; never 0.
  package var length: UInt64
  package var content: Content

  /// Where the next region begins.
  package var end: UInt64 { offset + length }

  /// The frame, if the stretch is one.
  package var frame: InspectedFrame? {
    if case .frame(let frame) = content { frame } else { nil }
  }
}

/// Whether a file's first block is a valid header.
package enum HeaderVerdict: Sendable {
  case valid(FileHeader)
  case damaged(HeaderFault)

  /// Whether the header says that another version, or a draft, wrote the file.
  var isOfAnotherVersion: Bool {
    switch self {
    case .damaged(.newerVersion), .damaged(.olderDraft): true
    default: false
    }
  }
}

/// Whether the block of a root slot holds a valid slot.
package enum SlotVerdict: Sendable {
  case valid(RootSlot)
  /// All zeros. No writer leaves a slot like that.
  case unwritten
  /// A valid slot of another store or generation, as the copy of the header in it shows.
  case foreign(FileHeader)
  /// Not a valid slot; most likely a write that was interrupted.
  case damaged(DecodeFault)
  /// The file ends within the block.
  case cut
  /// Not checked: the header is damaged, and the seed of the checksums could not be recovered.
  case unchecked
}

/// Why bytes where a frame should begin are not one.
package enum DamageReason: Hashable, Sendable {
  /// The bytes here do not match a frame header's checksum.
  case noFrame
  /// The header's checksum matches, but a field breaks a rule.
  case invalidFrame(String)
  /// The header's checksum matches, but only a later version can read the frame.
  case newerFrame(String)
  /// The disk cannot read the bytes.
  case unreadable
  /// Fewer bytes than a frame's header has.
  case tooShort
  /// The seed of the checksums is unknown, so no frame can be checked.
  case noSeed
}

/// A frame found by a walk, with what its checksums say.
package struct InspectedFrame: Sendable {
  package var header: FrameHeader
  package var payload: PayloadVerdict
  package var chain: ChainVerdict
  /// The offset up to which the log was known to be synced when the frame was written; nil if the
  /// frame does not say.
  package var durableMark: UInt64?
  /// Whether the padding behind the payload has a byte that is not zero.
  package var hasForeignPadding: Bool

  /// Whether the frame is valid to its last byte, padding included.
  package var isIntact: Bool { payload == .valid && !hasForeignPadding }
}

/// What the checksum of a frame's payload says.
package enum PayloadVerdict: Hashable, Sendable {
  case valid
  case mismatch
  /// The file ends within the frame.
  case cut(missing: UInt64)
  /// The walk does not check payloads.
  case unchecked
}

/// Whether a frame names the header checksum of the frame before it.
package enum ChainVerdict: Hashable, Sendable {
  case follows
  /// The frame before has another header checksum: `expected`.
  case broken(expected: UInt32)
  /// Not known: there is no frame before it, or the file's header is damaged.
  case unknown
}
