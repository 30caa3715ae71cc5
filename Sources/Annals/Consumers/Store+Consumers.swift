import AnnalsEngine
import AnnalsModel
import Foundation

extension Store {
  /// The consumers by name: those of all processes as of the newest transaction known here, with
  /// advances that this store has not written yet. Call `refresh()` to see what others have
  /// written.
  public var consumers: [ConsumerStatus] { writer.consumers }

  /// The consumer of this name. Registers it if it does not exist; renews its lease if it does.
  ///
  /// Registering a consumer and changing its settings are synced before this returns. Opening an
  /// existing one is written as an advance is. In a store opened for reading only the consumer must
  /// exist, and is not changed.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes of UTF-8.
  ///   - kind: what kind of reader it is, at most 255 bytes. Nil keeps the registered kind; a new
  ///     consumer gets an empty one.
  ///   - blocking: whether prunes wait for it while its lease runs. Nil keeps the registered
  ///     setting; a new consumer gets false.
  ///   - lease: how long the store waits for it. Nil keeps the registered lease; a new consumer
  ///     gets one for ever.
  ///   - start: the position up to which a new consumer counts as having read. Nil is the base: all
  ///     history that the store keeps is new to it. Objects from before a prune are in no history:
  ///     a reader that needs every object begins with `Consumer.resync()`.
  /// - Returns: the consumer, to read and to advance with.
  /// - Throws: `.invalidArgument` for an impossible name or kind; `.tooLarge` if there would be
  ///   more than 1,000 consumers; `.readOnly`; for `start` as `history(after:before:where:)` does;
  ///   and as `write` does.
  public func consumer(
    _ name: String, kind: String? = nil, blocking: Bool? = nil, lease: ConsumerLease? = nil,
    startingAfter start: (any HistoryPosition)? = nil
  ) throws(AnnalsError) -> Consumer {
    let settings = ConsumerSettings(kind: kind, isBlocking: blocking, lease: lease)
    try writer.register(consumer: name, settings) { () throws(AnnalsError) in
      guard let start else { return nil }
      return try token(at: start)
    }
    return Consumer(store: self, name: name)
  }

  /// Removes a consumer. Returns whether it existed. Synced before this returns. Throws as `write`
  /// does.
  @discardableResult
  public func removeConsumer(_ name: String) throws(AnnalsError) -> Bool {
    try writer.remove(consumer: name)
  }

  /// The transactions that a consumer has not read, and then each new one as it is acknowledged:
  /// `changes(after:where:)` from the consumer's position. Does not advance the consumer.
  public func changes(
    for consumer: Consumer, where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> TransactionStream {
    try changes(after: consumer.token, where: condition)
  }
}

extension ConsumerStatus {
  /// When it was registered.
  public var registered: Date { Date(registration) }
  /// When it last advanced or was opened, by the clock of then.
  public var lastSeen: Date { Date(lastAdvance) }
  /// When its lease expires; nil if never. A lease counts from when the consumer was last seen. If
  /// a clock was ahead or behind then, it counts from the latest date that is certain: that of its
  /// registration or of the history that it has read.
  public var expiry: Date? { expires.map { Date($0) } }
}
