import AnnalsEngine
import AnnalsModel

extension EditingContext {
  /// Whether anything is pending that `save` would commit: what cancels out is not.
  public var hasChanges: Bool {
    noteReading()
    // What cannot be read cannot be compared; `save` says why.
    return failure != nil || (try? session.hasChanges()) ?? true
  }

  /// What is pending, as history would have it: one change per object, with the values before and
  /// after. Its transaction's number is that of the state that the context is based on. O(objects
  /// touched).
  public func changes() throws(AnnalsError) -> [Change] {
    noteReading()
    return try session.changes()
  }

  /// The names of the properties of an object that are pending; of a new or deleted one, those that
  /// have or had a value. O(objects touched).
  public func changedProperties(of id: ObjectID) throws(AnnalsError) -> [String] {
    try changes().first { $0.objectID == id }?.changedProperties ?? []
  }

  /// Every rule that what is pending breaks: validations, required values, unique keys, and delete
  /// rules that deny. Empty if `save` would find none, unless others write before it. Throws only
  /// what reading throws, and why a property could not be set. O(objects touched).
  public func validate() throws(AnnalsError) -> [ValidationViolation] {
    noteReading()
    if let failure { throw failure }
    return try session.violations()
  }

  /// Commits what is pending as one transaction, merged with what others have written since; a
  /// child's goes into its parent as one step. Then the context goes on with the newest state.
  ///
  /// - Parameters:
  ///   - policy: how to merge a property that others have changed, too. Without one, such a save is
  ///     refused; what others changed in other properties never matters.
  ///   - name: what a child's step is called in its parent.
  /// - Returns: the position after the transaction, the conflicts that the policy resolved, and
  ///   which new objects have got other ids; `EditableObject`s follow by themselves. If nothing is
  ///   pending nothing is recorded. Of a child: the position that its parent is based on.
  /// - Throws: `.conflict` with the properties that both changed, `.invalidChange` with every
  ///   broken rule, and as `Store.write` does; then everything is still pending. If a property
  ///   could not be set, why, until `rollback`.
  @discardableResult
  public func save(
    merging policy: MergePolicy? = nil, as name: String = "Edit"
  ) throws -> Commit<Void> {
    if let failure { throw failure }
    let result = try following { () throws in
      guard let parent else {
        return try session.save(by: store.writer, if: Preconditions(policy: policy))
      }
      return try session.save(into: parent.session, as: name, merging: policy)
    }
    return Commit((), result)
  }

  /// Whether what is pending is being saved through a replica. Until that is done, edits are
  /// refused, and a property that is set stays as it is: a form is disabled then.
  public var isSaving: Bool {
    noteReading()
    return session.isSaving
  }

  /// Saves as `save`, with a commit that somebody else makes, and which may take its time. If that
  /// throws, everything is still pending.
  nonisolated(nonsending) package func save(
    as name: String, merging policy: MergePolicy?,
    _ commit: @Sendable (Draft) async throws -> CommitResult
  ) async throws -> Commit<Void> {
    if parent != nil { return try save(merging: policy, as: name) }
    if let failure { throw failure }
    let draft = try session.beginSaving()
    let outcome: CommitResult
    do {
      outcome = try await commit(draft)
    } catch {
      session.endSaving(nil, on: store.version)
      throw error
    }
    let result = following {
      session.endSaving(outcome, on: store.version)
      return outcome
    }
    return Commit((), result)
  }

  /// Merges what is pending into the newest state that is acknowledged here, or into what is
  /// pending in the parent, and goes on there. Throws `.conflict` as `save` does; then all is as
  /// before. Costs what is pending, and the transactions since.
  @discardableResult
  public func refresh(merging policy: MergePolicy? = nil) throws -> Commit<Void> {
    let result = try following { () throws in
      try session.refresh(onto: store.version, merging: policy)
    }
    return Commit((), result)
  }

  /// Drops what is pending, and the steps, and goes on with the newest state. New objects are
  /// deleted ones then. Traps inside the closure of an edit or a group, which is to throw instead.
  public func rollback() {
    insist(
      !session.isWithinEdit(allowsGroup: false), "a context is rolled back inside an edit of it")
    failure = nil
    dropProvisional { $0.isGone = true }
    session.rollBack(onto: store.version)
  }
}
