import AnnalsModel

// An undo that waits is a draft as any, and stays its author's next step, or is in conflict.

extension StoreWriter {
  /// Undoes or redoes the author's next step on a draft of a pending state, as `keep` of a closure
  /// makes other changes.
  ///
  /// Throws as `propose`, and `.unsupported` if a draft that waits is or has the author's next
  /// step.
  package func keep(
    _ direction: UndoDirection, _ origin: TransactionOrigin, merging policy: MergePolicy?,
    on pending: PendingState
  ) throws -> (step: UndoStep, draft: WaitingDraft?) {
    try step(direction, origin, merging: policy, with: pending.drafts) {
      try keep($0, on: pending, $1)
    }
  }
}

extension PendingState {
  /// Throws `.conflict` if a draft undoes or redoes what is not its author's next step any more,
  /// and what says why there is none: the history of an author is a stack.
  func requireStep(of origin: TransactionOrigin) throws(AnnalsError) {
    guard let act = origin.undo.act else { return }
    let direction: UndoDirection = if case .undoes = act { .undo } else { .redo }
    let step = try version.nextStep(direction, of: origin.author, with: drafts)
    if direction.record(of: step).act == act { return }
    throw .conflict(
      "the draft was to \(direction) what is not the newest of its author any more; discard it, "
        + "and \(direction) anew", [])
  }
}
