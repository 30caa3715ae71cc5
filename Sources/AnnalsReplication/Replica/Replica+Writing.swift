import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel

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
    let preconditions = Preconditions(basedOn: basedOn, policy: merging)
    return try await submit { writer in
      var value: Result?
      let proposed = try writer.propose(origin, if: preconditions) { value = try body($0) }
      guard let value else { preconditionFailure("a write returned without its closure's value") }
      return (value, proposed)
    }
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

  /// Adds to the schema what it lacks of these record types, for all replicas. Does nothing if it
  /// lacks nothing. Throws as `Store.require`, and as `write`.
  public func require(_ records: any Record.Type...) async throws {
    try await adopt(ReplicaSchema(records: records))
  }

  /// Adds to the schema what it lacks of this one, for all replicas. As the other form.
  public func require(_ schema: Schema) async throws {
    try await adopt(ReplicaSchema(schema))
  }

  /// Makes the migrations that the store lacks, one transaction each, and requires the schema.
  func adopt(_ needed: ReplicaSchema) async throws {
    Schema.declare(needed.records, in: store.version.records.bindings.functions)
    let steps = needed.migrations.steps
    while !steps.pending(besides: store.version.migrations).isEmpty {
      let made = try await submit { writer in
        let proposed = try writer.proposeMigration(steps, to: needed.schema, needed.edits)
        return (proposed != nil, proposed)
      }
      if !made.value { break }
    }
    _ = try await submit { writer in
      let proposed = try writer.propose(TransactionOrigin(context: "schema")) {
        _ = try $0.draft.require(needed.schema, needed.edits, timesDeclared: { _ in 0 })
      }
      return ((), proposed)
    }
  }
}

// MARK: Inside

extension Replica {
  /// Proposes a transaction, publishes it, and applies it; again where others were faster.
  /// `propose` runs for the holder of the writer's turn; without a transaction there is nothing to
  /// record. Tries as long as `patience` says; nil for the options' deadline.
  func submit<Value: Sendable>(
    _ patience: Retries? = nil,
    _ propose: @escaping @Sendable (StoreWriter) throws -> (Value, ProposedTransaction?)
  ) async throws -> Commit<Value> {
    try requireOpen()
    return try await turn.run {
      var retries = patience ?? Retries(options, environment)
      // Whether this state is as new as the call.
      var isCurrent = false
      while true {
        let value: Value
        let proposed: ProposedTransaction?
        do {
          (value, proposed) = try await writer.commitOfTask { try propose($0) }
        } catch {
          // What an older state refuses, the newest one may not.
          if !isCurrent, !Task.isCancelled, try await advance(&isCurrent) { continue }
          throw error
        }
        guard let proposed else {
          if !isCurrent, try await advance(&isCurrent) { continue }
          return Commit(value: value, token: store.token)
        }
        let place = try currentPlace()
        if proposed.base.number == place.number {
          let transaction = try PortableTransaction(proposed, after: place.digest)
          if let token = try await offer(transaction, after: place, &retries) {
            return Commit(value, proposed.result(at: token))
          }
          isCurrent = true
        }
        guard await retries.wait() else {
          throw ReplicationError(
            .contended,
            "other replicas were faster each time in \(options.deadline); nothing was recorded. "
              + "Try again")
        }
      }
    }
  }

  /// Catches up, for a call that comes to nothing on the state that the file has. Returns whether
  /// there was anything new. If the log cannot be reached at once, there is nothing.
  private func advance(_ isCurrent: inout Bool) async throws -> Bool {
    isCurrent = true
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
      do {
        try await apply([Arrival(sequence, transaction)])
      } catch {
        let known = error as? AnnalsError
        throw ReplicationError(
          .notInFile,
          "the shared log has transaction \(transaction.number), and this replica's file could "
            + "not take it: \(known?.message ?? "\(error)"). It is committed; the file gets it "
            + "when the replica catches up")
      }
      return Token(
        store: transaction.store, number: transaction.number,
        opening: transaction.envelope.opening?.id ?? 0)
    case .behind:
      try await catchUp(&retries)
      return nil
    }
  }
}

/// What a program needs of the schema.
struct ReplicaSchema: Sendable {
  var schema: Schema
  var edits: [SchemaEdit] = []
  var records: [any Record.Type] = []
  var migrations: [Migration] = []

  init(_ schema: Schema, _ migrations: [Migration] = []) {
    self.schema = schema
    self.migrations = migrations
  }

  init(records: [any Record.Type], _ migrations: [Migration] = []) {
    schema = Schema(records: records)
    edits = Schema.edits(of: records)
    self.records = records
    self.migrations = migrations
  }
}
