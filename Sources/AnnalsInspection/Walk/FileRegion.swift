import AnnalsFormat

/// One stretch of a file as `FileWalk` finds it. The regions of a file follow one another without
/// gap or overlap and cover all of it.
package struct FileRegion: Sendable {
  /// What the stretch is.
  package enum Content: Sendable {
    /// The first block, with what could be made of it.
    case header(HeaderVerdict)
    /// The place of root slot 0 or 1.
    case slot(Int, SlotVerdict)
    /// A frame whose header has a valid checksum.
    case frame(WalkedFrame)
    /// Zeros: space allocated ahead, or a hole that a crash left.
    case unwritten
    /// Bytes that are no frame: why not.
    case damaged(DamageReason)
  }

  /// Where the stretch begins in the file.
  package var offset: UInt64
  /// How many bytes it has; never 0.
  package var length: UInt64
  package var content: Content

  package init(offset: UInt64, length: UInt64, content: Content) {
    self.offset = offset
    self.length = length
    self.content = content
  }

  /// Where the next region begins.
  package var end: UInt64 { offset + length }

  /// The frame, if the stretch is one.
  package var frame: WalkedFrame? {
    if case .frame(let frame) = content { frame } else { nil }
  }
}

/// What could be made of a file's first block.
package enum HeaderVerdict: Sendable {
  case valid(FileHeader)
  case damaged(HeaderFault)
}

/// What could be made of the place of a root slot.
package enum SlotVerdict: Sendable {
  case valid(RootSlot)
  /// All zeros, as no writer leaves it.
  case unwritten
  /// A whole slot that is of another store or generation, by the header that it repeats.
  case foreign(FileHeader)
  /// Not a slot; most likely a write that did not finish.
  case damaged(DecodeFault)
  /// The file ends before the place does.
  case cut
  /// Nothing to check it with: the header is damaged and its seed could not be found again.
  case unchecked
}

/// Why bytes where a frame should be are none.
package enum DamageReason: Hashable, Sendable {
  /// The checksum of a frame's header does not match here.
  case noFrame
  /// The checksum matches, but a field breaks its rule: most likely of a later version.
  case invalidFrame(String)
  /// The disk cannot read them.
  case unreadable
  /// Fewer bytes than a frame's header has.
  case tooShort
  /// There is no seed to check frames with.
  case noSeed
}

/// A frame as the walk finds it.
package struct WalkedFrame: Sendable {
  package var header: FrameHeader
  package var payload: PayloadVerdict
  package var chain: ChainVerdict
  /// Where the log was known to be synced up to when the frame was written; nil if it says nothing.
  package var durableMark: UInt64?
  /// Whether a byte behind the payload, which fills the frame up, is not zero.
  package var hasForeignPadding: Bool

  /// Whether all bytes of the frame are what was written.
  package var isIntact: Bool { payload == .valid && !hasForeignPadding }
}

/// What the checksum of a frame's payload says.
package enum PayloadVerdict: Hashable, Sendable {
  case valid
  case mismatch
  /// The file ends before the frame does: how many bytes are missing.
  case cut(missing: UInt64)
  /// The walk was told not to look.
  case unchecked
}

/// Whether a frame names the one before it.
package enum ChainVerdict: Hashable, Sendable {
  case follows
  /// The frame before has another header checksum than the frame says.
  case broken(expected: UInt32)
  /// Unknown: what lies before is no frame, or the header is damaged.
  case unknown
}
