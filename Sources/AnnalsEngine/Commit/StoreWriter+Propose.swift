import AnnalsFormat
import AnnalsLog
import AnnalsModel
import Synchronization

/// A transaction that has passed the stages of a commit on one state, and is not appended: whether
/// it follows on that state is decided elsewhere.
package struct ProposedTransaction: Sendable {
  /// The transaction on whose state it rests.
  package let base: Token
  /// What it records besides its changes; names its opening.
  package let envelope: TransactionEnvelope
  /// Its changes, in parts, at least one.
  package let parts: [ChangeBatch]
  /// Reads the large values that its changes name.
  package let largeValues: any LargeValueSource
  /// The schema, with its own changes.
  package let schema: Schema
  /// The conflicts that a merge policy resolved.
  package let conflicts: [PropertyConflict]
  /// The objects that a merge united with stored ones.
  package let mergedObjects: [ObjectReference: ObjectReference]
  /// Where the new objects of a draft that was filled outside of a write have moved.
  package internal(set) var moves: [ObjectReference: ObjectReference] = [:]

  /// What a commit of it tells its caller.
  package func result(at token: Token) -> CommitResult {
    var result = CommitResult(
      token: token, conflicts: conflicts, mergedObjects: mergedObjects, moves: moves)
    result.nameAsGiven(moves)
    return result
  }
}

// The order of a replica's transactions is decided by a log that others share: they are proposed
// here and appended as given.

extension StoreWriter {
  /// Refuses commits of drafts from now on: this store's transactions come from a log that others
  /// share.
  package func followSharedLog() { isOrderedElsewhere.store(true, ordering: .releasing) }

  /// Throws `.readOnly` if the order of this store's transactions is decided elsewhere.
  func requireOwnOrder() throws(AnnalsError) {
    guard isOrderedElsewhere.load(ordering: .acquiring) else { return }
    throw AnnalsError(
      .readOnly,
      "the store is a replica, and its transactions come from the shared log; nothing was "
        + "recorded. Write by `replica.write`; an editing context is saved by `replica.save`")
  }

  /// Throws `.readOnly` if the newest transaction came from a shared log, which another one would
  /// part the file from, unless the options say so. Looks once, and again after others have
  /// written; for the holder of the lock.
  func requireNoSharedLog() throws(AnnalsError) {
    if isOwnOrderKnown || options.leavesSharedLog { return }
    // Where it cannot be read, the file may still be written to.
    let version = newest
    if (try? version.sharedLogPlace(of: version.head.number)) != nil {
      throw AnnalsError(
        .readOnly,
        "\(log.path) is a replica: its newest transaction came from a shared log, and another one "
          + "would part it from that; nothing was recorded. Open it as a replica; or set "
          + "`leavesSharedLog`, and it is a store of its own")
    }
    isOwnOrderKnown = true
  }

  /// Runs the closure on a draft of the newest state and passes it through the stages, for the
  /// holder of the turn. Returns the transaction, or nil if there is nothing to record. Writes
  /// nothing to the file: new large values are in memory.
  package func propose(
    _ origin: TransactionOrigin, if preconditions: Preconditions = .none,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> ProposedTransaction? {
    try AnnalsError.translatingFaults {
      let version = newest
      let held = HeldLargeValues(stored: LogLargeValues(version.view))
      let transaction = WriteTransaction(
        try makeDraft(origin, for: preconditions, held, isAppended: false))
      try transaction.run(body, if: preconditions, on: version)
      return try propose(&transaction.content, if: preconditions, held, on: version)
    }
  }

  /// Passes a draft through the stages. Returns the transaction, or nil if there is nothing to
  /// record.
  func propose(
    _ draft: inout Draft, if preconditions: Preconditions, _ held: any LargeValueSource,
    on version: StoreVersion, merges: Bool = false
  ) throws -> ProposedTransaction? {
    var changes = try pass(&draft, if: preconditions, nil, on: version, merges: merges)
    guard changes.hasContent else { return nil }
    var (envelope, parts) = changes.takeRecords()
    envelope.opening = envelope.opening ?? log.ownOpening
    return ProposedTransaction(
      base: version.token, envelope: envelope, parts: parts, largeValues: held,
      schema: draft.schema, conflicts: draft.conflicts, mergedObjects: draft.mergedObjects)
  }

  /// The position that a transaction follows on which is made now.
  var precedingPosition: LogPosition { proposedPosition ?? head.newestPosition }
}
