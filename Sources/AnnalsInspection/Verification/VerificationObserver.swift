import AnnalsFormat
import AnnalsModel

/// Learns from a verification what the bytes of a file are used for, region by region.
package protocol VerificationObserver: AnyObject {
  /// Counts a region without transactions and checkpoints.
  func count(_ region: FileRegion, as use: ByteUse)
  /// Counts a frame that announces features.
  func count(_ announced: Features, in region: FileRegion)
  /// Counts a frame whose transactions are in the batch.
  func count(_ batch: ChangeBatch, in region: FileRegion)
  /// Counts a chunk or a directory.
  func countCheckpointFrame(_ region: FileRegion)
  /// Called after the last region. `offsets` are those of the directories in use.
  func end(
    base: CheckpointDirectory?, newest: CheckpointDirectory?, offsets: Set<UInt64>,
    vocabulary: Vocabulary)
}

/// A use of bytes in a file.
package enum ByteUse: String, Hashable, Sendable, CaseIterable {
  /// The header, the root slots, and announcements of features.
  case header
  /// Transactions as they were committed: small ones by row, large ones by column.
  case live
  /// Transactions in blocks that a compaction sealed.
  case sealed
  /// Large values.
  case largeValues = "large values"
  /// Changes of consumers, and of the retention policy.
  case consumers
  /// Tombstones: deletes of pruned history.
  case tombstones
  /// Chunks and directories of the base and of the newest checkpoint.
  case checkpoints
  /// Chunks and directories that neither the base nor the newest checkpoint refers to.
  case dead
  /// Space allocated ahead.
  case preallocated
  /// What a crash left behind the end of the log.
  case torn
  /// What cannot be read, and frames of kinds that this version does not know.
  case unreadable
}
