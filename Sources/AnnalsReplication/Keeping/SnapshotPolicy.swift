import Annals

/// When a replica puts snapshots into the log by itself, and how far it trims the log behind them.
///
/// Set it with one replica or several that are always there, a server's for example; one makes each
/// snapshot as a rule, and if two do, both are good. The newest two are kept, and those that a
/// replica is getting. Nothing is made while a replica does not follow.
///
///     var options = ReplicaOptions()
///     options.snapshots = SnapshotPolicy(
///       transactions: 10_000, trimming: LogKeep(transactions: 5_000, age: .seconds(86_400)))
public struct SnapshotPolicy: Hashable, Sendable {
  /// A snapshot is put after so many transactions since the newest one; nil for no such limit.
  public var transactions: Int?
  /// A snapshot is put after so many bytes of transactions since the newest one, as far as this
  /// process has seen them; nil for no such limit.
  public var bytes: Int?
  /// The longest pause before a snapshot that is due is begun, so that one of several replicas is
  /// first; each takes a part of it by chance.
  public var spread: Duration = .seconds(10)
  /// What the log keeps when it is trimmed behind the newest snapshot; nil if it is not trimmed.
  public var trimming: LogKeep?

  /// Creates a policy from its parts: a snapshot each 10,000 transactions, and no trimming, if not
  /// said otherwise.
  public init(transactions: Int? = 10_000, bytes: Int? = nil, trimming: LogKeep? = nil) {
    self.transactions = transactions
    self.bytes = bytes
    self.trimming = trimming
  }
}

/// What a log keeps when it is trimmed, so that a replica that was away for a short time need not
/// take a snapshot.
public struct LogKeep: Hashable, Sendable {
  /// So many transactions before the newest snapshot.
  public var transactions: Int
  /// Transactions that are younger than this, too; nil for no such limit.
  public var age: Duration?

  /// Keeps 5,000 transactions if not said otherwise.
  public init(transactions: Int = 5_000, age: Duration? = nil) {
    self.transactions = transactions
    self.age = age
  }
}

/// What a replica has done for the log by itself.
public struct UpkeepStatus: Sendable {
  /// What it has registered in the log; nil if nothing yet, or if it does not register.
  public var registration: ReplicaRegistration?
  /// The position of the newest snapshot that it has put by its policy since it was opened.
  public var snapshot: Token?
  /// What its newest attempt to trim the log came to; nil for none since it was opened.
  public var trim: LogTrim?
  /// What it could not do when it last tried, and why; nil if nothing. It tries again, after longer
  /// and longer pauses up to an hour.
  public var failure: String?
  /// How often in a row it has failed.
  public var failureCount = 0
}
