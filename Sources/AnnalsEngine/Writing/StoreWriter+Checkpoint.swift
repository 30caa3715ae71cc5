import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage
import Synchronization

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
    notingFailure { writer in
      let cost = UInt64(writer.newest.state.unsavedByteEstimate)
      guard writer.log.bytesSinceCheckpoint > cost else {
        writer.checkpointThreshold.store(
          max(StoreWriter.leastCheckpointInterval, cost), ordering: .relaxed)
        return
      }
      writer.checkpointThreshold.store(
        StoreWriter.leastCheckpointInterval, ordering: .relaxed)
      try writer.checkpoint()
    }
  }

  /// Writes a checkpoint of the newest state.
  package func checkpoint() throws {
    var state = newest.state
    let source = LogChunkSource(log.view.file)
    do throws(LogError) {
      try log.writeCheckpoint(schema: state.schema) { chunks in
        try state.writeChunks(to: chunks, of: source, full: false)
      }
    } catch {
      throw AnnalsError(error)
    }
    adopt(state)
  }

  /// Sees to it that few changes lie behind the newest checkpoint, and that it can be read with all
  /// its chunks: if some are damaged, one is made anew from the base and the history.
  package func renewCheckpoint() throws {
    do {
      if log.changesSinceCheckpoint > StoreWriter.changesWorthACheckpoint { try checkpoint() }
      if try log.view.holdsCheckpoint(atOrBefore: head.newestPosition.number) { return }
    } catch let error as AnnalsError where error.code == .damaged {}
    try reload(from: .base)
    try checkpoint()
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
    let isWorthIt = log.changesSinceCheckpoint > StoreWriter.changesWorthACheckpoint
    if !options.isReadOnly, !log.isPoisoned, isWorthIt, !isBare {
      notingFailure { try $0.checkpoint() }
    }
    try close()
    if let failure = backgroundFailure.withLock({ $0.take() }) { throw failure }
  }

  /// Runs `body` as the only writer, and says nothing of errors, unless they mean that commits of
  /// `.deferred` may be gone: those are left for the end of the store.
  private func notingFailure(_ body: (StoreWriter) throws -> Void) {
    do {
      try writeAlone(body)
    } catch let error as AnnalsError {
      guard error.code == .outcomeUnknown, options.durability == .deferred else { return }
      backgroundFailure.withLock { $0 = error }
    } catch {}
  }
}
