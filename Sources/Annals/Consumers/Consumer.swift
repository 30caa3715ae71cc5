import AnnalsEngine
import AnnalsModel

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
    get throws(AnnalsError) { try store.writer.status(ofConsumer: name) }
  }

  /// The position up to which the consumer has read. Throws `.notFound` if it was removed.
  public var token: Token {
    get throws(AnnalsError) { try status.token }
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
    try store.writer.advance(consumer: name, to: token, mayGoBack: mayGoBack)
  }

  /// How far the consumer is behind. Reads the history that it has not read, without values.
  ///
  /// Throws `.notFound` if it was removed, `.damaged` if the history cannot be read.
  public func lag() throws(AnnalsError) -> ConsumerLag {
    try store.writer.lag(ofConsumer: name)
  }
}
