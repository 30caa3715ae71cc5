import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

extension Store {
  /// Runs the closure on the newest state, commits its changes as one transaction, and returns what
  /// the closure returned.
  ///
  /// The closure reads its own changes. If it throws, nothing is recorded and its error is thrown.
  /// If its changes cancel out, nothing is recorded. A write, checkpoint, refresh or close of the
  /// same store inside it, or a write to the same file through another, throws `.nestedWrite`:
  /// functions that may be called there get the transaction as a parameter. `commit` does the same
  /// as `write` and also returns the position.
  ///
  /// Safe on any thread; writes take turns. Costs what the closure changes, and a sync that
  /// concurrent writes share.
  ///
  /// - Parameters:
  ///   - author: who makes the change.
  ///   - context: in what context.
  ///   - group: a name that joins consecutive transactions of one author for `undo`: the moves of a
  ///     drag, the letters of a word. Whatever else the author writes, undoes or redoes in between
  ///     ends the group; other authors do not.
  ///   - metadata: key-value pairs to store with the transaction.
  ///   - basedOn: the position of the state that the changes are based on, if it was read before
  ///     the call. Nothing is recorded if others have since changed a property that the transaction
  ///     sets or an object that it deletes, or have deleted an object that it changes. What `set`,
  ///     `save` and updates by name set counts even if the value is now the same; of a closure of
  ///     `update`, which reads the newest record, only what differs from that. Properties that were
  ///     only read are not compared.
  ///   - merging: how to merge with what others have changed since `basedOn`. With a policy the
  ///     closure reads the state as of `basedOn`, with the newest schema, and its changes are then
  ///     merged into the newest state; see `MergePolicy`. Rules, references and uniqueness are
  ///     checked in the newest state, and before-images come from it. Without a policy the closure
  ///     reads the newest state, and conflicts refuse the write. The policy costs the transactions
  ///     since `basedOn` and what the closure changes; it has no effect without `basedOn`.
  ///   - expecting: the position that the store must be at; if anything was committed since, it
  ///     is a `.conflict`, also if that position is pruned by now.
  ///   - body: makes the changes. Use the `WriteTransaction` only within it.
  /// - Returns: what the closure returned: for example the object it inserted. When the call
  ///   returns, the transaction is as durable as `options.durability` says.
  /// - Throws: `.conflict` with the properties that others changed; `.pruned`, `.otherStore`,
  ///   `.lostBranch` or `.beyondHead` for a token that does not belong to this history;
  ///   `.invalidChange` with every broken rule; `.invalidArgument` for a group without a name, or
  ///   with one of more than 255 bytes; `.busy` if another process holds the lock too long;
  ///   `.suspended` between `suspend()` and `resume()`; `.forked` in a fork of the process that
  ///   opened the store; `.noSpace`, `.io`. After all of these nothing was recorded.
  ///   `.outcomeUnknown`: the disk failed; the transaction may or may not exist after reopening,
  ///   and the store refuses all further writes. `.poisoned`: the store refuses the write because
  ///   an earlier call failed that way, or because the disk failed while an aborted transaction was
  ///   removed; `underlying` says how.
  @discardableResult
  public func write<Result>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Result {
    try commit(
      author: author, context: context, group: group, metadata: metadata, basedOn: basedOn,
      merging: merging, expecting: expecting, body
    ).value
  }

  /// As the other form, for a closure that returns nothing: so a write can be the only expression
  /// of a closure whose own result is `Void`.
  public func write(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: (WriteTransaction) throws -> Void
  ) throws {
    _ = try commit(
      author: author, context: context, group: group, metadata: metadata, basedOn: basedOn,
      merging: merging, expecting: expecting, body)
  }

  /// As `write`, and also returns the position after the transaction and the conflicts that a merge
  /// resolved: for callers that save the position, or read the store as of it later.
  ///
  /// Parameters, errors, cost and threads are those of `write`.
  @discardableResult
  public func commit<Result>(
    author: String? = nil, context: String? = nil, group: String? = nil,
    metadata: [String: Value] = [:], basedOn: Token? = nil, merging: MergePolicy? = nil,
    expecting: Token? = nil,
    _ body: (WriteTransaction) throws -> Result
  ) throws -> Commit<Result> {
    let origin = try TransactionOrigin(
      author: author, context: context, group: group, metadata: metadata)
    let preconditions = Preconditions(basedOn: basedOn, policy: merging, expecting: expecting)
    return try Commit { value in
      try writer.commit(origin, if: preconditions) { value = try body($0) }
    }
  }

  /// As `commit`, for a transaction made elsewhere: keeps its timestamp, and is recorded even if
  /// nothing changed.
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

  /// Commits what the closure changes, as `commit` does. Returns the position after it.
  package func commitTransaction(
    _ origin: TransactionOrigin, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    try writer.commit(origin, body).token
  }

  /// Makes everything written so far survive a power cut. Only needed with `.deferred`.
  ///
  /// Throws `.outcomeUnknown` if the disk failed: transactions since the last sync may or may not
  /// exist after reopening, even without a power cut, and the store refuses all further writes.
  public func sync() throws(AnnalsError) {
    try AnnalsError.translating {
      try writer.writeAlone { writer in
        try writer.appendAdvances()
        _ = try writer.sync()
      }
    }
  }

  /// Writes a checkpoint now, so that the next opening replays little. The store does this by
  /// itself when the log since the last checkpoint exceeds the size of a new one. First brings all
  /// registered projections up to date and saves them; one that fails keeps its saved state.
  public func checkpoint() throws(AnnalsError) {
    try writer.checkpoint()
  }
}

extension Store {
  /// Prepares for a time in which the process may be stopped: an app in the background, a machine
  /// about to sleep. A process that is stopped while it holds the lock blocks all others.
  ///
  /// Returns when the writes under way are acknowledged and the lock is released, also one that is
  /// held throughout (`StoreOptions.lockMode`). From then on each write throws `.suspended` at
  /// once, as do those that were waiting for another process. Reading goes on. Safe to call again,
  /// on any thread. Throws `.nestedWrite` inside the closure of a write.
  ///
  /// A rewrite under way (`compact`, `prune`) ends with `.suspended`, and leaves the file as it
  /// was.
  public func suspend() throws(AnnalsError) { try writer.suspend() }

  /// Ends `suspend()`. The next write takes the lock, and sees what others have written meanwhile.
  public func resume() throws(AnnalsError) { try writer.resume() }
}
