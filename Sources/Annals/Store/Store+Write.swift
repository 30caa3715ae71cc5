import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

extension Store {
  /// Runs the closure on the newest state, commits what it did as one transaction, and returns what
  /// the closure returned.
  ///
  /// The closure may read its own changes; if it throws, nothing is recorded and its error is
  /// thrown. A closure whose changes cancel out records nothing. It must not write to the same
  /// store in another way: that traps. `commit` does the same and tells the position as well.
  ///
  /// Safe on any thread; writes take turns. It costs what the closure changes, and a sync that
  /// concurrent writes share.
  ///
  /// - Parameters:
  ///   - author: who makes the change.
  ///   - context: in what context.
  ///   - metadata: key-value pairs to keep with the transaction.
  ///   - basedOn: the position of the state that the changes were decided on, if it was read before
  ///     the call. If a property that the transaction changes, or an object that it deletes, was
  ///     changed since, or an object that it changes was deleted, nothing is recorded. What was
  ///     only read is not compared.
  ///   - merging: what becomes of what others have changed since `basedOn`. With a policy the
  ///     closure reads the state as of `basedOn`, with the schema of now, and its changes are then
  ///     merged into the newest state; see `MergePolicy`. Rules, references and uniqueness are
  ///     judged there, and history has the values before from there. Without a policy the closure
  ///     reads the newest state, and the write is refused. The policy costs the transactions since
  ///     `basedOn` and what the closure changes; it means nothing without `basedOn`.
  ///   - expecting: the position that the store must be at; if anything came since, nothing is
  ///     recorded.
  ///   - body: makes the changes. The `WriteTransaction` is for use within it only.
  /// - Returns: what the closure returned: the object it inserted, for example. When the call
  ///   returns, the transaction is as durable as `options.durability` says.
  /// - Throws: `.conflict` with the properties that others changed, and `.pruned`, `.otherStore`,
  ///   `.lostBranch` or `.beyondHead` for a token that is not of this history; `.invalidChange`
  ///   with every rule broken; `.busy` if another process holds the lock too long; `.noSpace`,
  ///   `.io`: nothing was recorded. `.outcomeUnknown`: the disk failed, the transaction may be
  ///   there or not after reopening; the store refuses all further writes.
  ///   `.poisoned`: it refuses, since an earlier call failed so, or since the disk failed while a
  ///   transaction that was given up was taken out; `underlying` says how.
  @discardableResult
  public func write<Result>(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, merging: MergePolicy? = nil, expecting: Token? = nil,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try commit(
      author: author, context: context, metadata: metadata, basedOn: basedOn, merging: merging,
      expecting: expecting, body
    ).value
  }

  /// As `write`, and returns the position after the transaction and what a merge resolved beside
  /// what the closure returned: for those who save the position, or read the store as of it later.
  ///
  /// Parameters, errors, cost and threads are those of `write`.
  @discardableResult
  public func commit<Result>(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, merging: MergePolicy? = nil, expecting: Token? = nil,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Commit<Result> {
    try commitTransaction(
      TransactionOrigin(author: author, context: context, metadata: metadata),
      WritePreconditions(basedOn: basedOn, policy: merging, expecting: expecting), body)
  }

  /// As `commit`, of a transaction that was made elsewhere: with its own timestamp, kept as it is,
  /// and recorded even if nothing changed.
  @discardableResult
  package func importTransaction(
    author: String? = nil, context: String? = nil, timestamp: Timestamp? = nil,
    metadata: [String: Value] = [:], _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    var origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    origin.timestamp = timestamp
    origin.isAlwaysRecorded = true
    return try commitTransaction(origin, body)
  }

  package func commitTransaction(
    _ origin: TransactionOrigin, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    try writer.commit(origin, nil, body)
  }

  /// As `commitTransaction(_:_:)`, if the preconditions hold when the write gets its turn.
  func commitTransaction<Result>(
    _ origin: TransactionOrigin, _ preconditions: WritePreconditions,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Commit<Result> {
    var value: Result?
    var merged: WriteTransaction?
    let token = try writer.commit(origin, preconditions.isEmpty ? nil : preconditions) {
      value = try body($0)
      if preconditions.policy != nil { merged = $0 }
    }
    guard let value else { preconditionFailure("a commit returned without having run its closure") }
    return Commit(value: value, token: token, conflicts: merged?.resolvedConflicts ?? [])
  }

  /// Makes everything written so far survive a power cut; needed with `.deferred` only.
  ///
  /// Throws `.outcomeUnknown` if the disk failed: then transactions since the last sync may be
  /// there or not after reopening, even without a power cut; the store refuses all further writes.
  public func sync() throws(AnnalsError) {
    try AnnalsError.narrowing {
      try writer.writeAlone { writer in
        try writer.appendAdvances()
        _ = try writer.sync()
      }
    }
  }

  /// Writes a checkpoint now, so that the next opening has little to replay. Done by itself when
  /// the log since the last one has outgrown what a new one would take. Brings all registered
  /// projections level first, and saves them; one that fails is left as it was saved.
  public func checkpoint() throws(AnnalsError) {
    let images = projections.imagesOfAll()
    try AnnalsError.narrowing { try writer.writeAlone { try $0.checkpoint(saving: images) } }
  }
}
