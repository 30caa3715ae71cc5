import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// The one owner of a store's newest state, which knows what of it is acknowledged.
///
/// - `published` is the version that readers see: everything acknowledged, nothing else.
/// - `pending` are the commits appended and not acknowledged yet, by groups, oldest first.
/// - `working`, if there is one, is the state after the newest commit, and shares with its version
///   what was not changed lately. Transactions change it while they follow each other closely, so
///   that neither has to be copied for the other's sake.
///
/// Safe on any thread. `append`, `publishAppended` and `replace` come from the holder of the
/// writer's lock, `closeGroup`, `publishGroup` and `discardPending` from the leader of a group.
package final class StoreHead: Sendable {
  struct Content {
    var published: StoreVersion
    var pending: [PendingGroup] = []
    var working: State?
    /// What was published last.
    var changes: PublishedChanges
    /// The memory of a batch that nobody needs any more.
    var spareBatch = ChangeBatch()
    /// How often something was published.
    var edition: UInt64 = 0
    /// Whether nothing will be published any more.
    var isLast = false
    /// What kept other processes' commits from being read.
    var failure: AnnalsError?
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextWaiter: UInt64 = 0
  }

  let content: Locked<Content>

  /// The head of a store that was just opened: all of it is acknowledged.
  init(_ version: StoreVersion) {
    let number = version.head.number
    content = Locked(
      Content(
        published: version,
        changes: PublishedChanges(after: number, through: number, batch: nil)))
  }

  /// The newest acknowledged version: what readers see.
  package var published: StoreVersion { content.withLock { $0.published } }

  /// The position after the newest commit, acknowledged or not.
  var newestPosition: LogPosition {
    content.withLock { $0.pending.last?.position ?? $0.published.head }
  }

  /// The last transaction that changed the newest schema.
  var newestSchemaVersion: Int64 {
    // A group without a version has not changed it.
    content.withLock { $0.newestMade.schemaVersion }
  }

  /// Whether commits wait to be acknowledged.
  var hasPending: Bool { content.withLock { !$0.pending.isEmpty } }

  /// The version after the newest commit, acknowledged or not; made if it has none yet.
  package func materializeNewest() -> StoreVersion {
    content.withLock { $0.materializeNewest() }
  }

  /// The newest state for a transaction to change, if one is kept. It is not kept any longer.
  func takeWorkingState() -> State? { content.withLock { $0.working.take() } }

  /// Memory for a batch, empty.
  func takeSpareBatch() -> ChangeBatch {
    content.withLock { content in
      var batch = ChangeBatch()
      swap(&batch, &content.spareBatch)
      return batch
    }
  }

  /// Gives back the memory of a batch that was not appended.
  func giveBack(_ batch: consuming ChangeBatch) {
    batch.removeAll()
    let empty = batch
    content.withLock { $0.spareBatch = empty }
  }

  /// Notes a commit that was appended, in the group that is filling. With `keepsWorking` its state
  /// is kept for the next transaction to change, and versions take the batch over in place if they
  /// can.
  ///
  /// `batch` has all of the commit's changes, none of which is to the schema; nil if they are many.
  func append(_ state: State, _ batch: ChangeBatch?, view: LogView, keepsWorking: Bool) {
    let old = content.withLock { content in
      content.working = keepsWorking ? state : nil
      return content.append(state, batch, view: view, inPlace: keepsWorking)
    }
    // A version that is replaced may be large: it ends outside the lock.
    withExtendedLifetime(old) {}
  }

  /// Drops the state that is kept for the next transaction; no transaction is expected soon.
  func dropWorkingState() {
    // What only it held ends outside the lock.
    withExtendedLifetime(takeWorkingState()) {}
  }

  /// Says that no other commit joins those appended so far: their sync begins.
  func closeGroup() {
    content.withLock { $0.closeGroup() }
  }

  /// Publishes the commits of the group that was closed, now that they are acknowledged.
  func publishGroup() { publish { _ in } }

  /// Publishes what was just appended: it needs no sync.
  func publishAppended() { publish { $0.closeGroup() } }

  private func publish(_ prepare: (inout Content) -> Void) {
    let (old, waiters) = content.withLock { content in
      prepare(&content)
      // A group may have come in time to be closed and published with the one before.
      guard let group = content.pending.first, group.isClosed else {
        return (StoreVersion?.none, [Waiter]())
      }
      content.pending.removeFirst()
      let old = content.publish(group)
      return (old, content.takeWaiters())
    }
    // The old version may be large: it ends outside the lock, and the waiters wake outside it.
    for waiter in waiters { waiter.resume() }
    withExtendedLifetime(old) {}
  }

  /// Publishes a version that is no commit of this store: after a catch-up, a reload, a checkpoint.
  /// Nothing is pending then. Wakes nobody if it has no transaction that was not published before.
  func replace(with version: StoreVersion) {
    let (old, waiters) = content.withLock { content in
      let old = content.published
      content.published = version
      content.pending = []
      content.working = nil
      if old.token == version.token { return (old, [Waiter]()) }
      content.note(
        PublishedChanges(after: old.head.number, through: version.head.number, batch: nil))
      return (old, content.takeWaiters())
    }
    for waiter in waiters { waiter.resume() }
    withExtendedLifetime(old) {}
  }

  /// Forgets the commits that wait: their sync failed, and nobody may see them.
  func discardPending() {
    content.withLock {
      $0.pending = []
      $0.working = nil
    }
  }
}

extension StoreHead {
  typealias Waiter = CheckedContinuation<Void, Never>
}
