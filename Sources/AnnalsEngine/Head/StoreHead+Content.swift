import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

// How what `StoreHead` guards moves on: commits are added to groups, groups are published.

extension StoreHead.Content {
  /// The newest version that was made.
  var newestMade: StoreVersion {
    pending.last { $0.version != nil }?.version ?? published
  }

  /// The version after the newest commit, made if it has none yet.
  mutating func materializeNewest() -> StoreVersion {
    let made = newestMade
    guard let newest = pending.last, newest.version == nil, let state = newest.state else {
      return made
    }
    let version = made.successor(state: state, view: newest.view)
    pending[pending.count - 1].version = version
    pending[pending.count - 1].state = nil
    return version
  }

  /// Adds a commit to the group that is filling, or begins one with it. Returns a version to let go
  /// of.
  mutating func append(
    _ state: State, _ batch: ChangeBatch?, view: LogView, inPlace: Bool
  ) -> StoreVersion? {
    guard let last = pending.indices.last, !pending[last].isClosed else {
      var group = PendingGroup(position: view.head, view: view, batch: batch)
      if inPlace, batch != nil {
        group.state = state
      } else {
        group.version = materializeNewest().successor(state: state, view: view)
      }
      pending.append(group)
      return nil
    }
    // The commit was made on this version, so it is there already.
    _ = materializeNewest()
    guard var version = pending[last].version.take() else { preconditionFailure("no version") }
    defer { pending[last].version = version }
    pending[last].position = view.head
    pending[last].view = view
    if let first = pending[last].batch.take() { keepSpare(first) }
    if inPlace, let batch, advance(&version, by: batch, like: state, view: view) { return nil }
    let old = version
    version = old.successor(state: state, view: view)
    return old
  }

  /// Says that no other commit joins the newest group.
  mutating func closeGroup() {
    if let last = pending.indices.last { pending[last].isClosed = true }
  }

  /// Makes the group what readers see; returns the version to let go of.
  mutating func publish(_ group: PendingGroup) -> StoreVersion? {
    let before = published.head.number
    defer {
      note(
        PublishedChanges(after: before, through: group.position.number, batch: group.batch))
    }
    if let state = group.state, let batch = group.batch,
      advance(&published, by: batch, like: state, view: group.view)
    {
      return nil
    }
    let old = published
    published = group.version ?? old.successor(state: group.state ?? old.state, view: group.view)
    return old
  }

  /// Notes what was published; the memory of the batch before is free.
  mutating func note(_ newest: PublishedChanges) {
    if let batch = changes.batch {
      changes = newest
      keepSpare(batch)
    } else {
      changes = newest
    }
    edition &+= 1
    failure = nil
  }

  /// Keeps the memory of a batch that nobody needs any more.
  mutating func keepSpare(_ batch: consuming ChangeBatch) {
    batch.removeAll()
    spareBatch = batch
  }

  mutating func takeWaiters() -> [StoreHead.Waiter] {
    guard !waiters.isEmpty else { return [] }
    defer { waiters = [:] }
    return Array(waiters.values)
  }
}

/// Moves a version on by a commit, in place, if nobody else holds it; false if that cannot be:
/// then the version is not to be used any more, but for making its successor.
private func advance(
  _ version: inout StoreVersion, by batch: ChangeBatch, like state: State, view: LogView
) -> Bool {
  guard isHeldHereOnly(&version) else { return false }
  do throws(StateFault) {
    try version.applyInPlace(batch, like: state, view: view)
    return true
  } catch {
    return false
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
