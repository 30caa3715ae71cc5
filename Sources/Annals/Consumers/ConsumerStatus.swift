import AnnalsEngine
import AnnalsLog
import AnnalsModel
import Foundation

/// What a store knows of a consumer at one moment.
public struct ConsumerStatus: Hashable, Sendable, Identifiable {
  /// The consumer's name, unique in the store.
  public let name: String
  /// What kind of reader it is, in its own words; empty if it did not say.
  public let kind: String
  /// Whether a prune waits for it while its lease runs.
  public let isBlocking: Bool
  /// How long the store waits for it.
  public let lease: ConsumerLease
  /// When it was registered.
  public let registered: Date
  /// When it last advanced or was opened.
  public let lastSeen: Date
  /// When its lease runs out; nil if never.
  public let expiry: Date?
  /// Whether its lease had not run out when this was asked for.
  public let isLeaseRunning: Bool
  /// The position up to which it has seen the history.
  public let token: Token
  /// How many transactions come behind that; what a prune has dropped counts.
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
    expiry = state.expiry.map { Date($0) }
    isLeaseRunning = state.isLeaseRunning(at: now)
    token = Token(store: version.store, number: state.number, opening: state.openingID)
    transactionsBehind = max(0, version.head.number - state.number)
  }

  /// Whether a prune that makes this transaction the oldest one has to wait for it.
  package func blocks(floor: Int64) -> Bool {
    isBlocking && isLeaseRunning && token.number < floor - 1
  }

  /// Name, place, and when it was last seen, in a line.
  package var text: String {
    "`\(name)` has seen transaction \(token.number) of "
      + "\(token.number + transactionsBehind), and was last seen \(Timestamp(lastSeen))"
      + (expiry.map { "; its lease runs to \(Timestamp($0))" } ?? "")
  }
}

/// How far a consumer is behind.
public struct ConsumerLag: Hashable, Sendable {
  /// How many transactions it has not seen; what a prune has dropped counts.
  public let transactions: Int64
  /// How many changes those have that the store still holds.
  public let changes: Int
  /// For how many seconds the oldest of these has been there; 0 if there is none.
  public let time: TimeInterval
  /// Whether transactions that it has not seen were pruned: then it has to start over.
  public let isPruned: Bool

  package init(transactions: Int64, changes: Int, time: TimeInterval, isPruned: Bool) {
    self.transactions = transactions
    self.changes = changes
    self.time = time
    self.isPruned = isPruned
  }
}
