import AnnalsLog
import AnnalsModel
import AnnalsState

/// The preconditions of a write based on an earlier state, and how the write is merged into the
/// newest.
package protocol CommitPreconditions {
  /// Checks the state before the closure runs, after catching up with other processes.
  func check(before version: StoreVersion) throws(AnnalsError)

  /// The earlier state that the closure runs on, and how its changes are merged into the newest;
  /// nil if it runs on the newest.
  func merge(on version: StoreVersion) throws(AnnalsError) -> MergeBasis?

  /// The error for an object that the closure asks for and that was deleted meanwhile; nil for the
  /// usual one.
  func deletion(
    of object: ObjectID, in transaction: WriteTransaction, on version: StoreVersion
  ) throws(AnnalsError) -> AnnalsError?

  /// Checks the closure's changes after it has run.
  func check(after transaction: WriteTransaction, on version: StoreVersion) throws(AnnalsError)

  /// The conflicts of a merge, for the caller. Throws them with `.error`.
  func resolved(
    _ conflicts: [MergeConflict], on version: StoreVersion
  ) throws(AnnalsError) -> [PropertyConflict]
}

extension StoreWriter {
  /// Runs the closure, and returns its changes as a transaction on the newest state.
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

  /// Starts a transaction on the newest state.
  private func begin(
    _ origin: TransactionOrigin, _ pending: PendingLargeValues
  ) -> WriteTransaction {
    let version = newest
    return WriteTransaction(
      base: version.state, working: head.takeWorkingState() ?? version.state, store: log.store,
      origin: origin, largeValues: pending, records: version.records)
  }

  /// Runs the closure between the two checks of the preconditions. Merges the changes if the
  /// closure ran on an earlier state.
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
    if merge == nil { transaction.assigned = [] }
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
    return try transaction.merged(into: version, from: merge) {
      conflicts throws(AnnalsError) in
      try preconditions.resolved(conflicts, on: version)
    }
  }
}

extension WriteTransaction {
  /// Merges this transaction, based on an earlier state, into a new one on the newest state. This
  /// one cannot be read any more.
  fileprivate func merged(
    into version: StoreVersion, from basis: MergeBasis,
    resolving: ([MergeConflict]) throws(AnnalsError) -> [PropertyConflict]
  ) throws(AnnalsError) -> WriteTransaction {
    let objects = touched.list
    var merge = ThreeWayMerge(
      basis, own: takeState(), stored: version.state, largeValues: largeValues)
    try merge.run(objects)
    resolvedConflicts = try resolving(merge.conflicts)
    for (inserted, stored) in merge.unitedObjects { unitedObjects[inserted] = stored }
    let result = WriteTransaction(
      base: version.state, working: merge.merged, store: reader.store, origin: origin,
      largeValues: largeValues, records: boundRecords)
    for object in merge.touched { result.touched.insert(object) }
    result.metadata = metadata
    result.violations = violations
    result.earlier = basis.base
    return result
  }
}
