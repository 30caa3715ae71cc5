import AnnalsFormat
import AnnalsModel
import AnnalsStorage

// Appending transactions. The caller holds the lock, and the log stands at the file's end.

extension LogFile {
  /// Begins a transaction. Nothing of it is visible before `commit`.
  ///
  /// Throws `outcomeUnknown` if the tail could not be repaired; `newerWriter` if features were
  /// announced meanwhile that a writer must know and this engine does not.
  package func begin() throws(LogError) {
    try state.withLock { (state) throws(LogError) in try begin(&state) }
  }

  func begin(_ state: inout LogState) throws(LogError) {
    try state.requireOpen()
    guard options.access == .writing else { throw .readOnly }
    try state.requireWritable()
    precondition(state.isLocked, "transactions are written under the lock")
    precondition(state.transaction == nil, "a transaction is open")
    precondition(state.replacement == nil, "the file was replaced: reload first")
    if !state.isTailRepaired { try repairTail(&state) }
    // Read the slots now, before anything is appended: a failing read then changes nothing.
    if options.durability == .full { try state.checkForeign() }
    // The sync of what is about to be appended covers the slot as well.
    if state.isSlotDue { try state.writeSlot(extent: state.synced.size) }
    if state.frames.offset != state.end.offset || !state.frames.bytes.isEmpty {
      state.resetFrames()
    }
    state.frames.durableMark = state.durableMark
    state.transaction = state.spareTransaction.take() ?? OpenTransaction()
  }

  /// Sets what the transaction contains besides its changes, before its first part. Throws
  /// `detailsTooLarge` if that exceeds 4 MiB: then abort.
  package func describe(_ draft: TransactionEnvelope) throws(LogError) {
    try withOpenState { (state) throws(LogError) in
      try state.describe(draft, own: options.opening)
    }
  }

  /// Appends changes to the transaction: the whole batch, as one part, or as several if it is long.
  /// Chooses between row and block form. Ignores the batch's `transactions`, which afterwards hold
  /// the transaction's record.
  ///
  /// Throws `tooLarge` if a single change does not fit into a frame, `storage` if there is no
  /// space: then abort. Throws `outcomeUnknown` if a write failed.
  package func appendPart(_ batch: inout ChangeBatch, isLast: Bool) throws(LogError) {
    try withOpenState { (state) throws(LogError) in
      try state.append(&batch, isLast: isLast)
    }
  }

  /// Commits the transaction: writes the rest and makes it visible in `view`. With `.deferred` it
  /// is then acknowledged; with `.full` a `sync` must follow.
  ///
  /// Throws `storage` if there is no space, the transaction aborted; `outcomeUnknown` if the write
  /// failed.
  package func commit() throws(LogError) -> LogPosition {
    try withOpenState { (state) throws(LogError) in try commit(&state) }
  }

  private func commit(_ state: inout LogState) throws(LogError) -> LogPosition {
    if !state.advances.isEmpty { state.stage(state.dueConsumerChanges) }
    try writeFrames(&state)
    guard let transaction = state.transaction.take(), let record = transaction.record,
      transaction.isComplete
    else { preconditionFailure("the transaction has no last part") }
    try state.tables.absorb(
      record, transaction.parts, at: transaction.start ?? state.end.offset,
      largeValues: transaction.largeValues)
    state.tables.announce(transaction.features)
    if transaction.recordsOwnOpening { state.ownOpening = record.opening }
    if !transaction.consumers.isEmpty { state.adoptStaged(transaction.consumers) }
    advanceEnd(&state)
    transaction.reset()
    state.spareTransaction = transaction
    return state.tables.head
  }

  /// Writes the gathered frames; aborts if there is no space for them.
  func writeFrames(_ state: inout LogState) throws(LogError) {
    do throws(LogError) {
      try state.writeFrames()
    } catch {
      if case .storage = error { abort(&state) }
      throw error
    }
  }

  /// Moves the end behind the frames that were written; what is deferred is thereby acknowledged.
  func advanceEnd(_ state: inout LogState) {
    state.end = state.frames.point
    state.kept = state.end
    if options.durability == .deferred { state.acknowledged = state.end }
  }

  /// Aborts the transaction; nothing of it is left. Poisons the log if what was already written
  /// cannot be removed.
  package func abort() {
    state.withLock { abort(&$0) }
  }

  func abort(_ state: inout LogState) {
    guard state.transaction != nil, !state.isPoisoned else { return }
    state.transaction = nil
    let written = state.frames.start
    do {
      if written > state.end.offset { try state.erase(upTo: written) }
    } catch {
      state.failure = error
    }
    state.resetFrames()
  }

  /// Appends one transaction with all of the batch's changes: `begin`, `describe`, `appendPart` and
  /// `commit` in one. If it throws, the transaction was aborted.
  package func append(
    _ draft: TransactionEnvelope, _ batch: inout ChangeBatch
  ) throws(LogError) -> LogPosition {
    try state.withLock { (state) throws(LogError) in
      try begin(&state)
      do throws(LogError) {
        try state.describe(draft, own: options.opening)
        try state.append(&batch, isLast: true)
      } catch {
        abort(&state)
        throw error
      }
      return try commit(&state)
    }
  }

  /// Whether the batch has reached the length of one part, about 256 KiB.
  package static func isFull(_ batch: ChangeBatch) -> Bool { batch.isFullPart }
}
