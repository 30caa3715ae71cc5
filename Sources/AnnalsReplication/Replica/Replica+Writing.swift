import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension Replica {
  /// Runs the closure on the newest state, has the log order its changes as one transaction, and
  /// returns what the closure returned; as `Store.write`, for all replicas.
  ///
  /// The closure runs on a thread of the store. Where another replica was faster, it runs again, on
  /// the state with the other's transactions, and so it does where it throws or changes nothing on
  /// a state that is not the newest: so it must do nothing but read and write through its
  /// transaction. With `basedOn` and `merging` its changes are merged into the newest state each
  /// time, as `Store.write` says.
  ///
  /// Writes of several tasks share the way to the log and the sync: while some are on their way,
  /// the others wait, and then go together, in the order in which they were called, at most 256 at
  /// once.
  ///
  /// New values over 4 KiB are in memory until the log has them; a transaction has at most 1 GiB.
  ///
  /// - Returns: what the closure returned. When the call returns, the log has acknowledged the
  ///   transaction, and this replica's file has it, as durable as its options say.
  /// - Throws: what the closure throws, and what `Store.write` throws, except `.outcomeUnknown`:
  ///   then nothing is recorded. `ReplicationError`: `.unavailable` or `.contended` by the
  ///   deadline, and nothing is recorded; `.outcomeUnknown` if the log did not say; `.notInFile` if
  ///   only this file lacks it; and as `catchUp()`. A task that is cancelled before the log was
  ///   asked records nothing and gets `.cancelled`.
  @discardableResult
  public func write<Result: Sendable>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Result {
    try await commit(
      author: author, context: context, group: group, metadata: metadata, basedOn: basedOn,
      merging: merging, body
    ).value
  }

  /// As `write`, and also returns the position after the transaction, and what a merge policy
  /// resolved.
  @discardableResult
  public func commit<Result: Sendable>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Commit<Result> {
    let origin = try TransactionOrigin(
      author: author, context: context, group: group, metadata: metadata)
    return try await commit(origin, Preconditions(basedOn: basedOn, policy: merging), body)
  }

  /// Undoes the author's newest step, as `Store.undo`, for all replicas. Throws as `write` and as
  /// that.
  @discardableResult
  public func undo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) async throws -> Commit<UndoStep> {
    try await submitStep(.undo, author, context, metadata, merging)
  }

  /// Undoes the author's newest undo, as `Store.redo`, for all replicas. Throws as `write` and as
  /// that.
  @discardableResult
  public func redo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) async throws -> Commit<UndoStep> {
    try await submitStep(.redo, author, context, metadata, merging)
  }

  private func submitStep(
    _ direction: UndoDirection, _ author: String?, _ context: String?, _ metadata: [String: Value],
    _ policy: MergePolicy?
  ) async throws -> Commit<UndoStep> {
    let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    return try await submit { try $0.propose(direction, origin, merging: policy) }
  }
}

// MARK: Inside

extension Replica {
  /// Commits what a closure changes. One that is based on nothing may be in a batch with others.
  func commit<Result: Sendable>(
    _ origin: TransactionOrigin, _ preconditions: Preconditions, within patience: Retries? = nil,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Result
  ) async throws -> Commit<Result> {
    try await submit(patience, goesAlone: !preconditions.isEmpty) { writer, state in
      var value: Result?
      let step: ChainedProposal
      if let state {
        step = try writer.propose(origin, on: state) { value = try body($0) }
      } else {
        step = ChainedProposal(
          try writer.propose(origin, if: preconditions) { value = try body($0) })
      }
      guard let value else { preconditionFailure("a write returned without its closure's value") }
      return (value, step)
    }
  }

  /// Commits, alone, a transaction that `propose` makes of the newest state, for the holder of the
  /// writer's turn; without one there is nothing to record. `patience` is as in a submission.
  func submit<Value: Sendable>(
    _ patience: Retries? = nil,
    _ propose: @escaping @Sendable (StoreWriter) throws -> (Value, ProposedTransaction?)
  ) async throws -> Commit<Value> {
    try await submit(patience, goesAlone: true) { writer, _ in
      let (value, proposed) = try propose(writer)
      return (value, ChainedProposal(proposed))
    }
  }

  private func submit<Value: Sendable>(
    _ patience: Retries?, goesAlone: Bool,
    _ run: @escaping @Sendable (StoreWriter, PendingState?) throws -> (Value, ChainedProposal)
  ) async throws -> Commit<Value> {
    try requireOpen()
    let value = Locked<Value?>(nil)
    let submission = Submission(patience, goesAlone: goesAlone) { writer, state in
      let (made, step) = try run(writer, state)
      value.withLock { $0 = made }
      return step
    }
    let ending = try await perform(submission)
    guard let value = value.withLock({ $0 }) else {
      preconditionFailure("a write has ended without its closure's value")
    }
    switch ending {
    case .committed(let result): return Commit(value, result)
    case .nothing(let token): return Commit(value: value, token: token)
    }
  }

  /// Proposes the transaction of a write, publishes it, and applies it; again where others were
  /// faster. For the holder of the turn. Returns nil if others wait meanwhile: then it may be in a
  /// batch with them.
  func commitAlone(_ submission: Submission) async throws -> Submission.Ending? {
    try requireOpen()
    var retries = submission.patience ?? Retries(options, environment)
    while true {
      var hasTurn = false
      let step: ChainedProposal
      do {
        step = try await writer.commitOfTask { try submission.run($0, nil) }
      } catch {
        // What an older state refuses, the newest one may not.
        if !submission.isCurrent, !Task.isCancelled, try await advance(submission) { continue }
        throw error
      }
      guard case .transaction(let proposed, _) = step else {
        if !submission.isCurrent, try await advance(submission) { continue }
        return .nothing(store.token)
      }
      let place = try currentPlace()
      if proposed.base.number == place.number {
        let transaction = try PortableTransaction(proposed, after: place.digest)
        let start = ContinuousClock.now
        if let token = try await offer(transaction, after: place, &retries) {
          return .committed(proposed.result(at: token))
        }
        submission.isCurrent = true
        hasTurn = lost(since: start)
      }
      guard await retries.goOn(hasTurn) else { throw contended() }
      if !submission.goesAlone, queue.count > 0 {
        submission.patience = retries
        return nil
      }
    }
  }

  private func advance(_ submission: Submission) async throws -> Bool {
    submission.isCurrent = true
    return try await advance()
  }

  /// Catches up, for a call that comes to nothing on the state that the file has. Returns whether
  /// there was anything new. If the log cannot be reached at once, there is nothing.
  func advance() async throws -> Bool {
    let before = try currentPlace()
    var once = Retries(options, environment, isOnce: true)
    do {
      try await catchUp(&once)
    } catch let error as ReplicationError where error.code == .unavailable {
      return false
    }
    return try currentPlace() != before
  }

  /// Publishes a transaction, and applies it. Returns the position after it; nil if others were
  /// faster, whose transactions are then in the file.
  func offer(
    _ transaction: PortableTransaction, after place: ReplicaPlace, _ retries: inout Retries
  ) async throws -> Token? {
    switch try await publish(transaction, after: place.end, &retries) {
    case .taken(let sequence):
      won()
      do {
        try await apply([LogReading.Arrival(sequence, transaction)])
      } catch {
        throw ReplicationError.notInFile(transaction.number, error)
      }
      return transaction.token
    case .behind:
      try await catchUp(&retries)
      return nil
    }
  }
}

extension ReplicationError {
  /// The error of a transaction that the log has taken, and the file has not.
  static func notInFile(_ number: Int64, _ error: any Error) -> ReplicationError {
    let known = error as? AnnalsError
    return ReplicationError(
      .notInFile,
      "the shared log has transaction \(number), and this replica's file could not take it: "
        + "\(known?.message ?? "\(error)"). It is committed; the file gets it when the replica "
        + "catches up")
  }
}

extension PortableTransaction {
  /// The position after it.
  var token: Token { Token(store: store, number: number, opening: envelope.opening?.id ?? 0) }
}

extension ChainedProposal {
  /// A transaction on which none is proposed, or nothing.
  init(_ proposed: ProposedTransaction?) {
    self = proposed.map { .transaction($0, after: nil) } ?? .nothing
  }
}
