import AnnalsLog
import AnnalsModel
import AnnalsState
import Synchronization

// The last stage of the commit (`CommitStages.swift`) that one thread does alone: the transaction
// goes to the log, and its state becomes the newest.

extension StoreWriter {
  /// The most changes that are applied while readers wait, and kept for the feed.
  private static let mostChangesAtHand = 16

  /// Commits the changes in the log. The commit joins a group or, with `.deferred`, is published.
  ///
  /// If another commit is expected soon, the state is kept for it.
  func append(_ changes: inout ChangeStage, of draft: inout Draft) throws {
    let isWhole = changes.isWhole && draft.changedEntities.isEmpty
    try changes.commit()
    var batch = changes.takeBatch()
    adopt(draft.takeState(), &batch, isWhole: isWhole)
  }

  /// Makes the state after what the log has just committed the newest. The batch has its changes,
  /// all of them and none to the schema if it is whole. The commit joins a group or is published.
  func adopt(_ state: State, _ batch: inout ChangeBatch, isWhole: Bool) {
    let view = log.view
    let isSmall = isWhole && batch.changes.count <= StoreWriter.mostChangesAtHand
    hasCommitted = true
    noteLength(of: view)
    var small = isSmall ? batch.moveOut() : nil
    head.append(
      state, &small, view: view, keepsWorking: isSmall && (run == nil || isRunWatched))
    if !isSmall { head.recycle(batch.moveOut()) }
    if options.durability == .deferred {
      head.publishAppended()
    } else {
      joined = group.join(after: joined)
    }
  }

  /// Drops changes that come to nothing.
  func drop(_ changes: inout ChangeStage, _ pending: PendingLargeValues) {
    if pending.hasBegun { log.abort() }
    head.recycle(changes.takeBatch())
  }
}
