import Annals

/// Where a replica stands.
public struct ReplicaStatus: Sendable {
  /// The position of its store.
  public var token: Token
  /// The sequence of the newest record of the log that is in its file.
  public var sequence: UInt64
  /// The sequence of the newest record of the log that the replica has heard of.
  public var newestKnown: UInt64
  /// Why it cannot go on by itself; nil if it can.
  public var failure: ReplicationError?
  /// Why the log could not be reached when it was last tried; nil if it could.
  public var outage: String?
  /// Why its file could not take what others wrote, or was not at its place (`.notFound`), when it
  /// was last tried; nil if all was well. It tries again.
  public var fileTrouble: AnnalsError?
  /// What it has offered again to a log that had lost it, since it was opened; nil for nothing.
  public var restored: RestoredTail?
  /// Files beside the replica's with transactions that the log does not have, the oldest first:
  /// kept with `BranchPolicy.keepBeside`, and there when the replica was opened.
  public var leftBranches: [LeftBranch] = []
  /// What waits in its outbox for the log, as far as this process has seen.
  public var outbox = OutboxStatus()
  /// What it does for the log: its registration, snapshots by its policy, trimming.
  public var upkeep = UpkeepStatus()

  /// How many records it knows of that are not in its file.
  public var lag: UInt64 { newestKnown > sequence ? newestKnown - sequence : 0 }
}
