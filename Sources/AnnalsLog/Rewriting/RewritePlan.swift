import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// How to write a store's file anew.
package struct RewritePlan {
  /// Which state the new file begins with.
  package enum Base {
    /// The one that the file has.
    case keep
    /// The state as of transaction `number`; history up to it is dropped. `timestamp` is the
    /// greatest of the timestamps up to it. `image` stores the chunks of that state.
    case at(
      number: Int64, timestamp: Timestamp, prunedAt: Timestamp?, prunedBy: String,
      image: (CheckpointWriter) throws -> BaseImage)
  }

  /// What becomes of the new file.
  package enum Destination {
    /// It takes the old one's place, as its next generation.
    case replace
    /// It is another store of its own; there must be no file at `path`.
    case new(path: String, store: RawUUID, created: Timestamp)
  }

  package var base: Base
  /// The last transaction to copy; nil for all, those included that are appended meanwhile.
  package var through: Int64?
  /// Whether the newest checkpoint is carried over.
  package var checkpoint: Bool
  package var destination: Destination
  /// The clock, for the leases of consumers: deletes are remembered that those have not seen which
  /// are waited for. Nil if nobody is.
  package var clock: (() -> Timestamp)?
  /// Whether chunks of state are decoded before they are copied: a checkpoint with one that is not
  /// what it is said to be is left out, a base with one is damage.
  package var decodesState = false
  /// Values that are taken out of the history that is copied; the image of a base that is made is
  /// without them. Saved states of projections, which may hold them, are left out, and no smaller
  /// file is asked for.
  package var erasure: HistoryErasure?
  /// Looks at the complete new file, and the old one, before the new one is put in its place; what
  /// it throws ends the rewrite.
  package var check: (_ new: any StorageFile, _ old: any StorageFile) throws -> Void = { _, _ in }

  package init(
    base: Base, through: Int64? = nil, checkpoint: Bool, destination: Destination
  ) {
    self.base = base
    self.through = through
    self.checkpoint = checkpoint
    self.destination = destination
  }
}

/// The state that a rewritten file begins with, its chunks stored.
package struct BaseImage {
  package var schema: Schema
  package var entities: [EntityDirectory]
  /// The numbers of the large values in the state.
  package var blobs: [UInt64]

  package init(schema: Schema, entities: [EntityDirectory], blobs: [UInt64]) {
    self.schema = schema
    self.entities = entities
    self.blobs = blobs
  }
}

/// What a rewrite did.
package struct RewriteReport: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The new file is in its place.
    case done
    /// The new file would not have been smaller, and was removed.
    case nothingGained
    /// Others have announced features meanwhile, which the new file's header does not have, or
    /// somebody is waited for who has seen less than its tombstones are for; it was removed. Begin
    /// anew.
    case overtaken
  }

  package var outcome: Outcome
  /// The length of the log before, without space allocated ahead; and that of the new file.
  package var bytesBefore: UInt64
  package var bytesAfter: UInt64
  /// How many transactions and changes the new file has.
  package var transactions: Int64
  package var changes: Int64
}
