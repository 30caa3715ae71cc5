import AnnalsModel

/// The constants that readers and writers share. FORMAT.md, "Limits" and "File map", lists the same
/// numbers.
@usableFromInline @frozen
package enum FormatLimits {
  /// The version of the format that this engine reads and writes.
  package static let version: UInt32 = 1
  /// The drafts before version 1, as version 0: no longer read.
  package static let drafts: ClosedRange<UInt32> = 1...3

  /// Bytes of the header, and of each root slot.
  package static let blockLength = 4096
  /// Where the two root slots are.
  package static let slotOffsets: [UInt64] = [4096, 8192]
  /// Where the first frame begins.
  package static let logStart: UInt64 = 12_288
  /// Frames begin at multiples of this.
  @inlinable package static var frameAlignment: Int { 8 }
  /// Bytes of a frame's header.
  @inlinable package static var frameHeaderLength: Int { 24 }
  /// The greatest length of a frame's payload.
  package static let maximumPayload = 16 << 20
  /// The greatest count of bytes that one payload may decode to: inflated columns together, and the
  /// arena.
  @inlinable package static var maximumDecodedLength: Int { 64 << 20 }
  /// The greatest count of changes in one frame.
  package static let maximumChanges = 1 << 18
  /// The greatest count of property changes in one frame.
  package static let maximumPropertyChanges = 1 << 20
  /// The greatest number of a property or an index: it bounds the bit vector of a change.
  package static let maximumPropertyNumber: PropertyNumber = 65_535
  /// The greatest row that an object may have.
  package static let maximumRow: Int64 = 1 << 40
  /// The greatest number that a file may give to anything, and the greatest offset or length: it
  /// leaves room to add without overflow.
  @inlinable package static var maximumNumber: UInt64 { 1 << 62 - 1 }
  /// From this number on of a transaction, a large value, a root slot or a generation writers add
  /// nothing: so that whatever they count up to from below can still be read.
  package static let writerNumberLimit: UInt64 = 1 << 61
  /// The greatest count of references in one to-many value.
  package static let maximumReferences = 1 << 20

  /// The greatest count of consumers.
  package static let maximumConsumers = 1000
  /// The greatest count of bytes of a consumer's name, and of what kind it is.
  package static let maximumConsumerText = 255

  /// The greatest length by row of one change (`ChangeBatch.rowLength`): with a part's worth of
  /// changes and one of details, a payload stays below its limit.
  package static let maximumChangeLength = 14 << 20
  /// The greatest length of the details of one transaction.
  package static let maximumDetailsLength = 4 << 20

  /// A transaction whose row form is longer than this is written as blocks.
  package static let rowFormLimit = 4096
  /// How many bytes of row form a writer puts into one block or part.
  package static let partTarget = 256 << 10
  /// A value longer than this is a large value: written once, in frames of its own.
  package static let largeValueThreshold = 4096
  /// The greatest count of bytes in one piece of a large value.
  package static let largeValuePieceLength = 1 << 20
}
