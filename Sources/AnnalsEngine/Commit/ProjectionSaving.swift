import AnnalsLog

/// What the writer asks of the projections whose states it saves. It asks without holding a lock.
package protocol ProjectionSaving: Sendable {
  /// The greatest number of changes that a projection has applied since it was last saved.
  var unsavedChanges: Int { get }
  /// The newest states of projections that were read, are not yet saved, and are not being updated
  /// by a thread right now.
  func imagesToSave() -> [ProjectionImage]
  /// The newest states of all that are not yet saved. Throws if a projection fails.
  func imagesOfAll() throws(AnnalsError) -> [ProjectionImage]
  /// As `imagesOfAll`, without those that fail.
  func imagesOfWorking() -> [ProjectionImage]
  /// Throws `.unsupported` if one has a saved state and cannot be rebuilt without it; `what` names
  /// the file that would lack it.
  func requireMakeable(_ version: StoreVersion, _ what: String) throws(AnnalsError)
  /// Notes that these were saved. Called under the writer's lock; must not wait.
  func noteSaved(_ images: [ProjectionImage])
}
