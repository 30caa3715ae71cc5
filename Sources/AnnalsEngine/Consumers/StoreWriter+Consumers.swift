import AnnalsFormat
import AnnalsLog
import AnnalsModel

// The named readers of a store's history. What each call means is said at `Store` and `Consumer`.

extension StoreWriter {
  /// The consumers by name, with advances that this opening has not written yet.
  package var consumers: [ConsumerStatus] {
    let list = log.consumers.list
    if list.isEmpty { return [] }
    let version = head.published
    let now = now()
    return list.map { ConsumerStatus($0, version, now: now) }
  }

  /// The blocking consumers with running leases that have not read all transactions before this
  /// one.
  package func blockers(ofFloor floor: Int64) -> [ConsumerStatus] {
    consumers.filter { $0.blocks(floor: floor) }
  }

  /// The consumer's state. Throws `.notFound` if it was removed.
  package func status(ofConsumer name: String) throws(AnnalsError) -> ConsumerStatus {
    ConsumerStatus(try consumer(name), head.published, now: now())
  }

  private func consumer(_ name: String) throws(AnnalsError) -> ConsumerState {
    guard let state = log.consumer(name) else {
      throw AnnalsError(.notFound, "the store has no consumer `\(name)`; register it again")
    }
    return state
  }

  /// Registers a consumer if it does not exist; otherwise renews its lease, and gives it the
  /// settings that are not nil. A new one has read up to the token of `start`, nil for the base.
  package func register(
    consumer name: String, _ settings: ConsumerSettings,
    startingAfter start: () throws(AnnalsError) -> Token?
  ) throws(AnnalsError) {
    try settings.requireFit(name)
    try AnnalsError.translating { try refresh() }
    if let known = log.consumer(name) {
      let moment = now()
      // A caller that makes it blocking again must not find out later that a prune did not wait.
      let isRunning = known.isLeaseRunning(
        at: moment, since: head.published.view.leaseStart(of: known, now: moment))
      if settings.applied(to: known) == known, isRunning || !known.isBlocking {
        if !options.isReadOnly { try note(ConsumerAdvance(known, lastSeen: moment)) }
        return
      }
    }
    if options.isReadOnly {
      guard log.consumer(name) != nil, settings.areEmpty else { throw .readOnlyStore(log.path) }
      return
    }
    let token = try start()
    try AnnalsError.translating {
      try changeConsumers { writer in
        let known = try writer.log.consumer(name) ?? writer.newConsumer(name, after: token)
        var state = settings.applied(to: known)
        // A moment beyond this one is of a clock that was ahead.
        state.lastSeen = writer.now()
        return [.set(state)]
      }
    }
  }

  private func newConsumer(
    _ name: String, after token: Token?
  ) throws(AnnalsError) -> ConsumerState {
    guard log.consumers.count < FormatLimits.maximumConsumers else {
      throw AnnalsError(
        .tooLarge,
        "the store has \(FormatLimits.maximumConsumers) consumers, the most that it can have; "
          + "remove some")
    }
    let now = now()
    return ConsumerState(
      name: name, kind: "", isBlocking: false, lease: nil, registered: now, lastSeen: now,
      number: token?.number ?? log.view.base, openingID: token?.opening ?? 0)
  }

  /// Removes a consumer. Returns whether it existed.
  package func remove(consumer name: String) throws(AnnalsError) -> Bool {
    var isThere = false
    try AnnalsError.translating {
      try changeConsumers { writer in
        isThere = writer.log.consumer(name) != nil
        return isThere ? [.remove(name: name)] : []
      }
    }
    return isThere
  }

  /// Records that a consumer has read the history up to a position, and renews its lease.
  package func advance(
    consumer name: String, to token: Token, mayGoBack: Bool
  ) throws(AnnalsError) {
    guard token.store == log.store else { throw .otherStore(token: token, store: log.store) }
    let newest = head.published.head.number
    guard token.number <= newest else { throw .beyondHead(token.number, head: newest) }
    let state = try consumer(name)
    let isBehind = !mayGoBack && token.number < state.number
    try note(
      ConsumerAdvance(
        state, lastSeen: now(), number: isBehind ? state.number : token.number,
        openingID: isBehind ? state.openingID : token.opening, mayGoBack: mayGoBack))
  }

  /// How far a consumer is behind. Reads the history that it has not read, without values.
  package func lag(ofConsumer name: String) throws(AnnalsError) -> ConsumerLag {
    let number = try consumer(name).number
    let version = head.published
    let base = version.view.base
    var changes = 0
    var oldest: Timestamp?
    let rest = History(
      version: version, after: min(max(number, base), version.head.number),
      through: version.head.number, condition: .always)
    try AnnalsError.translating {
      try rest.forEachHeader { header in
        changes += header.changeCount
        oldest = min(oldest ?? header.moment, header.moment)
      }
    }
    let now = now()
    let age = oldest.map { Double(now.microseconds) - Double($0.microseconds) } ?? 0
    return ConsumerLag(
      transactions: max(0, version.head.number - number), changes: changes,
      time: max(0, age / 1_000_000), isPruned: number < base)
  }
}
