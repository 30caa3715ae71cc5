import AnnalsLog
import AnnalsModel
import AnnalsState

// Undo and redo fill a draft with the inverse of a step, which passes the stages of any commit.

extension StoreWriter {
  /// Appends what undoes or redoes the next step of the origin's author, for a caller that has the
  /// turn. It is recorded even if nothing changes, so that the next undo takes the step before.
  ///
  /// Throws as `StoreVersion.nextStep`, as a revert does for each transaction of the step, and what
  /// the stages throw; then nothing is recorded.
  package func append(
    _ direction: UndoDirection, _ origin: TransactionOrigin, merging policy: MergePolicy?
  ) throws -> (step: UndoStep, result: CommitResult) {
    try step(direction, origin, merging: policy) { try append($0, $1) }
  }

  /// Proposes what `append` would append. Throws as that does.
  package func propose(
    _ direction: UndoDirection, _ origin: TransactionOrigin, merging policy: MergePolicy?
  ) throws -> (step: UndoStep, proposed: ProposedTransaction?) {
    try step(direction, origin, merging: policy) { try propose($0, $1) }
  }

  /// Calls `record` with the origin of the transaction that undoes or redoes the author's next
  /// step, behind drafts that wait, and with what fills it.
  func step<Result>(
    _ direction: UndoDirection, _ origin: TransactionOrigin, merging policy: MergePolicy?,
    with drafts: [UndoDraft] = [],
    by record: (TransactionOrigin, (WriteTransaction) throws -> Void) throws -> Result
  ) throws -> (UndoStep, Result) {
    let version = newest
    let step = try version.nextStep(direction, of: origin.author, with: drafts)
    var origin = origin
    origin.isAlwaysRecorded = true
    try origin.note(direction.record(of: step))
    return (
      step,
      try record(origin) { try undo(step, in: version, merging: policy, &$0.content) }
    )
  }

  /// What `append` would do now, without doing it. Throws what it would; the rules of the schema
  /// are checked by the commit alone, but for denied deletions. Safe on any thread.
  package func plan(
    _ direction: UndoDirection, of author: String?, merging policy: MergePolicy?
  ) throws -> UndoPlan {
    let version = head.published
    let step = try version.nextStep(direction, of: author)
    var draft = version.makeDraft(
      TransactionOrigin(author: author),
      HeldLargeValues(stored: LogLargeValues(version.view)))
    try undo(step, in: version, merging: policy, &draft)
    return try UndoPlan(step, direction, &draft, DeleteRules(version.state.schema))
  }

  /// Undoes the transactions of a step in a draft of the newest state, the last one first.
  func undo(
    _ step: UndoStep, in version: StoreVersion, merging policy: MergePolicy?, _ draft: inout Draft
  ) throws {
    var after: State?
    var place = step.numbers.upperBound
    for number in try version.transactions(of: step) {
      if let known = after { after = try version.state(at: number, undoing: known, asOf: place) }
      var inverse = try TransactionInverse(of: number, in: version, after: after)
      inverse.step = step
      if let policy {
        try undo(inverse, in: version, merging: policy, &draft)
      } else {
        try inverse.compare(with: draft.reader.state)
        if let refusal = inverse.plan.refusal("undone") { throw refusal }
        try draft.undo(inverse)
      }
      (after, place) = (inverse.before, number - 1)
    }
  }

  /// Merges the inverse of a transaction, as a write on the state just after it, into a draft.
  private func undo(
    _ inverse: TransactionInverse, in version: StoreVersion, merging policy: MergePolicy,
    _ draft: inout Draft
  ) throws {
    if let refusal = inverse.plan.refusal("undone") { throw refusal }
    let number = inverse.plan.transaction.number
    let base = try version.forWriting(inverse.after)
    var own = Draft(
      draft.origin, base: base, number: number, working: base, store: version.store,
      records: version.records, largeValues: draft.largeValues)
    try own.undo(inverse)
    let basis = MergeBasis(
      base: base, policy: policy,
      erased: try version.erasures(after: number).flatMap(\.erasure.targets))
    let working = version.successor(state: draft.reader.state, view: version.view)
    var merge = GraphMerge(basis, working, DeleteRules(version.state.schema))
    let merged = try merge.run(own)
    let preconditions = Preconditions(basedOn: try version.token(of: number), policy: policy)
    let found = try preconditions.resolved(merge.conflicts, on: version, besides: inverse.step)
    draft.adopt(merged, found)
  }
}

extension Draft {
  /// Continues from a draft of this one's working state.
  fileprivate mutating func adopt(_ next: Draft, _ found: [PropertyConflict]) {
    reader = next.reader
    for object in next.touched.list { touched.insert(object) }
    deletions += next.deletions
    violations += next.violations
    earlier = next.earlier
    conflicts += found
    for (inserted, stored) in next.mergedObjects { mergedObjects[inserted] = stored }
  }
}

extension StoreVersion {
  /// The author's transactions in a step, the last one first. O(count) memory.
  fileprivate func transactions(of step: UndoStep) throws(AnnalsError) -> [Int64] {
    if step.count == 1 { return [step.numbers.upperBound] }
    var history = AuthorHistory(of: step.author, in: self)
    var numbers: [Int64] = []
    var place = step.numbers.upperBound
    while place >= step.numbers.lowerBound, case .entry(let entry) = try history.newest(place) {
      numbers.append(entry.number)
      place = entry.number - 1
    }
    return numbers
  }
}
