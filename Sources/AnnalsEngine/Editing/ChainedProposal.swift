import AnnalsFormat
import AnnalsLog
import AnnalsModel

// Transactions that are proposed one on the other.

/// What a closure comes to that was run on the state after other transactions, which were proposed
/// and are not in the log.
package enum ChainedProposal: Sendable {
  /// A transaction, and the state after it; nil if nothing can be proposed on that.
  case transaction(ProposedTransaction, after: PendingState?)
  /// There is nothing to record.
  case nothing
  /// It changes the schema, which needs the newest state.
  case alone
}

extension StoreWriter {
  /// Runs the closure on a draft of a state that is the newest one, or that after transactions
  /// which were proposed by this call, and passes it through the stages; for the holder of the
  /// turn. Writes nothing to the file.
  ///
  /// Nothing can be proposed on a transaction that changes the schema or has new large values.
  package func propose(
    _ origin: TransactionOrigin, on pending: PendingState,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> ChainedProposal {
    try AnnalsError.translatingFaults {
      let version = pending.version
      let held = HeldLargeValues(stored: LogLargeValues(version.view))
      var draft = version.makeDraft(origin, held)
      draft.progress = options.progress.map { ProgressReport(tell: $0) }
      let transaction = WriteTransaction(draft)
      try transaction.run(body)
      let changesSchema = !transaction.content.changedEntities.isEmpty
      if changesSchema, version.head.number != head.newestPosition.number { return .alone }
      proposedPosition = version.head
      defer { proposedPosition = nil }
      guard let proposed = try propose(&transaction.content, if: .none, held, on: version) else {
        return .nothing
      }
      let isLast = changesSchema || !held.isEmpty
      return .transaction(
        proposed, after: isLast ? nil : pending.successor(transaction.content, proposed.envelope))
    }
  }
}

extension PendingState {
  /// The state with a draft, as that after a transaction which is proposed.
  fileprivate func successor(_ draft: Draft, _ envelope: TransactionEnvelope) -> PendingState {
    let last = version.head
    let position = LogPosition(
      number: last.number + 1, timestamp: envelope.timestamp,
      maximumTimestamp: max(last.maximumTimestamp, envelope.timestamp),
      openingID: envelope.opening?.id ?? 0)
    return PendingState(
      version.successor(state: draft.reader.state, proposedAt: position), largeValues, drafts)
  }
}
