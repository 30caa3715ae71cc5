import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

extension Replica {
  /// Writes as the form without `offline`, also while the log cannot be reached: then the changes
  /// wait in the replica's outbox, a file beside its own, and are sent when the log is back.
  ///
  /// A waiting draft is synced when the call returns, and is *not* committed: nobody else sees it,
  /// and neither does `store`; `snapshot(including:)` does, and so do later drafts. When it is
  /// sent, its changes, not its closure, are merged with what others have written meanwhile, by
  /// `merging`; without a policy it is handed over if both changed one property. So a counter that
  /// two replicas raised is a conflict.
  ///
  /// While drafts wait, later ones wait behind them: the order in which they were written is kept.
  ///
  /// The parameters are as in `write`; the key `outbox` of the metadata is taken. `basedOn` is a
  /// position of the log, also for a draft that waits. `offline` says whether to ask the log first.
  ///
  /// - Returns: which of the two it was, with what the closure returned.
  /// - Throws: as `write`, but not `.unavailable`; `.outboxFull`, and nothing is recorded;
  ///   `AnnalsError.unsupported` if it would wait and changes the schema; and what opening the
  ///   outbox throws: `.notAnOutbox`, `.otherStore`, `.newerVersion`.
  @discardableResult
  public func write<Result: Sendable>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    offline: OfflineWriting,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> ReplicaWrite<Result> {
    let origin = try TransactionOrigin(
      author: author, context: context, group: group, metadata: metadata)
    let preconditions = Preconditions(basedOn: basedOn, policy: merging)
    return try await commit(origin, group, merging, offline) { patience in
      try await commit(origin, preconditions, within: patience, body)
    } orKeep: { writer, pending in
      var value: Result?
      let draft = try writer.keep(origin, if: preconditions, on: pending) { value = try body($0) }
      guard let value else { preconditionFailure("a write returned without a value") }
      return (value, draft)
    }
  }

  /// Undoes as the form without `offline`, also while the log cannot be reached: then the undo
  /// waits in the outbox, as a write does. It is in conflict when it is sent if the author has
  /// written, undone or redone something elsewhere meanwhile, since an author's steps are undone
  /// newest first; and if others have changed what it changes, by `merging`.
  ///
  /// - Returns: which of the two it was, with what was undone.
  /// - Throws: as the form without `offline` and as `write` with it; `AnnalsError.unsupported` if
  ///   the author's newest step is itself a draft that waits: `discard` it.
  @discardableResult
  public func undo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil, offline: OfflineWriting
  ) async throws -> ReplicaWrite<UndoStep> {
    try await commitStep(.undo, author, context, metadata, merging, offline)
  }

  /// Redoes as the form without `offline`, also while the log cannot be reached; as `undo` with
  /// `offline`.
  @discardableResult
  public func redo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil, offline: OfflineWriting
  ) async throws -> ReplicaWrite<UndoStep> {
    try await commitStep(.redo, author, context, metadata, merging, offline)
  }

  /// The newest state with the drafts that wait over it, in order, each merged as it would be if it
  /// were sent now. Drafts that do not fit are left out: `outboxItems()` says why.
  ///
  /// Without drafts it is `store.snapshot()`. Its position is that of the newest transaction below
  /// the drafts. New objects have ids that hold until they are committed. Costs what the drafts
  /// change, once for each change of the store or the outbox.
  ///
  /// Throws as opening the outbox does, and as reading the store.
  public func snapshot(including inclusion: SnapshotInclusion) async throws -> Snapshot {
    try requireOpen()
    return try await turn.run {
      guard let outbox = try await outbox(creates: false),
        try await !blocking({ try outbox.current().items.isEmpty })
      else { return store.snapshot() }
      let state = try await chain(outbox).state
      var snapshot = Snapshot(
        reader: try state.reader(), position: state.version.position,
        bindings: state.version.records)
      snapshot.clock = environment.clock
      return snapshot
    }
  }

  /// The drafts that wait, in order, with what is in the way of those in conflict. Throws as
  /// opening the outbox does.
  public func outboxItems() async throws -> [OutboxItem] {
    try requireOpen()
    return try await turn.run {
      guard let outbox = try await outbox(creates: false) else { return [] }
      if try await blocking({ try outbox.current().items.contains { $0.conflict != nil } }) {
        _ = try await chain(outbox)
      }
      return outbox.listing.items
    }
  }

  /// The changes of a draft, with the values before them, as history would have them: to show them,
  /// or to write them anew. Throws `.noSuchDraft` if it has left the outbox.
  public func changes(of item: OutboxItem) async throws -> [Change] {
    try requireOpen()
    return try await turn.run {
      guard let outbox = try await outbox(creates: false) else {
        throw ReplicationError.noSuchDraft(item.id)
      }
      let draft = try await load(item, from: outbox)
      let state = try PendingState(on: store.version)
      let kept = try draft.kept(in: state.largeValues)
      return state.changes(in: kept.changes, dated: draft.changes.timestamp)
    }
  }

  /// The id that an object has which a draft has inserted: another one since it was committed; nil
  /// if the draft was discarded. Any other id is returned as it is.
  ///
  /// Follows the last 10,000 drafts that left the outbox. O(1).
  public func currentID(of id: ObjectID) -> ObjectID? {
    let moves = content.withLock { $0.outbox }?.listing.moves
    let object = ObjectReference(entity: id.entity, row: id.row)
    guard let moves, id.store == store.version.store else { return id }
    if moves.gone.contains(object) { return nil }
    guard let place = moves.places[object] else { return id }
    return ObjectID(store: id.store, entity: place.entity, row: place.row)
  }

  // MARK: Inside

  private func commitStep(
    _ direction: UndoDirection, _ author: String?, _ context: String?, _ metadata: [String: Value],
    _ policy: MergePolicy?, _ offline: OfflineWriting
  ) async throws -> ReplicaWrite<UndoStep> {
    let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    return try await commit(origin, nil, policy, offline) { patience in
      try await submit(patience) { try $0.propose(direction, origin, merging: policy) }
    } orKeep: { writer, pending in
      try writer.keep(direction, origin, merging: policy, on: pending)
    }
  }

  /// Commits, if the log is to be asked and can be reached; else has a draft wait.
  private func commit<Result: Sendable>(
    _ origin: TransactionOrigin, _ group: String?, _ policy: MergePolicy?,
    _ offline: OfflineWriting, _ commit: (Retries?) async throws -> Commit<Result>,
    orKeep keep: @escaping @Sendable (StoreWriter, PendingState) throws -> (Result, WaitingDraft?)
  ) async throws -> ReplicaWrite<Result> {
    guard origin.metadata[Outbox.metadataKey] == nil else {
      throw AnnalsError(
        .invalidArgument, "the metadata `\(Outbox.metadataKey)` are those of the outbox")
    }
    if case .outbox = offline, try await isOutboxPassed(),
      let commit = try await commitIfReached(commit)
    {
      return .committed(commit)
    }
    return try await turn.run {
      try await wait(origin, group, policy, keep)
    }
  }

  /// Commits as `commit` does; nil if the log was not reached. One that is known to be away is
  /// asked once.
  private func commitIfReached<Result: Sendable>(
    _ commit: (Retries?) async throws -> Commit<Result>
  ) async throws -> Commit<Result>? {
    while true {
      let isAway = log.outage.text != nil
      do {
        return try await commit(isAway ? Retries(options, environment, isOnce: true) : nil)
      } catch let error as ReplicationError where error.code == .unavailable {
        return nil
      } catch let error as ReplicationError where error.code == .contended && isAway {
        // It is back.
      }
    }
  }

  /// The outbox; nil if there is none, unless `creates` is set. For the holder of the turn.
  func outbox(creates: Bool) async throws -> Outbox? {
    if let known = content.withLock({ $0.outbox }) { return known }
    do {
      let opened = try await blocking { [writer, options, environment] in
        try Outbox.open(
          beside: writer, creates: creates, lockTimeout: options.store.lockTimeout, environment)
      }
      content.withLock { ($0.outbox, $0.outboxFailure) = (opened, nil) }
      return opened
    } catch {
      content.withLock { $0.outboxFailure = error }
      throw error
    }
  }

  /// Whether a write may go to the log at once: nothing waits, and the log is not known to be away.
  private func isOutboxPassed() async throws -> Bool {
    try requireOpen()
    return try await turn.run {
      if let outbox = try await outbox(creates: false),
        try await !blocking({ try outbox.current().items.isEmpty })
      {
        return false
      }
      return log.outage.text == nil || !options.follows
    }
  }

  /// Makes a draft on the newest state with the drafts that wait, and keeps it behind them. For the
  /// holder of the turn.
  private func wait<Result: Sendable>(
    _ origin: TransactionOrigin, _ group: String?, _ policy: MergePolicy?,
    _ keep: @escaping @Sendable (StoreWriter, PendingState) throws -> (Result, WaitingDraft?)
  ) async throws -> ReplicaWrite<Result> {
    try requireOpen()
    guard let outbox = try await outbox(creates: true) else {
      preconditionFailure("an outbox was not made")
    }
    while true {
      let chain = try await chain(outbox)
      let run: (value: Result, draft: WaitingDraft?)? = try await writer.commitOfTask { writer in
        guard writer.newest.token == chain.token else { return nil }
        return try keep(writer, chain.state)
      }
      guard let run else { continue }
      guard let draft = run.draft else {
        return .committed(Commit(value: run.value, token: chain.token))
      }
      let arrival = try arrival(of: draft, origin, group, policy)
      do {
        let limit = options.outboxLimit
        let item = try await blocking {
          try outbox.add(arrival, after: chain.outboxToken, limit)
        }
        content.withLock {
          $0.chain = PendingChain(
            token: chain.token, outboxToken: outbox.listing.token, state: draft.after,
            conflicts: chain.conflicts)
        }
        startSending()
        return .waiting(item, run.value)
      } catch is Outbox.Changed {
        // Another process was faster; the draft is made on what it has added.
      }
    }
  }

  private func arrival(
    of draft: WaitingDraft, _ origin: TransactionOrigin, _ group: String?, _ policy: MergePolicy?
  ) throws -> Outbox.Arrival {
    let place = content.withLock { $0.place }
    let changes = try PortableTransaction(draft.changes, after: place.digest)
    let objects = try PortableTransaction(draft.objects, after: place.digest)
    var message: String?
    if case .string(let text) = origin.metadata["message"] { message = text }
    return Outbox.Arrival(
      id: UUID(environment.makeUUID()), author: origin.author, context: origin.context,
      message: message, group: group, date: environment.clock(), basedOn: draft.changes.base,
      policy: policy, changes: changes.bytes, objects: objects.bytes,
      nextRow: draft.after.nextRow)
  }
}
