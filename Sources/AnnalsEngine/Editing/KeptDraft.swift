import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState

/// What a draft says, apart from the state that it was made on: so it can be made again on another
/// one, later and in another process.
package struct KeptDraft: Sendable {
  /// Its net changes, before delete rules were followed and derived attributes computed.
  package var changes: [ChangeBatch]
  /// The objects that it, or a rule, changes or deletes, those that it refers to, and those with
  /// which these would go by rules, as they were before it: the deletion of each. So it is merged
  /// without history, which may be pruned.
  package var objects: [ChangeBatch]
  /// The number of the newest transaction below it.
  package var base: Int64

  package init(changes: [ChangeBatch], objects: [ChangeBatch], base: Int64) {
    (self.changes, self.objects, self.base) = (changes, objects, base)
  }
}

/// A draft that has passed the stages of a commit on a pending state, to be kept.
package struct WaitingDraft: Sendable {
  /// The draft's changes, as in `KeptDraft`, in the form in which transactions travel.
  package let changes: ProposedTransaction
  /// The objects as they were, as in `KeptDraft`.
  package let objects: ProposedTransaction
  /// The state with the draft.
  package let after: PendingState
}

/// A kept draft that was made again on another state, and has passed the stages of a commit.
package struct RebasedDraft: Sendable {
  /// The transaction; nil if there is nothing to record.
  package let proposed: ProposedTransaction?
  /// The state with the draft.
  package let after: PendingState
  /// The ids that the objects have which it has inserted, for those that have other ones.
  package let moves: [ObjectReference: ObjectReference]
  /// The conflicts that the merge policy resolved.
  package let conflicts: [PropertyConflict]
}

extension StoreWriter {
  /// The most objects that are kept only because a draft refers to them.
  private static let mostTargets = 1_000

  /// Runs the closure on a draft of a pending state over the newest one, and passes it through the
  /// stages, for the holder of the turn. Returns what is to be kept of it; nil if it changes
  /// nothing. Writes nothing to the file.
  ///
  /// Throws `.unsupported` if it changes the schema, what the closure throws, and as a commit does.
  package func keep(
    _ origin: TransactionOrigin, if preconditions: Preconditions = .none,
    on pending: PendingState, _ body: (WriteTransaction) throws -> Void
  ) throws -> WaitingDraft? {
    try AnnalsError.translatingFaults {
      let version = pending.version
      try preconditions.check(before: version)
      let transaction = WriteTransaction(try makeDraft(origin, if: preconditions, on: pending))
      try transaction.run(body, if: preconditions, on: version)
      let own = transaction.content
      guard own.changedEntities.isEmpty else {
        throw AnnalsError(
          .unsupported,
          "a draft that waits for the shared log cannot change the schema; nothing was recorded. "
            + "Change it once the log can be reached")
      }
      var stage = try pass(&transaction.content, if: preconditions, nil, on: version)
      guard stage.hasContent else { return nil }
      var (envelope, _) = stage.takeRecords()
      envelope.opening = envelope.opening ?? log.ownOpening
      let after = transaction.content
      let objects = try self.objects(before: own, after, on: version)
      func proposal(_ batch: ChangeBatch) -> ProposedTransaction {
        ProposedTransaction(
          base: version.token, envelope: envelope, parts: [batch],
          largeValues: pending.largeValues, schema: version.state.schema,
          conflicts: after.conflicts, mergedObjects: after.mergedObjects)
      }
      return WaitingDraft(
        changes: proposal(try own.netChanges()), objects: proposal(objects),
        after: pending.successor(after))
    }
  }

  /// An empty draft of a pending state; with a merge policy, of the state that the closure is based
  /// on.
  private func makeDraft(
    _ origin: TransactionOrigin, if preconditions: Preconditions, on pending: PendingState
  ) throws -> Draft {
    let version = pending.version
    var draft = version.makeDraft(origin, pending.largeValues)
    if preconditions.isEmpty { return draft }
    if let earlier = try preconditions.mergeNumber(on: version) {
      var base = try newest.stateForWriting(at: earlier)
      base.adoptNextRows(of: version.state)
      draft = Draft(
        origin, base: base, number: earlier, working: base, store: version.store,
        records: version.records, largeValues: pending.largeValues)
    }
    draft.assigned = []
    return draft
  }

  /// What a draft and rules have changed, what it refers to, and what these would go with by rules,
  /// as it was before.
  private func objects(
    before own: Draft, _ after: Draft, on version: StoreVersion
  ) throws -> ChangeBatch {
    var batch = ChangeBatch()
    var seen: Set<ObjectReference> = []
    var found: [(object: ObjectReference, state: State)] = []
    func add(_ object: ObjectReference) throws {
      guard seen.insert(object).inserted else { return }
      for state in [own.base, version.state] where try state.contains(object.entity, object.row) {
        batch.append(.delete, of: object, before: try Draft.values(of: object, in: state))
        found.append((object, state))
        return
      }
    }
    for object in own.touched.list { try add(object) }
    for object in after.touched.list { try add(object) }
    let limit = seen.count + StoreWriter.mostTargets
    let rules = rules(of: own).deletes
    for object in own.touched.list where try own.exists(object) {
      for relationship in rules.relationships(of: object.entity) {
        for target in try own.value(object, relationship.number).targets where seen.count < limit {
          try add(target)
        }
      }
    }
    // What is brought back needs what it would have gone with.
    while let (object, state) = found.popLast() {
      for relationship in rules.relationships(of: object.entity)
      where relationship.deleteRule != .nullify {
        let value = try state.value(object.entity, object.row, relationship.number)
        for target in value.targets where seen.count < limit { try add(target) }
      }
    }
    return batch
  }

  /// Makes a kept draft again on a pending state over the newest one, merges it with what others
  /// have changed, and passes it through the stages, for the holder of the turn. Writes nothing to
  /// the file.
  ///
  /// With `keepsRows`, its new objects keep their pending ids; else they get the next ones. Throws
  /// `.conflict` if the policy refuses it, what it changes is gone, or it undoes what is not the
  /// author's next step any more; and as a commit does.
  package func propose(
    _ kept: KeptDraft, _ origin: TransactionOrigin, merging policy: MergePolicy?,
    on pending: PendingState, after moves: ObjectMoves, keepsRows: Bool
  ) throws -> RebasedDraft {
    try AnnalsError.translatingFaults {
      let version = pending.version
      try pending.requireStep(of: origin)
      let number = min(max(kept.base, version.view.base), version.head.number)
      var replay = KeptDraftReplay(kept, on: pending, after: moves, keepsRows: keepsRows)
      var draft = try replay.draft(origin, number, CommitRules(version.state.schema))
      let preconditions = Preconditions(
        basedOn: Token(store: version.store, number: number, opening: 0), policy: policy)
      let proposed = try propose(
        &draft, if: preconditions, pending.largeValues, on: version, merges: true)
      var places: [ObjectReference: ObjectReference] = [:]
      for (given, made) in replay.inserted {
        let place = draft.mergedObjects[made] ?? made
        if place != given { places[given] = place }
      }
      return RebasedDraft(
        proposed: proposed, after: pending.successor(draft), moves: places,
        conflicts: draft.conflicts)
    }
  }
}

extension PendingState {
  fileprivate func successor(_ draft: Draft) -> PendingState {
    PendingState(
      version.successor(state: draft.reader.state, view: version.view), largeValues,
      drafts + [UndoDraft(author: draft.origin.author, undo: draft.origin.undo)])
  }
}
