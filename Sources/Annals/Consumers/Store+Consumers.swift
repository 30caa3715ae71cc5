import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension Store {
  /// The consumers by name: those of all processes as of the newest transaction known here, with
  /// advances that this store has not written yet. Call `refresh()` to see what others have
  /// written.
  public var consumers: [ConsumerStatus] {
    let list = writer.log.consumers.list
    if list.isEmpty { return [] }
    let version = version
    let now = environment.clock()
    return list.map { ConsumerStatus($0, version, now: now) }
  }

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
    try Store.requireFit(name, kind: kind)
    try refresh()
    let log = writer.log
    if let known = log.consumer(name) {
      let now = environment.clock()
      let wanted = known.changed(kind: kind, isBlocking: blocking, lease: lease)
      // A caller that makes it blocking again must not find out later that a prune did not wait.
      let start = version.view.leaseStart(of: known, now: now)
      if wanted == known, known.isLeaseRunning(at: now, since: start) || !known.isBlocking {
        if !options.isReadOnly { try writer.note(ConsumerAdvance(known, lastSeen: now)) }
        return Consumer(store: self, name: name)
      }
    }
    if options.isReadOnly {
      guard log.consumer(name) != nil, kind == nil, blocking == nil, lease == nil else {
        throw .readOnlyStore(log.path)
      }
      return Consumer(store: self, name: name)
    }
    let token = try start.map { position throws(AnnalsError) in try self.token(at: position) }
    try AnnalsError.narrowing {
      try writer.changeConsumers { writer in
        var state = try writer.log.consumer(name) ?? self.newConsumer(name, after: token)
        state = state.changed(kind: kind, isBlocking: blocking, lease: lease)
        // A moment beyond this one is of a clock that was ahead.
        state.lastSeen = self.environment.clock()
        return [.set(state)]
      }
    }
    return Consumer(store: self, name: name)
  }

  private func newConsumer(
    _ name: String, after token: Token?
  ) throws(AnnalsError) -> ConsumerState {
    guard writer.log.consumers.count < FormatLimits.maximumConsumers else {
      throw AnnalsError(
        .tooLarge,
        "the store has \(FormatLimits.maximumConsumers) consumers, the most that it can have; "
          + "remove some")
    }
    let now = environment.clock()
    return ConsumerState(
      name: name, kind: "", isBlocking: false, lease: nil, registered: now, lastSeen: now,
      number: token?.number ?? writer.log.view.base, openingID: token?.opening ?? 0)
  }

  /// Removes a consumer. Returns whether it existed. Synced before this returns. Throws as `write`
  /// does.
  @discardableResult
  public func removeConsumer(_ name: String) throws(AnnalsError) -> Bool {
    var isThere = false
    try AnnalsError.narrowing {
      try writer.changeConsumers { writer in
        isThere = writer.log.consumer(name) != nil
        return isThere ? [.remove(name: name)] : []
      }
    }
    return isThere
  }

  /// The transactions that a consumer has not read, and then each new one as it is acknowledged:
  /// `changes(after:where:)` from the consumer's position. Does not advance the consumer.
  public func changes(
    for consumer: Consumer, where condition: HistoryCondition = .always
  ) throws(AnnalsError) -> TransactionStream {
    try changes(after: consumer.token, where: condition)
  }

  private static func requireFit(_ name: String, kind: String?) throws(AnnalsError) {
    let limit = FormatLimits.maximumConsumerText
    guard !name.isEmpty, name.utf8.count <= limit, kind?.utf8.count ?? 0 <= limit else {
      throw AnnalsError(
        .invalidArgument,
        "a consumer has a name of 1 to \(limit) bytes of UTF-8, and a kind of at most \(limit); "
          + "`\(name.prefix(40))` has \(name.utf8.count), its kind \(kind?.utf8.count ?? 0)")
    }
  }
}

extension ConsumerState {
  /// The state with the settings that are given.
  fileprivate func changed(
    kind: String?, isBlocking: Bool?, lease: ConsumerLease?
  ) -> ConsumerState {
    var result = self
    if let kind { result.kind = kind }
    if let isBlocking { result.isBlocking = isBlocking }
    if let lease { result.lease = lease.length }
    return result
  }
}
