import AnnalsEngine
import AnnalsLog
import AnnalsModel
import Foundation

/// A named reader of a store's history, whose position the store keeps.
///
/// Read what is new, then advance:
///
///     let sync = try store.consumer("sync", blocking: true)
///     let unread = try sync.unread(notBy: "sync")
///     try unread.forEach { upload($0) }
///     try sync.advance(to: unread.end)
///
/// After a crash between the two, or a power cut soon after the second, it reads some transactions
/// again; it never skips one. Several processes may use one consumer: the furthest position counts.
/// Safe on any thread.
public struct Consumer: Sendable {
  /// The store.
  public let store: Store
  /// The consumer's name.
  public let name: String

  /// The consumer's state in the store, with advances that are not written yet. O(log of the number
  /// of consumers).
  ///
  /// Throws `.notFound` if the consumer was removed.
  public var status: ConsumerStatus {
    get throws(AnnalsError) {
      ConsumerStatus(try state, store.version, now: store.environment.clock())
    }
  }

  /// The position up to which the consumer has read. Throws `.notFound` if it was removed.
  public var token: Token {
    get throws(AnnalsError) {
      let state = try state
      return Token(store: store.writer.log.store, number: state.number, opening: state.openingID)
    }
  }

  private var state: ConsumerState {
    get throws(AnnalsError) {
      guard let state = store.writer.log.consumer(name) else { throw .noConsumer(name) }
      return state
    }
  }

  /// The transactions that the consumer has not read, oldest first, up to the newest acknowledged
  /// here.
  ///
  /// Throws `.pruned` with the gap if some of them were pruned, `.lost` if damage destroyed some,
  /// and `.lostBranch` or `.beyondHead` if its last position was lost in a power failure; then go
  /// on with `resync()`. Throws `.notFound` if the consumer was removed.
  public func history(
    where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> History {
    let token = try token
    do throws(AnnalsError) {
      return try store.history(after: token, where: condition)
    } catch {
      guard error.isMissingHistory else { throw error }
      var remedied = error
      remedied.message += ". The consumer `\(name)` continues with resync()"
      throw remedied
    }
  }

  /// What the consumer needs if it cannot read on: the whole present state, and the tombstones that
  /// are still kept of deletes it has not read. Throws as `Store.resync(after:)` does, and
  /// `.notFound` if the consumer was removed.
  public func resync() throws(AnnalsError) -> Resync { try store.resync(after: token) }

  /// As `history(where:)`, without the transactions of one author: usually the consumer's own.
  public func unread(
    notBy author: String, where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> History {
    try history(where: .author != author && condition)
  }

  /// Records that the consumer has read the history up to a position, and renews its lease.
  ///
  /// Written along with this store's next commit. Written alone if none of its consumers was
  /// written for a second, and when the store is closed. After a crash, what was not written is
  /// read again. Costs less than a microsecond, except when it is written alone.
  ///
  /// - Parameters:
  ///   - token: the position: of a transaction that was read, or a history's `end`.
  ///   - mayGoBack: whether the consumer goes back if the position lies before the current one.
  ///     Without this, the furthest position counts and only the lease is renewed, since another
  ///     process may have advanced the consumer meanwhile.
  /// - Throws: `.otherStore`, `.beyondHead`; `.notFound` if the consumer was removed; `.readOnly`,
  ///   `.closed`, `.poisoned`.
  public func advance(to token: Token, mayGoBack: Bool = false) throws(AnnalsError) {
    let log = store.writer.log
    guard token.store == log.store else {
      throw .otherStore(token: token, store: log.store)
    }
    let head = store.token.number
    guard token.number <= head else { throw .beyondHead(token.number, head: head) }
    let state = try state
    let isBehind = !mayGoBack && token.number < state.number
    try store.writer.note(
      ConsumerAdvance(
        state, lastSeen: store.environment.clock(),
        number: isBehind ? state.number : token.number,
        openingID: isBehind ? state.openingID : token.opening, mayGoBack: mayGoBack))
  }

  /// How far the consumer is behind. Reads the history that it has not read, without values.
  ///
  /// Throws `.notFound` if it was removed, `.damaged` if the history cannot be read.
  public func lag() throws(AnnalsError) -> ConsumerLag {
    let number = try state.number
    let version = store.version
    let base = version.view.base
    var changes = 0
    var oldest: Date?
    let rest = History(
      version: version, after: min(max(number, base), version.head.number),
      through: version.head.number, condition: .always)
    try AnnalsError.narrowing {
      try rest.forEachHeader { header in
        changes += header.changeCount
        oldest = min(oldest ?? header.timestamp, header.timestamp)
      }
    }
    let now = Date(store.environment.clock())
    return ConsumerLag(
      transactions: max(0, version.head.number - number), changes: changes,
      time: oldest.map { max(0, now.timeIntervalSince($0)) } ?? 0, isPruned: number < base)
  }
}

extension AnnalsError {
  static func noConsumer(_ name: String) -> AnnalsError {
    AnnalsError(.notFound, "the store has no consumer `\(name)`; register it again")
  }
}
