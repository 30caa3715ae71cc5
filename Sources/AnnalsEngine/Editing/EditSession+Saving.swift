import AnnalsLog
import AnnalsModel
import AnnalsState

// Where the draft is based on another state from here on.
extension EditSession {
  /// Commits what is pending, and goes on with the newest state and the same steps, which are
  /// forgotten if others have written meanwhile. If it throws, all is as before, except where the
  /// error says otherwise (`outcomeUnknown`).
  package func save(
    by writer: StoreWriter, if preconditions: Preconditions
  ) throws -> CommitResult {
    try requireOutside()
    let result = try writer.commit(draft, if: preconditions)
    goOn(after: result, on: writer.head.published)
    return result
  }

  /// What is pending, to be committed by somebody else. Until `endSaving` nothing can be edited,
  /// though it can be rolled back. Throws `.nestedWrite` within an edit, or if it is being saved.
  package func beginSaving() throws(AnnalsError) -> Draft {
    try requireOutside()
    isSaving = true
    return draft
  }

  /// Ends a save: goes on with the newest state, which has what was pending, or, without a result,
  /// as before.
  package func endSaving(_ result: CommitResult?, on newest: StoreVersion) {
    isSaving = false
    if let result { goOn(after: result, on: newest) }
  }

  private func goOn(after result: CommitResult, on newest: StoreVersion) {
    let isAlone = result.mergedObjects.isEmpty && newest.head.number <= draft.number + 1
    var steps = SessionSteps(undo: undoSteps, redo: redoSteps)
    if isAlone, !steps.haveStoredLargeValues { steps.move(result.moves) } else { steps.clear() }
    let origin = draft.origin
    largeValues.read(from: LogLargeValues(newest.view))
    restart(newest, newest.makeDraft(origin, largeValues), steps)
  }

  /// Saves what is pending into the parent, as one step of it. A child whose parent has changed
  /// meanwhile is merged into that. If it throws, both are as before.
  package func save(
    into parent: EditSession, as name: String, merging policy: MergePolicy?
  ) throws -> CommitResult {
    try requireOutside()
    try parent.requireOutside(allowsGroup: true)
    var result = CommitResult(token: version.token)
    var nested = draft
    var steps = SessionSteps(undo: undoSteps, redo: redoSteps)
    if isBehindParent {
      let target = parent.pendingVersion
      (nested, result.moves) = try merged(onto: target, policy)
      result.conflicts = nested.conflicts
      result.mergedObjects = nested.mergedObjects
      result.nameAsGiven(result.moves)
      steps.clear()
    }
    if let failure = nested.failure { throw failure }
    try parent.adopt(&nested, as: name)
    version = parent.version
    parentRevision = parent.revision
    restart(version, parent.draft.nested(), steps)
    return result
  }

  /// Merges what is pending into a newer state, and goes on there. What the steps take back is what
  /// this session has changed. If it throws, all is as before.
  package func refresh(
    onto newest: StoreVersion, merging policy: MergePolicy?
  ) throws -> CommitResult {
    try requireOutside()
    var result = CommitResult(token: newest.token)
    let target = parent?.pendingVersion ?? newest
    let isCurrent = parent == nil ? newest.token == version.token : !isBehindParent
    if isCurrent { return result }
    let base = draft.base
    let (merged, moves) = try merged(onto: target, policy)
    var steps = SessionSteps(undo: undoSteps, redo: redoSteps)
    steps.move(moves)
    try steps.rebase(from: base, to: target.state)
    (result.conflicts, result.moves) = (merged.conflicts, moves)
    result.mergedObjects = merged.mergedObjects
    result.nameAsGiven(moves)
    if !merged.mergedObjects.isEmpty { steps.clear() }
    parentRevision = parent?.revision ?? 0
    if parent == nil { largeValues.read(from: LogLargeValues(newest.view)) }
    restart(parent?.version ?? newest, merged, steps)
    return result
  }

  /// Drops what is pending, and goes on with a newer state.
  package func rollBack(onto newest: StoreVersion) {
    let origin = draft.origin
    guard let parent else {
      largeValues.read(from: LogLargeValues(newest.view))
      return restart(newest, newest.makeDraft(origin, largeValues), SessionSteps())
    }
    parentRevision = parent.revision
    restart(parent.version, parent.draft.nested(), SessionSteps())
  }

  /// What is pending, as a version for children.
  private var pendingVersion: StoreVersion {
    version.successor(state: draft.reader.state, view: version.view)
  }

  /// What is pending as a draft of another state.
  private func merged(
    onto target: StoreVersion, _ policy: MergePolicy?
  ) throws -> (draft: Draft, moves: [ObjectReference: ObjectReference]) {
    let basedOn = try target.position(of: draft)
    let (moved, moves) = try draft.withoutRuleEffects().moved(to: target)
    let basis = MergeBasis(
      base: moved.base, policy: policy,
      erased: try target.erasures(after: basedOn.number).flatMap(\.erasure.targets))
    var merge = GraphMerge(basis, target, DeleteRules(target.state.schema))
    var result = try merge.run(moved)
    result.conflicts = try Preconditions(basedOn: basedOn, policy: policy)
      .resolved(merge.conflicts, on: target)
    result.opening = target.head.openingID
    result.violations = moved.violations
    for (effects, before) in merge.effects { try result.keep(effects, from: before) }
    return (result, moves)
  }
}
