import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// From the outbox to the log.

extension Replica {
  /// Sends the drafts that wait, in order: each is made again on the newest state, merged by its
  /// policy, checked by the rules, and published. It leaves the outbox once this replica's file has
  /// it. Stops at the first one in conflict: those behind it may rest on it, so they wait until the
  /// program has decided, by `discard` or `retry`.
  ///
  /// A replica that follows does this by itself as soon as the log can be reached. Nothing is
  /// committed twice, whatever crashes: each transaction has its draft's id, and before a draft is
  /// offered its number is noted.
  ///
  /// - Returns: what was sent, and what is in the way.
  /// - Throws: `ReplicationError` as `write`: `.unavailable` if the log was not reached by the
  ///   deadline; and as opening the outbox does. What was sent before is committed; what was not
  ///   waits.
  @discardableResult
  public func sendOutbox() async throws -> OutboxReport {
    try await sendOutbox(Retries(options, environment))
  }

  func sendOutbox(_ patience: Retries) async throws -> OutboxReport {
    try requireOpen()
    var report = OutboxReport()
    while true {
      let isFirst = report.sent.isEmpty
      await giveWay()
      let step = try await turn.run { () async throws -> SendStep in
        guard let outbox = try await outbox(creates: false) else { return .empty }
        var retries = patience
        do {
          return try await sendFirst(of: outbox, isReached: !isFirst, &retries)
        } catch is Outbox.Changed {
          return .again
        }
      }
      switch step {
      case .empty: return report
      case .again: break
      case .sent(let sent): report.sent.append(sent)
      case .conflicted(let item):
        report.conflicted = item
        return report
      }
    }
  }
}

// MARK: One draft

extension Replica {
  /// What became of the first draft.
  enum SendStep: Sendable {
    /// There is none.
    case empty
    /// Another process has changed the outbox.
    case again
    case sent(OutboxReport.Sent)
    case conflicted(OutboxItem)
  }

  /// Sends the first draft, for the holder of the turn.
  private func sendFirst(
    of outbox: Outbox, isReached: Bool, _ retries: inout Retries
  ) async throws -> SendStep {
    var isCurrent = false
    while true {
      guard let item = try await blocking({ try outbox.current() }).items.first else {
        return .empty
      }
      guard item.conflict == nil else { return .conflicted(item) }
      if !isReached, !isCurrent {
        // Nothing is noted as offered while the log is away.
        try await catchUp(&retries)
        isCurrent = true
      }
      let rebased: RebasedDraft
      do {
        if let token = try await findSent(item, in: outbox, &retries) {
          return .sent(sent(item, token, item.offeredMoves ?? ObjectMoves(), []))
        }
        rebased = try await rebase(item, of: outbox)
      } catch let error as AnnalsError where error.isHandedOver {
        // On an older state, it may not be so on the newest.
        if !isCurrent {
          try await catchUp(&retries)
          isCurrent = true
          continue
        }
        try await blocking { try outbox.refuse(item, error) }
        return .conflicted(outbox.listing.items.first { $0.id == item.id } ?? item)
      }
      var moves = ObjectMoves()
      moves.places = rebased.moves
      guard let proposed = rebased.proposed else {
        if !isCurrent {
          try await catchUp(&retries)
          isCurrent = true
          continue
        }
        try await settle(item, in: outbox, nil, moves)
        return .sent(sent(item, nil, moves, rebased.conflicts))
      }
      let place = try currentPlace()
      var hasTurn = false
      if proposed.base.number == place.number {
        let start = ContinuousClock.now
        if let token = try await publish(item, of: outbox, proposed, moves, place, &retries) {
          try await settle(item, in: outbox, token.number, moves)
          return .sent(sent(item, token, moves, rebased.conflicts))
        }
        isCurrent = true
        hasTurn = lost(since: start)
      }
      guard await retries.goOn(hasTurn) else {
        throw ReplicationError(
          .contended,
          "other replicas were faster each time in \(options.deadline); the draft still waits")
      }
    }
  }

  /// Makes a draft again on the newest state.
  private func rebase(_ item: OutboxItem, of outbox: Outbox) async throws -> RebasedDraft {
    let draft = try await load(item, from: outbox)
    let moves = outbox.listing.moves
    return try await writer.commitOfTask { writer in
      try writer.newest.requireBasis(of: item)
      let state = try PendingState(on: writer.newest)
      let rebased = try writer.propose(
        try draft.kept(in: state.largeValues), try draft.origin(), merging: item.policy, on: state,
        after: moves, keepsRows: false)
      try rebased.requireComplete()
      return rebased
    }
  }

  /// Offers a draft's transaction to the log. Returns the position after it; nil if others were
  /// faster. A transaction that the log never takes is handed over.
  private func publish(
    _ item: OutboxItem, of outbox: Outbox, _ proposed: ProposedTransaction, _ moves: ObjectMoves,
    _ place: ReplicaPlace, _ retries: inout Retries
  ) async throws -> Token? {
    do {
      let transaction = try PortableTransaction(proposed, after: place.digest)
      if item.offered != transaction.number || item.offeredMoves?.text != moves.text {
        try await blocking { try outbox.offer(item, as: transaction.number, moves) }
      }
      return try await offer(transaction, after: place, &retries)
    } catch {
      let log = (error as? ReplicationError).flatMap {
        $0.code == .tooLarge ? AnnalsError(.tooLarge, $0.message) : nil
      }
      let own = (error as? AnnalsError).flatMap { $0.isHandedOver ? $0 : nil }
      guard let refusal = log ?? own else { throw error }
      try await blocking { try outbox.refuse(item, refusal) }
      throw Outbox.Changed()
    }
  }

  /// The position after a draft's transaction, if the log took it when it was offered before; takes
  /// it out of the outbox then. Nil if the log has not taken it.
  ///
  /// Throws `AnnalsError.pruned` if that cannot be known any more.
  func findSent(
    _ item: OutboxItem, in outbox: Outbox, _ retries: inout Retries
  ) async throws -> Token? {
    guard let number = item.offered else { return nil }
    if store.token.number < number { try await catchUp(&retries) }
    guard store.token.number >= number else { return nil }
    let version = store.version
    guard number > version.base.number else {
      throw AnnalsError(
        .pruned,
        "the draft \(item.number) was offered to the shared log as transaction \(number), and this "
          + "file has no history of that any more: whether it was taken is not known. Compare its "
          + "changes with the state, and discard it or write it anew")
    }
    let found = try await blocking { [store] in try store.transaction(number) }
    guard found.metadata[Outbox.metadataKey] == .string(item.id.uuidString) else { return nil }
    try await settle(item, in: outbox, number, item.offeredMoves ?? ObjectMoves())
    return try version.token(of: number)
  }

  /// Takes a draft out of the outbox; drops the outbox's history when it was the last one.
  private func settle(
    _ item: OutboxItem, in outbox: Outbox, _ number: Int64?, _ moves: ObjectMoves
  ) async throws {
    try await blocking {
      try outbox.settle(item, at: number, moves)
      // If that fails, the next time will do.
      try? outbox.tidy()
    }
    if outbox.listing.items.isEmpty { content.withLock { $0.chain = nil } }
  }

  private func sent(
    _ item: OutboxItem, _ token: Token?, _ moves: ObjectMoves, _ conflicts: [PropertyConflict]
  ) -> OutboxReport.Sent {
    let id = { (object: ObjectReference) in
      ObjectID(store: self.store.version.store, entity: object.entity, row: object.row)
    }
    var moved: [ObjectID: ObjectID] = [:]
    for (old, new) in moves.places { moved[id(old)] = id(new) }
    return OutboxReport.Sent(item: item, token: token, conflicts: conflicts, movedObjects: moved)
  }
}

// MARK: By itself

extension Replica {
  /// Opens the outbox, if there is one, and sends what waits; `status` says if it cannot be opened.
  func resumeOutbox() async {
    let found = try? await turn.run { try await self.outbox(creates: false) }
    if let found, !found.listing.items.isEmpty { startSending() }
  }

  /// Sends what waits as soon as the log can be reached, by a task of the replica, if the replica
  /// follows. Ends when nothing waits any more, or a draft is in conflict.
  func startSending() {
    guard options.follows else { return }
    content.withLock { content in
      if content.sender != nil || content.isClosed { return }
      content.sender = keepSending()
    }
  }

  private func keepSending() -> Task<Void, Never> {
    let start = Retries(options, environment, isEndless: true)
    return Task { [weak self] in
      var pauses = start
      while !Task.isCancelled {
        let isDone = await self?.sendOnce() != true
        if isDone { return }
        _ = await pauses.wait()
      }
    }
  }

  /// What a store throws that will take no transaction any more.
  private static let endings: [AnnalsError.Code] = [.closed, .poisoned, .forked]

  /// Tries once. Returns whether to try again.
  private func sendOnce() async -> Bool {
    do {
      let once = Retries(options, environment, isOnce: true)
      let report = try await sendOutbox(once)
      return content.withLock { content in
        content.outboxFailure = nil
        // What was added meanwhile found this task at work.
        let items = content.outbox?.listing.items ?? []
        if report.conflicted == nil, !items.isEmpty { return true }
        content.sender = nil
        return false
      }
    } catch {
      let isLasting = (error as? ReplicationError)?.isLasting ?? false
      let isEnd = (error as? AnnalsError).map { Replica.endings.contains($0.code) } ?? false
      guard isLasting || isEnd else { return true }
      return content.withLock { content in
        content.outboxFailure = error
        content.sender = nil
        return false
      }
    }
  }
}
