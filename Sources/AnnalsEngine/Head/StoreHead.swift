import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// Owns a store's newest state, and knows how much of it is acknowledged.
///
/// - `published` is the version that readers see: everything acknowledged, nothing else.
/// - `pending` are the commits that are appended but not acknowledged, in groups, oldest first.
/// - `working`, if kept, is the state after the newest commit for the next transaction to change.
///   It shares unchanged leaves with its version, so that closely following transactions copy
///   neither.
///
/// Safe on any thread. The holder of the writer's lock calls `append`, `publishAppended` and
/// `replace`; the leader of a group calls `closeGroup`, `publishGroup` and `discardPending`.
package final class StoreHead: Sendable {
  struct Content {
    var published: StoreVersion
    var pending: [PendingGroup] = []
    var working: State?
    /// The most recent publication.
    var changes: PublishedChanges
    /// Spare memory for the next batch.
    var spareBatch = ChangeBatch()
    /// Counts publications.
    var edition: UInt64 = 0
    /// Whether nothing will be published any more.
    var isLast = false
    /// The error that keeps the commits of other processes from being read.
    var failure: AnnalsError?
    /// Who waits for the next publication; nil until somebody does.
    var waiters: Waiters?
    var nextWaiter: UInt64 = 0
  }

  /// Tasks that wait, by number; used under the lock, then by who took it out. A class of its own,
  /// since the first use of a dictionary of a type searches all conformances of the process, and
  /// most openings wait for nothing.
  final class Waiters: @unchecked Sendable {
    var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]

    /// Wakes all.
    func resume() {
      for waiter in continuations.values { waiter.resume() }
    }
  }

  let content: Locked<Content>

  /// The head of a store that was just opened: everything in it is acknowledged.
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
    // A group without a version has not changed the schema.
    content.withLock { $0.newestMade.schemaVersion }
  }

  /// The version after the newest commit, acknowledged or not. Makes it if it does not exist yet.
  package func materializeNewest() -> StoreVersion {
    content.withLock { $0.materializeNewest() }
  }

  /// Moves out the working state for a transaction to change; nil if none is kept.
  func takeWorkingState() -> State? { content.withLock { $0.working.take() } }

  /// Moves out the spare memory for a batch; the batch is empty.
  func takeSpareBatch() -> ChangeBatch { content.withLock { $0.spareBatch.moveOut() } }

  /// Keeps the memory of a batch that was not appended.
  func recycle(_ batch: consuming ChangeBatch) {
    batch.removeAll()
    let empty = batch
    content.withLock { $0.spareBatch = empty }
  }

  /// Adds an appended commit to the open group. With `keepsWorking`, keeps its state for the next
  /// transaction to change, and lets versions apply the batch in place if they can.
  ///
  /// `batch` holds all of the commit's changes, none of them to the schema, and is moved out; nil
  /// if they are many.
  func append(
    _ state: State, _ batch: inout ChangeBatch?, view: LogView, keepsWorking: Bool
  ) {
    let old = content.withLock { content in
      content.working = keepsWorking ? state : nil
      return content.append(state, &batch, view: view, inPlace: keepsWorking)
    }
    // A replaced version may be large: it is released outside the lock.
    withExtendedLifetime(old) {}
  }

  /// Releases the working state; no transaction is expected soon.
  func dropWorkingState() {
    // Its memory is released outside the lock.
    withExtendedLifetime(takeWorkingState()) {}
  }

  /// Closes the open group: its sync begins, and later commits go into the next group.
  func closeGroup() {
    content.withLock { $0.closeGroup() }
  }

  /// Publishes the closed group, whose commits are now acknowledged.
  func publishGroup() { publish { _ in } }

  /// Publishes what was just appended and needs no sync.
  func publishAppended() { publish { $0.closeGroup() } }

  private func publish(_ prepare: (inout Content) -> Void) {
    change { content in
      prepare(&content)
      // If another group was appended in time, it is closed and published with the one before.
      guard !content.pending.isEmpty, content.pending[0].isClosed else { return (nil, nil) }
      // Mostly it is the only one: no others have to move.
      let isOnly = content.pending.count == 1
      let group = isOnly ? content.pending.removeLast() : content.pending.removeFirst()
      let old = content.publish(group)
      return (old, content.waiters.take())
    }
  }

  /// Changes the content under the lock. Outside it, wakes the waiters that `body` returns, and
  /// releases the version, which may be large.
  func change(_ body: (inout Content) -> (old: StoreVersion?, waiters: Waiters?)) {
    let (old, waiters) = content.withLock { body(&$0) }
    waiters?.resume()
    withExtendedLifetime(old) {}
  }

  /// Publishes a version that no commit of this store made: after a catch-up, a reload, or a
  /// checkpoint. Nothing may be pending. Wakes nobody if it holds no new transaction.
  func replace(with version: StoreVersion) {
    change { content in
      let old = content.published
      content.published = version
      content.pending = []
      content.working = nil
      if old.token == version.token { return (old, nil) }
      content.note(
        PublishedChanges(after: old.head.number, through: version.head.number, batch: nil))
      return (old, content.waiters.take())
    }
  }

  /// Drops the pending commits: their sync failed, and nobody may see them.
  func discardPending() {
    content.withLock {
      $0.pending = []
      $0.working = nil
    }
  }
}
