import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

extension StoreWriter {
  /// Closing or compacting a store checkpoints after at least this many changes.
  private static let changesWorthACheckpoint = 5_000

  /// Notes whether the log since the last checkpoint exceeds the threshold.
  func noteLength(of view: LogView) {
    if view.bytesSinceCheckpoint > checkpointThreshold.load(ordering: .relaxed) {
      isCheckpointDue.store(true, ordering: .relaxed)
    }
  }

  /// Writes a checkpoint if the log since the last one exceeds the size of a new one.
  ///
  /// Ignores failures: the transactions are acknowledged, and the next call will meet the same
  /// error.
  package func checkpointIfDue() {
    guard isCheckpointDue.load(ordering: .relaxed),
      isCheckpointDue.exchange(false, ordering: .relaxed)
    else { return }
    let images = imagesToSave()
    ignoringFailure { writer in
      let cost = UInt64(writer.newest.state.unsavedByteEstimate)
      guard writer.log.bytesSinceCheckpoint > cost else {
        writer.checkpointThreshold.store(
          max(StoreWriter.leastCheckpointInterval, cost), ordering: .relaxed)
        return
      }
      writer.checkpointThreshold.store(
        StoreWriter.leastCheckpointInterval, ordering: .relaxed)
      try writer.checkpoint(saving: images)
    }
  }

  private func imagesToSave() -> [ProjectionImage] {
    projections.withLock { $0 }?.imagesToSave() ?? []
  }

  /// Writes a checkpoint of the newest state, and saves those projections that belong to this
  /// history and were made from this generation of the file, if anything was ever erased.
  package func checkpoint(saving images: [ProjectionImage] = []) throws {
    var state = newest.state
    let view = log.view
    let images = images.filter { image in
      guard view.mayContinue(from: image.generation) else { return false }
      guard let position = try? view.position(of: image.position.number) else { return false }
      // The base's size may be unknown.
      return [position.openingID, 0].contains(image.position.opening) || position.openingID == 0
    }
    let source = LogChunkSource(view.file)
    _ = try AnnalsError.translating {
      try log.writeCheckpoint(schema: state.schema, projections: images) { chunks in
        try state.writeChunks(full: false, source: source) {
          try chunks($0, $1, $2)
        }
      }
    }
    projections.withLock { $0 }?.noteSaved(images)
    adopt(state)
  }

  /// Makes sure that few changes follow the newest checkpoint, and that all its chunks can be read:
  /// if some are damaged, a checkpoint is rebuilt from the base and the history. Projections are
  /// saved with a checkpoint that is written.
  package func renewCheckpoint(saving images: [ProjectionImage]) throws {
    do {
      if hasMuchToSave { try checkpoint(saving: images) }
      if try log.view.holdsCheckpoint(atOrBefore: head.newestPosition.number) { return }
    } catch let error as AnnalsError where error.code == .damaged {}
    try reload(from: .base)
    try checkpoint(saving: images)
  }

  /// Whether many changes follow the newest checkpoint, or the saved state of a projection that has
  /// applied them; or the checkpoint lacks an index of many entries, which would be built at each
  /// opening.
  private var hasMuchToSave: Bool {
    let unsaved = projections.withLock { $0 }?.unsavedChanges ?? 0
    let least = StoreWriter.changesWorthACheckpoint
    return max(Int(log.changesSinceCheckpoint), unsaved) > least
      || newest.state.unsavedIndexEntries > least
  }

  /// Removes the file if it is still as it was created, or leaves an empty one in its place, and
  /// closes. Other processes may have opened it meanwhile; their next write fails, since the file
  /// is gone.
  package func discardIfUnused(leavingEmpty: Bool) {
    try? writeAlone { writer in
      guard writer.head.newestPosition.number == 0 else { return }
      if leavingEmpty {
        try writer.log.replaceWithEmpty()
      } else {
        try writer.log.remove()
      }
    }
    try? close()
  }

  /// Writes a checkpoint if it is worth it, and closes.
  package func checkpointAndClose() throws {
    if log.hasPendingAdvances, !log.isPoisoned { ignoringFailure { try $0.appendAdvances() } }
    if !options.isReadOnly, !log.isPoisoned, hasMuchToSave, try !isBare() {
      let images = imagesToSave()
      ignoringFailure { try $0.checkpoint(saving: images) }
    }
    try close()
    if let failure = backgroundFailure.withLock({ $0.take() }) { throw failure }
  }

  /// Runs `body` as the only writer and ignores its errors, except those that may have lost
  /// `.deferred` commits: `close()` rethrows them.
  func ignoringFailure(waiting wait: LockWait? = nil, _ body: (StoreWriter) throws -> Void) {
    do {
      try writeAlone(waiting: wait, body)
    } catch let error as AnnalsError {
      guard error.code == .outcomeUnknown, options.durability == .deferred else { return }
      backgroundFailure.withLock { $0 = error }
    } catch {}
  }
}
