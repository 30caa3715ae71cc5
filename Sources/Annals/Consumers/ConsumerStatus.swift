import AnnalsEngine
import AnnalsLog
import AnnalsModel
import Foundation

/// The state of a consumer at one moment.
public struct ConsumerStatus: Hashable, Sendable, Identifiable {
  /// The consumer's name, unique in the store.
  public let name: String
  /// The kind of reader, in its own words; empty if it did not say.
  public let kind: String
  /// Whether prunes wait for it while its lease runs.
  public let isBlocking: Bool
  /// How long the store waits for it.
  public let lease: ConsumerLease
  /// When it was registered.
  public let registered: Date
  /// When it last advanced or was opened, by the clock of then.
  public let lastSeen: Date
  /// When its lease expires; nil if never. A lease counts from when the consumer was last seen. If
  /// a clock was ahead or behind then, it counts from the latest date that is certain: that of its
  /// registration or of the history that it has read.
  public let expiry: Date?
  /// Whether its lease was running when this status was read.
  public let isLeaseRunning: Bool
  /// The position up to which it has read the history.
  public let token: Token
  /// How many transactions follow that position, pruned ones included.
  public let transactionsBehind: Int64

  /// The same as `name`.
  public var id: String { name }

  init(_ state: ConsumerState, _ version: StoreVersion, now: Timestamp) {
    name = state.name
    kind = state.kind
    isBlocking = state.isBlocking
    lease = ConsumerLease(length: state.lease)
    registered = Date(state.registered)
    lastSeen = Date(state.lastSeen)
    let start = version.view.leaseStart(of: state, now: now)
    expiry = state.expiry(since: start).map { Date($0) }
    isLeaseRunning = state.isLeaseRunning(at: now, since: start)
    token = Token(store: version.store, number: state.number, opening: state.openingID)
    transactionsBehind = max(0, version.head.number - state.number)
  }

  /// Whether a prune that makes this transaction the oldest must wait for the consumer.
  package func blocks(floor: Int64) -> Bool {
    isBlocking && isLeaseRunning && token.number < floor - 1
  }

  /// One line with its name, position, and when it was last seen.
  package var text: String {
    "`\(name)` has seen transaction \(token.number) of "
      + "\(token.number + transactionsBehind), and was last seen \(Timestamp(lastSeen))"
      + (expiry.map { "; its lease runs to \(Timestamp($0))" } ?? "")
  }
}

/// How far a consumer is behind.
public struct ConsumerLag: Hashable, Sendable {
  /// How many transactions it has not read, pruned ones included.
  public let transactions: Int64
  /// How many changes those transactions hold, as far as the store still has them.
  public let changes: Int
  /// The age in seconds of the oldest unread transaction; 0 if there is none.
  public let time: TimeInterval
  /// Whether transactions that it has not read were pruned. Then it must start over with
  /// `resync()`.
  public let isPruned: Bool

  package init(transactions: Int64, changes: Int, time: TimeInterval, isPruned: Bool) {
    self.transactions = transactions
    self.changes = changes
    self.time = time
    self.isPruned = isPruned
  }
}
