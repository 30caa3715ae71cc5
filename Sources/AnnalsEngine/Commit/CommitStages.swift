// One commit, from top to bottom. A draft passes these stages in this order, whoever filled it: a
// closure, a revert, an import, an erasure. To add a stage, add a call in `append(_:if:)`.
//
//    turn            the writer's lock, the file lock, catching up with other processes (`write`)
// 1. delete rules    what refers to deleted objects is deleted, or its references cleared
// 2. preconditions   `basedOn:` and `expecting:` hold
// 3. merge           changes of an earlier state go into the newest one, by delete rules, too
// 4. derived         what derived attributes the changes have an effect on is computed
// 5. origin          date and metadata can be recorded
// 6. uniqueness      no unique key occurs twice
// 7. changes         of each object: its net change (normalise), checked against the schema
//                    (rules), as a record (encode); full parts go to the log, uncommitted
// 8. append          the last part; from now on the commit is the newest state
//    sync            shared with the commits of its group; none with `.deferred`
//    publish         readers and the feed see it
//
// A replica's commit passes stages 1 to 7 without the log (`StoreWriter+Propose.swift`). Once a log
// that others share has ordered it, it comes back as records, on every replica alike, and goes
// through *given* and *append* (`GivenStage.swift`).
//
// Through stage 7 the draft can still be refused; then no trace remains. Uniqueness is before the
// changes, which release the states: so indexes that nobody else has are changed in place.

import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// What a commit tells its caller.
package struct CommitResult: Sendable {
  /// The position after the transaction; the head's if nothing changed.
  package let token: Token
  /// The conflicts that a merge policy resolved.
  package var conflicts: [PropertyConflict] = []
  /// The objects that a merge united with stored ones, by the ids under which they were inserted.
  package var mergedObjects: [ObjectReference: ObjectReference] = [:]
  /// Where the new objects of a draft that was filled outside of a write have moved, since others
  /// have used their rows.
  package var moves: [ObjectReference: ObjectReference] = [:]
}

extension CommitResult {
  /// What a commit tells that had nothing to record.
  package init(at token: Token) { self.init(token: token) }
}

extension StoreWriter {
  /// Runs the closure on a draft of the newest state, commits that, and writes a checkpoint if one
  /// is due. Stops waiting for the file lock once `isCancelled` is true.
  ///
  /// If it throws, no trace remains, except where the error says otherwise (`outcomeUnknown`).
  package func commit(
    _ origin: TransactionOrigin, if preconditions: Preconditions = .none,
    unless isCancelled: (@Sendable () -> Bool)? = nil, _ body: (WriteTransaction) throws -> Void
  ) throws -> CommitResult {
    // `write` takes the turn, and then syncs as a leader or follower; the leader publishes.
    let result = try write(unless: isCancelled) {
      try $0.append(origin, if: preconditions, body)
    }
    checkpointIfDue()
    return result
  }

  /// Runs the closure on a draft of the newest state, and appends that, for a caller that has the
  /// turn. If it throws, no trace remains.
  package func append(
    _ origin: TransactionOrigin, if preconditions: Preconditions = .none,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> CommitResult {
    try appendingLargeValues { pending in
      let transaction = WriteTransaction(
        try makeDraft(origin, for: preconditions, pending, isAppended: true))
      try transaction.run(body, if: preconditions, on: newest)
      return try append(&transaction.content, if: preconditions, pending)
    }
  }

  /// Runs `body`, whose draft writes large values ahead. Aborts what these have begun in the log if
  /// it throws.
  func appendingLargeValues(
    _ body: (PendingLargeValues) throws -> CommitResult
  ) throws -> CommitResult {
    let pending = PendingLargeValues(log: log)
    do {
      return try body(pending)
    } catch {
      if pending.hasBegun { log.abort() }
      if error is LogError || error is StateFault { throw AnnalsError.translated(error) }
      throw error
    }
  }

  /// The stages. Releases the draft's states. If it throws, the caller aborts what `pending` has
  /// begun in the log.
  func append(
    _ draft: inout Draft, if preconditions: Preconditions, _ pending: PendingLargeValues
  ) throws -> CommitResult {
    try requireOwnOrder()
    try requireNoSharedLog()
    var changes = try pass(&draft, if: preconditions, pending)
    if changes.hasContent { try append(&changes, of: &draft) } else { drop(&changes, pending) }
    let newest = head.newestPosition
    return CommitResult(
      token: Token(store: log.store, number: newest.number, opening: newest.openingID),
      conflicts: draft.conflicts, mergedObjects: draft.mergedObjects)
  }

  /// The stages before the transaction is appended. Its records are in the log, uncommitted, or
  /// without `pending` in memory. `target` is the newest version if it is nil, or that with other
  /// drafts over it; with `merges`, the draft is one of another state even if its number is the
  /// newest.
  func pass(
    _ draft: inout Draft, if preconditions: Preconditions, _ pending: PendingLargeValues?,
    on target: StoreVersion? = nil, merges: Bool = false
  ) throws -> ChangeStage {
    let number = precedingPosition.number
    let isNewest = draft.number == number && !merges
    var rules = rules(of: draft)
    if isNewest, !draft.deletions.isEmpty { _ = try draft.apply(rules.deletes) }
    if !preconditions.isEmpty, isNewest || preconditions.policy != nil {
      try preconditions.check(after: draft, on: target ?? newest)
    }
    if !isNewest {
      try merge(&draft, into: target ?? newest, if: preconditions, by: rules)
      rules = self.rules(of: draft)
    }
    draft.dropPassingItems()
    try draft.derive(rules.derivations)
    try draft.origin.requireStorable(after: number)
    try draft.checkUniqueness()
    var changes = ChangeStage(self, draft, rules, pending)
    try changes.run(draft)
    return changes
  }

  /// A draft of the newest state; with a merge policy, of the state that the closure is based on.
  /// One that is appended at once may change the working state.
  func makeDraft(
    _ origin: TransactionOrigin, for preconditions: Preconditions,
    _ pending: any LargeValueSink, isAppended: Bool
  ) throws -> Draft {
    let version = newest
    if !preconditions.isEmpty {
      try preconditions.check(before: version)
      if let earlier = try preconditions.mergeNumber(on: version) {
        let base = try version.stateForWriting(at: earlier)
        return Draft(
          origin, base: base, number: earlier, working: base, store: log.store,
          records: version.records, largeValues: pending)
      }
    }
    var draft = Draft(
      origin, base: version.state, number: version.head.number,
      working: (isAppended ? head.takeWorkingState() : nil) ?? version.state, store: log.store,
      records: version.records, largeValues: pending)
    draft.progress = options.progress.map { ProgressReport(tell: $0) }
    if !preconditions.isEmpty { draft.assigned = [] }
    return draft
  }
}
