import AnnalsLog
import AnnalsModel
import AnnalsState

/// What must still hold when a write gets its turn, for one that was decided on an earlier state,
/// and how it is merged with what came since.
package protocol CommitPreconditions {
  /// Checked before the closure runs, with the store level with what other processes wrote.
  func check(before version: StoreVersion) throws(AnnalsError)

  /// The earlier state that the closure runs on, and the policy by which its changes are merged
  /// into the newest; nil if it runs on the newest.
  func merge(on version: StoreVersion) throws(AnnalsError) -> (base: State, policy: MergePolicy)?

  /// What to throw where the closure asks for an object that is not there; nil for the usual.
  func deletion(
    of object: ObjectID, in transaction: WriteTransaction, on version: StoreVersion
  ) throws(AnnalsError) -> AnnalsError?

  /// Checked when the closure has made its changes.
  func check(after transaction: WriteTransaction, on version: StoreVersion) throws(AnnalsError)

  /// The conflicts of a merge as the caller is told of them. Throws them with `.error`.
  func resolved(
    _ conflicts: [MergeConflict], on version: StoreVersion
  ) throws(AnnalsError) -> [PropertyConflict]
}

extension StoreWriter {
  /// Runs the closure, and returns what it did as a transaction on the newest state.
  func run(
    _ body: (WriteTransaction) throws -> Void, _ origin: TransactionOrigin,
    _ pending: PendingLargeValues, _ preconditions: (any CommitPreconditions)?
  ) throws -> WriteTransaction {
    if let preconditions { return try run(body, origin, pending, checking: preconditions) }
    let transaction = begin(origin, pending)
    defer { transaction.close() }
    try body(transaction)
    if let failure = transaction.failure { throw failure }
    return transaction
  }

  /// A transaction on the newest state.
  private func begin(
    _ origin: TransactionOrigin, _ pending: PendingLargeValues
  ) -> WriteTransaction {
    let version = newest
    return WriteTransaction(
      base: version.state, working: head.takeWorkingState() ?? version.state, store: log.store,
      origin: origin, largeValues: pending, records: version.records)
  }

  /// Runs the closure between the two checks of the preconditions, and merges what it did if it ran
  /// on an earlier state.
  private func run(
    _ body: (WriteTransaction) throws -> Void, _ origin: TransactionOrigin,
    _ pending: PendingLargeValues, checking preconditions: any CommitPreconditions
  ) throws -> WriteTransaction {
    let version = newest
    try preconditions.check(before: version)
    let merge = try preconditions.merge(on: version)
    let transaction =
      if let merge {
        WriteTransaction(
          base: merge.base, working: merge.base, store: log.store, origin: origin,
          largeValues: pending, records: version.records)
      } else {
        begin(origin, pending)
      }
    defer {
      transaction.close()
      transaction.deletionConflict = nil
    }
    transaction.deletionConflict = { [unowned transaction] object throws(AnnalsError) in
      try preconditions.deletion(of: object, in: transaction, on: version)
    }
    try body(transaction)
    if let failure = transaction.failure { throw failure }
    try preconditions.check(after: transaction, on: version)
    guard let merge else { return transaction }
    return try transaction.merged(into: version, from: merge.base, by: merge.policy) {
      conflicts throws(AnnalsError) in
      try preconditions.resolved(conflicts, on: version)
    }
  }
}

extension WriteTransaction {
  /// The transaction on the newest state that does what this one did to an earlier state. Nothing
  /// can be read of this one any more.
  fileprivate func merged(
    into version: StoreVersion, from base: State, by policy: MergePolicy,
    resolving: ([MergeConflict]) throws(AnnalsError) -> [PropertyConflict]
  ) throws(AnnalsError) -> WriteTransaction {
    let objects = touched.list
    var merge = ThreeWayMerge(
      policy, base: base, own: takeState(), stored: version.state, largeValues: largeValues)
    try merge.run(objects)
    resolvedConflicts = try resolving(merge.conflicts)
    let result = WriteTransaction(
      base: version.state, working: merge.merged, store: reader.store, origin: origin,
      largeValues: largeValues, records: boundRecords)
    for object in merge.touched { result.touched.insert(object) }
    result.metadata = metadata
    result.violations = violations
    result.mergeBase = base
    return result
  }
}
