import Annals
import AnnalsEngine

extension Replica {
  /// Saves an editing context over this replica's store, for all replicas: what is pending becomes
  /// one transaction, merged with what others have written since, as `EditingContext.save` says.
  /// Then the context goes on with the newest state.
  ///
  /// While this waits for the log, the context cannot be edited (`EditingContext.isSaving`); it can
  /// be read, and rolled back, which does not take the save back. A child's goes into its parent at
  /// once. What is pending does not wait in the outbox: it stays pending.
  ///
  /// The parameters and what is returned are as in `EditingContext.save`. Throws
  /// `AnnalsError.invalidArgument` for a context of another store, as that does, and as `write`;
  /// then everything is still pending, unless it is `.outcomeUnknown`, or `.notInFile`.
  @discardableResult
  nonisolated(nonsending) public func save(
    _ context: EditingContext, merging policy: MergePolicy? = nil, as name: String = "Edit"
  ) async throws -> Commit<Void> {
    guard context.store === store else {
      throw AnnalsError(
        .invalidArgument, "the editing context is not of this replica's store; make it on `store`")
    }
    return try await context.save(as: name, merging: policy) { draft in
      let preconditions = Preconditions(policy: policy)
      let commit = try await self.submit { writer in
        let proposed = try writer.propose(draft, if: preconditions)
        return (proposed, proposed)
      }
      return commit.value?.result(at: commit.token) ?? CommitResult(at: commit.token)
    }
  }
}
