import AnnalsLog
import AnnalsModel

/// The state of a consumer at one moment.
public struct ConsumerStatus: Hashable, Sendable, Identifiable {
  private let state: ConsumerState
  /// When its lease expires; nil if never.
  package let expires: Timestamp?
  /// Whether its lease was running when this status was read.
  public let isLeaseRunning: Bool
  /// The position up to which it has read the history.
  public let token: Token
  /// How many transactions follow that position, pruned ones included.
  public let transactionsBehind: Int64

  package init(_ state: ConsumerState, _ version: StoreVersion, now: Timestamp) {
    self.state = state
    let start = version.view.leaseStart(of: state, now: now)
    expires = state.expiry(since: start)
    isLeaseRunning = state.isLeaseRunning(at: now, since: start)
    token = Token(store: version.store, number: state.number, opening: state.openingID)
    transactionsBehind = max(0, version.head.number - state.number)
  }

  /// The consumer's name, unique in the store.
  public var name: String { state.name }
  /// The same as `name`.
  public var id: String { state.name }
  /// The kind of reader, in its own words; empty if it did not say.
  public var kind: String { state.kind }
  /// Whether prunes wait for it while its lease runs.
  public var isBlocking: Bool { state.isBlocking }
  /// How long the store waits for it.
  public var lease: ConsumerLease { ConsumerLease(length: state.lease) }
  /// When it was registered.
  package var registration: Timestamp { state.registered }
  /// When it last advanced or was opened, by the clock of then.
  package var lastAdvance: Timestamp { state.lastSeen }

  /// Whether a prune that makes this transaction the oldest must wait for the consumer.
  package func blocks(floor: Int64) -> Bool {
    isBlocking && isLeaseRunning && token.number < floor - 1
  }

  /// One line with its name, position, and when it was last seen.
  package var text: String {
    "`\(name)` has seen transaction \(token.number) of "
      + "\(token.number + transactionsBehind), and was last seen \(lastAdvance)"
      + (expires.map { "; its lease runs to \($0)" } ?? "")
  }
}

/// How far a consumer is behind.
public struct ConsumerLag: Hashable, Sendable {
  /// How many transactions it has not read, pruned ones included.
  public let transactions: Int64
  /// How many changes those transactions hold, as far as the store still has them.
  public let changes: Int
  /// The age in seconds of the oldest unread transaction; 0 if there is none.
  public let time: Double
  /// Whether transactions that it has not read were pruned. Then it must start over with
  /// `resync()`.
  public let isPruned: Bool

  package init(transactions: Int64, changes: Int, time: Double, isPruned: Bool) {
    self.transactions = transactions
    self.changes = changes
    self.time = time
    self.isPruned = isPruned
  }
}
