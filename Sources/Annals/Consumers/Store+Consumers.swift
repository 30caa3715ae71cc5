import AnnalsEngine
import AnnalsFormat
import AnnalsLog
import AnnalsModel

extension Store {
  /// The consumers, by name: those of all processes as of the newest transaction known here, and
  /// what this store has not written yet. `refresh()` brings in what others have written.
  public var consumers: [ConsumerStatus] {
    let list = writer.log.consumers.list
    if list.isEmpty { return [] }
    let version = version
    let now = environment.clock()
    return list.map { ConsumerStatus($0, version, now: now) }
  }

  /// The consumer of a name; registers it if there is none, and renews its lease if there is.
  ///
  /// Registering it, and changing what is kept of it, is synced before this returns; that it was
  /// opened is written as advancing is. In a store opened for reading only it must be there, and is
  /// left as it is.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes of UTF-8.
  ///   - kind: what kind of reader it is, at most 255 bytes; nil leaves it as it is, empty for a
  ///     new one.
  ///   - blocking: whether a prune waits for it while its lease runs; nil leaves it as it is, false
  ///     for a new one.
  ///   - lease: how long the store waits for it; nil leaves it as it is, for ever for a new one.
  ///   - start: up to where a new one has seen the history; nil for the base: all that is kept is
  ///     new to it.
  /// - Returns: the consumer, to read and to advance with.
  /// - Throws: `.invalidArgument` for a name or kind that cannot be; `.tooLarge` if there would be
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
      // Whoever relies on it that a prune waits for it again must not find out that none did.
      if wanted == known, known.isLeaseRunning(at: now) || !known.isBlocking {
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
        state.lastSeen = max(state.lastSeen, self.environment.clock())
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

  /// Removes a consumer; returns whether there was one. Synced before it returns. Throws as
  /// `write` does.
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

  /// The transactions that a consumer has not seen, and then each new one as it is acknowledged:
  /// as `changes(after:where:)` from where the consumer is. It does not advance by itself.
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
  /// With what is wanted, where anything is.
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
