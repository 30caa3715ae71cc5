import AnnalsLog

/// What the writer asks of the projections whose states it saves. It asks without holding a lock.
package struct ProjectionSaving: Sendable {
  /// The greatest number of changes that a projection has applied since it was last saved.
  let unsavedChanges: @Sendable () -> Int
  /// The newest states of projections that were read, are not yet saved, and are not being updated
  /// by a thread right now.
  let imagesToSave: @Sendable () -> [ProjectionImage]
  /// The newest states of all that are not yet saved. Throws if a projection fails.
  let imagesOfAll: @Sendable () throws(AnnalsError) -> [ProjectionImage]
  /// As `imagesOfAll`, without those that fail.
  package let imagesOfWorking: @Sendable () -> [ProjectionImage]
  /// Throws `.unsupported` if one has a saved state and cannot be rebuilt without it; the text
  /// names the file that would lack it.
  let requireMakeable: @Sendable (StoreVersion, String) throws(AnnalsError) -> Void
  /// Notes that these were saved. Called under the writer's lock; must not wait.
  let noteSaved: @Sendable ([ProjectionImage]) -> Void

  /// Creates the value of its functions.
  package init(
    unsavedChanges: @escaping @Sendable () -> Int,
    imagesToSave: @escaping @Sendable () -> [ProjectionImage],
    imagesOfAll: @escaping @Sendable () throws(AnnalsError) -> [ProjectionImage],
    imagesOfWorking: @escaping @Sendable () -> [ProjectionImage],
    requireMakeable: @escaping @Sendable (StoreVersion, String) throws(AnnalsError) -> Void,
    noteSaved: @escaping @Sendable ([ProjectionImage]) -> Void
  ) {
    self.unsavedChanges = unsavedChanges
    self.imagesToSave = imagesToSave
    self.imagesOfAll = imagesOfAll
    self.imagesOfWorking = imagesOfWorking
    self.requireMakeable = requireMakeable
    self.noteSaved = noteSaved
  }
}
