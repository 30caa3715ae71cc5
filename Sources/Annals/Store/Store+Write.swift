import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

extension Store {
  /// Runs the closure on the newest state and commits what it did, as one transaction.
  ///
  /// The closure may read its own changes; if it throws, nothing is recorded and its error is
  /// thrown. A closure whose changes cancel out records nothing. It must not write to the same
  /// store in another way: that traps.
  ///
  /// - Parameters:
  ///   - author: who makes the change.
  ///   - context: in what context.
  ///   - metadata: key-value pairs to keep with the transaction.
  ///   - basedOn: the position of the state that the changes were decided on, if it was read before
  ///     the call. If a property that the transaction changes, or an object that it deletes, was
  ///     changed since, or an object that it changes was deleted, nothing is recorded. What was
  ///     only read is not compared.
  ///   - expecting: the position that the store must be at; if anything came since, nothing is
  ///     recorded.
  ///   - body: makes the changes.
  /// - Returns: the position after the transaction; the newest position if nothing changed. When
  ///   the call returns, the transaction is as durable as `options.durability` says.
  /// - Throws: `.conflict` with the properties that others changed, and `.pruned`, `.otherStore`,
  ///   `.lostBranch` or `.beyondHead` for a token that is not of this history; `.invalidChange`
  ///   with every rule broken; `.busy` if another process holds the lock too long; `.noSpace`,
  ///   `.io`: nothing was recorded. `.outcomeUnknown`: the disk failed, the transaction may be
  ///   there or not after reopening; the store refuses all further writes.
  ///   `.poisoned`: it refuses, since an earlier call failed so, or since the disk failed while a
  ///   transaction that was given up was taken out; `underlying` says how.
  @discardableResult
  public func write(
    author: String? = nil, context: String? = nil, metadata: [String: Value] = [:],
    basedOn: Token? = nil, expecting: Token? = nil, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    try transact(
      TransactionOrigin(author: author, context: context, metadata: metadata),
      WritePreconditions(basedOn: basedOn, expecting: expecting), body)
  }

  /// As `write`, of a transaction that was made elsewhere: with its own timestamp, kept as it is,
  /// and recorded even if nothing changed.
  @discardableResult
  public func importTransaction(
    author: String? = nil, context: String? = nil, timestamp: Timestamp? = nil,
    metadata: [String: Value] = [:], _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    var origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    origin.timestamp = timestamp
    origin.isAlwaysRecorded = true
    return try transact(origin, body)
  }

  package func transact(
    _ origin: TransactionOrigin, _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    let token = try writer.write { try $0.transact(origin, body) }
    writer.checkpointIfDue()
    return token
  }

  /// As `transact(_:_:)`, if the preconditions hold when the write gets its turn.
  func transact(
    _ origin: TransactionOrigin, _ preconditions: WritePreconditions,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> Token {
    if preconditions.isEmpty { return try transact(origin, body) }
    let token = try writer.write { writer in
      let version = writer.newest
      try preconditions.check(before: version)
      return try writer.transact(origin) { transaction in
        transaction.decision = (preconditions, version)
        try body(transaction)
        try preconditions.check(after: transaction, on: version)
      }
    }
    writer.checkpointIfDue()
    return token
  }

  /// Makes everything written so far survive a power cut; needed with `.deferred` only.
  ///
  /// Throws `.outcomeUnknown` if the disk failed: then transactions since the last sync may be
  /// there or not after reopening, even without a power cut; the store refuses all further writes.
  public func sync() throws(AnnalsError) {
    try AnnalsError.narrowing { try writer.writeAlone { _ = try $0.sync() } }
  }

  /// Writes a checkpoint now, so that the next opening has little to replay. Done by itself when
  /// the log since the last one has outgrown what a new one would take.
  public func checkpoint() throws(AnnalsError) {
    try AnnalsError.narrowing { try writer.writeAlone { try $0.checkpoint() } }
  }
}

extension StoreWriter {
  /// Checkpoints after this many changes when the store is closed or compacted.
  private static let changesWorthACheckpoint = 5_000

  /// Writes a checkpoint if the log behind the last one has outgrown what a new one would take.
  ///
  /// Failures are left for the next call to meet: the transactions before are acknowledged.
  func checkpointIfDue() {
    guard log.bytesSinceCheckpoint > checkpointThreshold.load(ordering: .relaxed) else { return }
    notingFailure { writer in
      let cost = UInt64(writer.newest.state.unsavedByteEstimate)
      guard writer.log.bytesSinceCheckpoint > cost else {
        writer.checkpointThreshold.store(
          max(StoreWriter.leastCheckpointInterval, cost), ordering: .relaxed)
        return
      }
      writer.checkpointThreshold.store(
        StoreWriter.leastCheckpointInterval, ordering: .relaxed)
      try writer.checkpoint()
    }
  }

  /// Writes a checkpoint of the newest state.
  func checkpoint() throws {
    var state = newest.state
    let source = LogChunkSource(log.view.file)
    do throws(LogError) {
      try log.writeCheckpoint(schema: state.schema) { chunks in
        try state.writeChunks(to: chunks, of: source, full: false)
      }
    } catch {
      throw AnnalsError(error)
    }
    advance(to: state, isCommit: false)
  }

  /// Sees to it that few changes lie behind the newest checkpoint, and that it can be read with all
  /// its chunks: if some are damaged, one is made anew from the base and the history.
  func renewCheckpoint() throws {
    do {
      if log.changesSinceCheckpoint > StoreWriter.changesWorthACheckpoint { try checkpoint() }
      if try log.view.holdsCheckpoint(atOrBefore: newest.head.number) { return }
    } catch let error as AnnalsError where error.code == .damaged {}
    try reload(from: .base)
    try checkpoint()
  }

  /// Removes the file if it is still as it was made, and closes. Other processes may have opened it
  /// meanwhile; what they write next fails, as there is no file any more.
  func discardIfUnused() {
    try? writeAlone { writer in
      guard writer.newest.head.number == 0 else { return }
      try writer.log.remove()
    }
    try? close()
  }

  /// Checkpoints if it is worth it, and closes.
  func finish() throws {
    let isWorthIt =
      log.changesSinceCheckpoint > StoreWriter.changesWorthACheckpoint || log.hasUnsavedClockJumps
    if !options.isReadOnly, !log.isPoisoned, isWorthIt, !isBare {
      notingFailure { try $0.checkpoint() }
    }
    try close()
    if let failure = untoldFailure.withLock({ $0.take() }) { throw failure }
  }

  /// Runs `body` as the only writer, and says nothing of errors, unless they mean that commits of
  /// `.deferred` may be gone: those are left for the end of the store.
  private func notingFailure(_ body: (StoreWriter) throws -> Void) {
    do {
      try writeAlone(body)
    } catch let error as AnnalsError {
      guard error.code == .outcomeUnknown, options.durability == .deferred else { return }
      untoldFailure.withLock { $0 = error }
    } catch {}
  }
}
