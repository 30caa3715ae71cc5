import Annals

/// How a replica is opened.
public struct ReplicaOptions: Sendable {
  /// How its store is opened. A replica is never open for reading only.
  public var store = StoreOptions()
  /// How long a call tries to reach the log, or to be the first with its transaction; 30 seconds if
  /// not set.
  public var deadline: Duration = .seconds(30)
  /// The first pause after a failure. Each further one is twice as long, up to `longestPause`; each
  /// is a random part of that, so that replicas that were refused together do not come back
  /// together.
  public var firstPause: Duration = .milliseconds(5)
  /// The longest pause.
  public var longestPause: Duration = .seconds(1)
  /// Whether the transactions of others are applied as they come, by a task of the replica; if not,
  /// when it writes, and by `catchUp()`.
  public var follows = true
  /// How often a replica that follows asks whether the log is there when nothing comes; 5 seconds
  /// if not set. So `status` is never older than that.
  public var pulse: Duration = .seconds(5)
  /// How many records are asked for at once.
  public var pageLength = 1_024
  /// Whether a store with a history of its own may become the origin of a log that is empty: a
  /// snapshot of it is put into the log. Without this, opening it throws `.notAReplica`.
  public var startsLog = false
  /// Whether a log that lost its tail gets from this replica what the file has of it, before
  /// anything new; if not, such a log is refused as `.lostTail`: for who has gone back to an older
  /// state of it on purpose. A log that lost all is filled again only with `startsLog`, too.
  public var restoresTail = true
  /// What becomes of a file that has other transactions than the log, found when it is opened; see
  /// `BranchPolicy`. Without this, opening throws `.branched`.
  public var onBranch: BranchPolicy = .refuse
  /// When the replica puts snapshots into the log by itself, and how far it trims the log; never if
  /// not set. See `SnapshotPolicy`.
  public var snapshots: SnapshotPolicy?
  /// How long the log is not trimmed beyond what this replica needs, while it is away; 7 days if
  /// not set. After that it takes a snapshot when it is back. Nil for one that nobody waits for.
  public var lease: Duration? = .seconds(7 * 86_400)
  /// How often the replica looks whether it is to register in the log anew, and what its policy of
  /// snapshots says; 60 seconds if not set.
  public var upkeep: Duration = .seconds(60)
  /// What the replica is called where the log's replicas are listed; the machine and the file's
  /// name if not set. At most 128 bytes are used.
  public var name: String?
  /// Called while a snapshot is got from the log, with the pieces that there are and all that there
  /// will be; on any thread.
  public var snapshotProgress: (@Sendable (_ done: Int, _ count: Int) -> Void)?

  /// How much may wait in the outbox while the log is away; a write that would make it more throws
  /// `.outboxFull`.
  public var outboxLimit = OutboxLimit()

  /// The default options.
  public init() {}
}
