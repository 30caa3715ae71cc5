import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// The one owner of a store's newest state, which knows what of it is acknowledged.
///
/// - `published` is the version that readers see: everything acknowledged, nothing else.
/// - `pending` are the commits appended and not acknowledged yet, oldest first.
/// - `working`, if there is one, is the state after the newest commit, and shares with its version
///   what was not changed lately. Transactions change it while they follow each other closely, so
///   that neither has to be copied for the other's sake.
///
/// Safe on any thread. `begin`, `append`, `publish`, `replace` and `discardPending` are the
/// writer's: they come from the holder of its lock, but for `publish` and `discardPending`, which
/// come from the leader of a group.
package final class StoreHead: Sendable {
  struct Content {
    var published: StoreVersion
    var pending: [PendingCommit] = []
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
    content.withLock { ($0.pending.last?.version ?? $0.published).schemaVersion }
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

  /// Notes a commit that was appended. With `keepsWorking` its state is kept for the next
  /// transaction to change, and the published version takes the batch over in place if it can.
  ///
  /// `batch` has all of the commit's changes, none of which is to the schema; nil if they are many.
  func append(
    _ state: State, _ batch: ChangeBatch?, view: LogView, keepsWorking: Bool
  ) {
    content.withLock { content in
      let isFirst = content.pending.isEmpty
      var commit = PendingCommit(
        position: view.head, version: nil, batch: batch, state: state, view: view)
      if !keepsWorking || !isFirst || batch == nil {
        commit.version = content.materializeNewest().successor(state: state, view: view)
      }
      content.working = keepsWorking ? state : nil
      content.pending.append(commit)
    }
  }

  /// Drops the state that is kept for the next transaction; no transaction is expected soon.
  func dropWorkingState() {
    // What only it held ends outside the lock.
    withExtendedLifetime(takeWorkingState()) {}
  }

  /// Publishes the commits up to this number, now that they are acknowledged. Returns the last one
  /// published; nil if there was none.
  @discardableResult
  func publish(upTo number: Int64) -> Int64? {
    let (last, old, waiters) = content.withLock { content in
      let count = content.pending.prefix { $0.position.number <= number }.count
      guard count > 0 else { return (Int64?.none, StoreVersion?.none, [Waiter]()) }
      let commit = content.pending[count - 1]
      content.pending.removeFirst(count)
      let old = content.publish(commit, isAlone: count == 1)
      return (commit.position.number, old, content.takeWaiters())
    }
    // The old version may be large: it ends outside the lock, and the waiters wake outside it.
    for waiter in waiters { waiter.resume() }
    withExtendedLifetime(old) {}
    return last
  }

  /// Publishes a version that is no commit of this store: after a catch-up, a reload, a checkpoint.
  /// Nothing is pending then.
  func replace(with version: StoreVersion) {
    let (old, waiters) = content.withLock { content in
      let old = content.published
      content.published = version
      content.pending = []
      content.working = nil
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

extension StoreHead.Content {
  /// The version after the newest commit, made if it has none yet.
  mutating func materializeNewest() -> StoreVersion {
    guard let newest = pending.last else { return published }
    if let version = newest.version { return version }
    // What comes before it is published: only the first that waits has no version.
    let version = published.successor(state: newest.state, view: newest.view)
    pending[pending.count - 1].version = version
    return version
  }

  /// Makes the commit what readers see; returns the version to let go of.
  mutating func publish(_ commit: PendingCommit, isAlone: Bool) -> StoreVersion? {
    let before = published.head.number
    defer {
      note(
        PublishedChanges(
          after: before, through: commit.position.number, batch: isAlone ? commit.batch : nil))
    }
    if commit.version == nil, let batch = commit.batch, isHeldHereOnly(&published) {
      do throws(StateFault) {
        try published.applyInPlace(batch, like: commit.state, view: commit.view)
        return nil
      } catch {
        // What is left of the version is not used: the commit's own state takes its place.
      }
    }
    let old = published
    published = commit.version ?? old.successor(state: commit.state, view: commit.view)
    return old
  }

  /// Notes what was published; the memory of the batch before is free.
  mutating func note(_ newest: PublishedChanges) {
    if var batch = changes.batch {
      changes = newest
      batch.removeAll()
      spareBatch = batch
    } else {
      changes = newest
    }
    edition &+= 1
    failure = nil
  }

  mutating func takeWaiters() -> [StoreHead.Waiter] {
    guard !waiters.isEmpty else { return [] }
    defer { waiters = [:] }
    return Array(waiters.values)
  }
}

/// Whether there is no other reference to the version: then nobody reads it any more.
///
/// What readers did before they gave theirs up is over, as the count of references says; the thread
/// sanitizer does not see the count, so for it no version is ever free.
private func isHeldHereOnly(_ version: inout StoreVersion) -> Bool {
  #if ANNALS_THREAD_SANITIZER
    false
  #else
    isKnownUniquelyReferenced(&version)
  #endif
}
