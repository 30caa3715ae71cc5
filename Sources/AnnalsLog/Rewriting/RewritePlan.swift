import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// How to rewrite a store's file.
package struct RewritePlan {
  /// The state that the new file begins with.
  package enum Base {
    /// The old file's base.
    case keep
    /// The state as of transaction `number`; history up to it is dropped. `timestamp` is the
    /// greatest timestamp up to it. `image` stores the chunks of that state.
    case at(
      number: Int64, timestamp: Timestamp, prunedAt: Timestamp?, prunedBy: String,
      image: (ChunkStore) throws -> BaseImage)
  }

  /// Where the new file goes.
  package enum Destination {
    /// It replaces the old one, as its next generation.
    case replace
    /// It becomes another store; no file may exist at `path`.
    case new(path: String, store: RawUUID, created: Timestamp)
  }

  package var base: Base
  /// The last transaction to copy; nil for all, including those appended meanwhile.
  package var through: Int64?
  /// Whether to carry over the newest checkpoint.
  package var checkpoint: Bool
  /// How the history is packed.
  package var packing = HistoryPacking.fast
  package var destination: Destination
  /// The clock for consumers' leases: tombstones are kept for blocking consumers that have not read
  /// them. Nil to keep none.
  package var clock: (() -> Timestamp)?
  /// Whether to decode chunks of state before copying them. A checkpoint with a chunk that
  /// contradicts its directory is left out; in the base it is damage.
  package var decodesState = false
  /// Where a checkpoint lies whose chunks the caller has decoded, so that this need not be done
  /// again; nil for none.
  package var decodedCheckpoint: UInt64?
  /// The values to erase from the copied history; the image of a new base must not contain them.
  /// Saved states of projections, which may contain them, are left out, and the new file need not
  /// be smaller.
  package var erasure: HistoryErasure?
  /// Checks the complete new file against the old one before it is put in place; an error ends the
  /// rewrite.
  package var check: (_ new: any StorageFile, _ old: any StorageFile) throws -> Void = { _, _ in }

  package init(
    base: Base, through: Int64? = nil, checkpoint: Bool, destination: Destination
  ) {
    self.base = base
    self.through = through
    self.checkpoint = checkpoint
    self.destination = destination
  }

  /// Whether the new file is of another store than this one, whose transactions a shared log may
  /// have.
  func leavesLog(of store: RawUUID) -> Bool {
    if case .new(_, let new, _) = destination { new != store } else { false }
  }
}

/// The state of a new base, its chunks stored.
package struct BaseImage {
  package var schema: Schema
  package var entities: [EntityDirectory]
  /// The numbers of the large values in the state.
  package var largeValues: [UInt64]

  package init(schema: Schema, entities: [EntityDirectory], largeValues: [UInt64]) {
    self.schema = schema
    self.entities = entities
    self.largeValues = largeValues
  }
}

/// The result of a rewrite.
package struct RewriteReport: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// The new file is in place.
    case done
    /// The new file would not have been smaller, and was removed.
    case nothingGained
    /// The new file was removed, since its beginning became outdated: others have announced
    /// features that its header lacks, a new blocking consumer needs tombstones that it lacks, or
    /// the old file was replaced. Begin again, with a new plan.
    case overtaken
  }

  package var outcome: Outcome
  /// The length of the log before, without space allocated ahead; and that of the new file.
  package var bytesBefore: UInt64
  package var bytesAfter: UInt64
  /// The number of transactions and changes in the new file.
  package var transactions: Int64
  package var changes: Int64
}
