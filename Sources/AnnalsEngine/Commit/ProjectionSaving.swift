import AnnalsLog

/// What the writer asks of the projections whose states it saves with checkpoints. It asks without
/// holding a lock.
package struct ProjectionSaving: Sendable {
  /// The greatest number of changes that a projection has applied since it was last saved.
  let unsavedChanges: @Sendable () -> Int
  /// The newest states of projections that were read, are not yet saved, and are not being updated
  /// by a thread right now.
  let imagesToSave: @Sendable () -> [ProjectionImage]
  /// Notes that these were saved. Called under the writer's lock; must not wait.
  let noteSaved: @Sendable ([ProjectionImage]) -> Void

  /// Creates the value of its three functions.
  package init(
    unsavedChanges: @escaping @Sendable () -> Int,
    imagesToSave: @escaping @Sendable () -> [ProjectionImage],
    noteSaved: @escaping @Sendable ([ProjectionImage]) -> Void
  ) {
    self.unsavedChanges = unsavedChanges
    self.imagesToSave = imagesToSave
    self.noteSaved = noteSaved
  }
}
