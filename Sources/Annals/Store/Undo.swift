import AnnalsEngine
import AnnalsModel

extension Store {
  /// Undoes the author's newest transaction that is not undone, or the newest group of them, by a
  /// transaction of the author's own that names what it undoes.
  ///
  /// Deletes what the step inserted, by the delete rules; revives what it deleted under its own id;
  /// and restores the values before, where the values still are those that the step left. What
  /// others changed elsewhere stays. A further undo takes the step before, a redo undoes the undo,
  /// and whatever else the author writes clears what could be redone: a revert is such a write, and
  /// so is an erasure. All of it is in the file, so it holds after a relaunch, for every process,
  /// and in a copy, back to where history was pruned.
  ///
  /// Costs the transactions since the step.
  ///
  /// - Parameters:
  ///   - author: whose transactions; nil for those without an author.
  ///   - context: in what context the author undoes them.
  ///   - metadata: key-value pairs to store with the new transaction.
  ///   - merging: what becomes of values that others have changed since; nil refuses the undo. The
  ///     undo is then merged as a write on the state just after each transaction of the step; see
  ///     `MergePolicy`. Even if nothing of it remains, the step is undone.
  /// - Returns: what was undone, the position after the new transaction, and the conflicts that the
  ///   policy resolved.
  /// - Throws: `.nothingToUndo`, or `.pruned` and `.lost` if the history that is known has nothing;
  ///   `.conflict` with the properties that others changed; `.unsupported` if the step
  ///   removed or renamed something in the schema; `.erased` if a value of it was erased; and as
  ///   `write` does. Then nothing is recorded, and the step remains the next.
  @discardableResult
  public func undo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) throws -> Commit<UndoStep> {
    try writer.write(step(.undo, author, context, metadata, merging))
  }

  /// Undoes the author's newest undo, if the author has written nothing else since, by a
  /// transaction of the author's own that names it. The step can then be undone again.
  ///
  /// Parameters, errors and cost are those of `undo`. `.nothingToUndo` also if the author has
  /// written since.
  @discardableResult
  public func redo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) throws -> Commit<UndoStep> {
    try writer.write(step(.redo, author, context, metadata, merging))
  }

  /// As `undo`, for a task; the rest is as with the asynchronous `write`.
  @discardableResult
  public func undo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) async throws -> Commit<UndoStep> {
    try await writer.commitOfTask(step(.undo, author, context, metadata, merging))
  }

  /// As `redo`, for a task; the rest is as with the asynchronous `write`.
  @discardableResult
  public func redo(
    author: String?, context: String? = nil, metadata: [String: Value] = [:],
    merging: MergePolicy? = nil
  ) async throws -> Commit<UndoStep> {
    try await writer.commitOfTask(step(.redo, author, context, metadata, merging))
  }

  /// What makes a step once the writer has its turn.
  private func step(
    _ direction: UndoDirection, _ author: String?, _ context: String?, _ metadata: [String: Value],
    _ policy: MergePolicy?
  ) -> @Sendable (StoreWriter) throws -> Commit<UndoStep> {
    let origin = TransactionOrigin(author: author, context: context, metadata: metadata)
    return { writer in
      try Commit { value in
        let (step, result) = try writer.append(direction, origin, merging: policy)
        value = step
        return result
      }
    }
  }

  /// What `undo` takes next, and after that, newest first: for a menu, or to say whether there is
  /// anything. Ends where history was pruned or lost.
  ///
  /// Reads no more history than these steps need, backward from the newest transaction; what was
  /// undone is skipped.
  ///
  /// - Parameters:
  ///   - author: whose transactions; nil for those without an author.
  ///   - limit: the most steps.
  /// - Returns: the steps; empty if there is nothing to undo.
  /// - Throws: `.damaged` or `.io` if history cannot be read.
  public func undoable(author: String?, limit: Int = 100) throws(AnnalsError) -> [UndoStep] {
    try version.steps(.undo, of: author, limit: limit)
  }

  /// What `redo` takes next, and after that: each step is a transaction that undoes something. As
  /// `undoable`.
  ///
  /// - Parameters:
  ///   - author: whose transactions; nil for those without an author.
  ///   - limit: the most steps.
  /// - Returns: the steps; empty if there is nothing to redo.
  /// - Throws: `.damaged` or `.io` if history cannot be read.
  public func redoable(author: String?, limit: Int = 100) throws(AnnalsError) -> [UndoStep] {
    try version.steps(.redo, of: author, limit: limit)
  }

  /// What `undo` would do now, without doing it. Throws what it would throw, except for rules that
  /// only a commit checks.
  public func undoPlan(
    author: String?, merging: MergePolicy? = nil
  ) throws -> UndoPlan {
    try writer.plan(.undo, of: author, merging: merging)
  }

  /// What `redo` would do now, without doing it. As `undoPlan`.
  public func redoPlan(
    author: String?, merging: MergePolicy? = nil
  ) throws -> UndoPlan {
    try writer.plan(.redo, of: author, merging: merging)
  }
}
