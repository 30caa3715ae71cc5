import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

/// Who keeps projections of which the writer saves the states. Asked with no lock held.
package protocol ProjectionKeeper: AnyObject, Sendable {
  /// How many changes they have taken in since they were last saved, at the most.
  var unsavedChanges: Int { get }
  /// Notes that these were saved. Called under the writer's lock, and waits for nobody.
  func noteSaved(_ images: [ProjectionImage])
  /// The newest states of those that were read, as far as they are not saved and no thread is just
  /// at work on them.
  func imagesToSave() -> [ProjectionImage]
}

extension StoreWriter {
  /// Checkpoints after this many changes when the store is closed or compacted.
  private static let changesWorthACheckpoint = 5_000

  /// Notes whether the log behind the last checkpoint has outgrown the threshold.
  func noteLength(of view: LogView) {
    if view.bytesSinceCheckpoint > checkpointThreshold.load(ordering: .relaxed) {
      isCheckpointDue.store(true, ordering: .relaxed)
    }
  }

  /// Writes a checkpoint if the log behind the last one has outgrown what a new one would take.
  ///
  /// Failures are left for the next call to meet: the transactions before are acknowledged.
  package func checkpointIfDue() {
    guard isCheckpointDue.load(ordering: .relaxed),
      isCheckpointDue.exchange(false, ordering: .relaxed)
    else { return }
    let images = imagesToSave()
    notingFailure { writer in
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

  /// Writes a checkpoint of the newest state, and saves with it those of projections that are of
  /// this history still.
  package func checkpoint(saving images: [ProjectionImage] = []) throws {
    var state = newest.state
    let images = images.filter { image in
      guard let position = try? log.view.position(of: image.position.number) else { return false }
      // That of the base may be unknown.
      return [position.openingID, 0].contains(image.position.opening) || position.openingID == 0
    }
    let source = LogChunkSource(log.view.file)
    do throws(LogError) {
      try log.writeCheckpoint(schema: state.schema, projections: images) { chunks in
        try state.writeChunks(to: chunks, of: source, full: false)
      }
    } catch {
      throw AnnalsError(error)
    }
    projections.withLock { $0 }?.noteSaved(images)
    adopt(state)
  }

  /// Sees to it that few changes lie behind the newest checkpoint, and that it can be read with all
  /// its chunks: if some are damaged, one is made anew from the base and the history. States of
  /// projections are saved with one that is written.
  package func renewCheckpoint(saving images: [ProjectionImage]) throws {
    do {
      if hasMuchToSave { try checkpoint(saving: images) }
      if try log.view.holdsCheckpoint(atOrBefore: head.newestPosition.number) { return }
    } catch let error as AnnalsError where error.code == .damaged {}
    try reload(from: .base)
    try checkpoint(saving: images)
  }

  /// Whether many changes lie behind the newest checkpoint, or behind the saved state of a
  /// projection that has taken them in.
  private var hasMuchToSave: Bool {
    let unsaved = projections.withLock { $0 }?.unsavedChanges ?? 0
    return max(Int(log.changesSinceCheckpoint), unsaved) > StoreWriter.changesWorthACheckpoint
  }

  /// Removes the file if it is still as it was made, and closes. Other processes may have opened it
  /// meanwhile; what they write next fails, as there is no file any more.
  package func discardIfUnused() {
    try? writeAlone { writer in
      guard writer.head.newestPosition.number == 0 else { return }
      try writer.log.remove()
    }
    try? close()
  }

  /// Checkpoints if it is worth it, and closes.
  package func finish() throws {
    if log.hasPendingAdvances, !log.isPoisoned { notingFailure { try $0.appendAdvances() } }
    if !options.isReadOnly, !log.isPoisoned, hasMuchToSave, !isBare {
      let images = imagesToSave()
      notingFailure { try $0.checkpoint(saving: images) }
    }
    try close()
    if let failure = backgroundFailure.withLock({ $0.take() }) { throw failure }
  }

  /// Runs `body` as the only writer, and says nothing of errors, unless they mean that commits of
  /// `.deferred` may be gone: those are left for the end of the store.
  func notingFailure(waiting wait: LockWait? = nil, _ body: (StoreWriter) throws -> Void) {
    do {
      try writeAlone(waiting: wait, body)
    } catch let error as AnnalsError {
      guard error.code == .outcomeUnknown, options.durability == .deferred else { return }
      backgroundFailure.withLock { $0 = error }
    } catch {}
  }
}
