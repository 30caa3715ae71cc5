import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

// The transitions of what `StoreHead` guards: a commit joins a group, a group is published.

extension StoreHead.Content {
  /// The newest version that exists already.
  var newestMade: StoreVersion {
    pending.last { $0.version != nil }?.version ?? published
  }

  /// The version after the newest commit; makes it if it does not exist yet.
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

  /// Adds a commit to the open group, or opens a group with it. Returns a version for the caller to
  /// release.
  mutating func append(
    _ state: State, _ batch: inout ChangeBatch?, view: LogView, inPlace: Bool
  ) -> StoreVersion? {
    guard let last = pending.indices.last, !pending[last].isClosed else {
      let isKept = inPlace && batch != nil
      let version = isKept ? nil : materializeNewest().successor(state: state, view: view)
      pending.append(
        PendingGroup(
          position: view.head, view: view, version: version, state: isKept ? state : nil,
          batch: batch.take()))
      return nil
    }
    // The commit was based on this version, so it exists.
    _ = materializeNewest()
    guard var version = pending[last].version.take() else { preconditionFailure("no version") }
    defer { pending[last].version = version }
    pending[last].position = view.head
    pending[last].view = view
    if let first = pending[last].batch.take() { keepSpare(first) }
    if inPlace, advance(&version, by: batch, like: state, view: view) { return nil }
    let old = version
    version = old.successor(state: state, view: view)
    return old
  }

  /// Closes the newest group to further commits.
  mutating func closeGroup() {
    if let last = pending.indices.last { pending[last].isClosed = true }
  }

  /// Makes the group visible to readers. Returns the version for the caller to release.
  mutating func publish(_ group: consuming PendingGroup) -> StoreVersion? {
    let before = published.head.number
    let batch = group.batch.take()
    let state = group.state.take()
    var replaced: StoreVersion?
    if !advance(&published, by: batch, like: state, view: group.view) {
      let old = published
      published = group.version ?? old.successor(state: state ?? old.state, view: group.view)
      replaced = old
    }
    note(PublishedChanges(after: before, through: group.position.number, batch: batch))
    return replaced
  }

  /// Records what was published, and frees the memory of the batch before.
  mutating func note(_ newest: consuming PublishedChanges) {
    let earlier = changes.batch.take()
    changes = newest
    if let earlier { keepSpare(earlier) }
    edition &+= 1
    failure = nil
  }

  /// Keeps the memory of a batch that is no longer needed.
  mutating func keepSpare(_ batch: consuming ChangeBatch) {
    batch.removeAll()
    spareBatch = batch
  }
}

/// Applies a commit to a version in place, if its changes and its state are at hand and nobody else
/// holds the version. Returns false if that is not possible; then the version may only be used to
/// make its successor.
private func advance(
  _ version: inout StoreVersion, by batch: ChangeBatch?, like state: State?, view: LogView
) -> Bool {
  guard let batch, let state, isUniquelyHeld(&version) else { return false }
  do throws(StateFault) {
    try version.applyInPlace(batch, like: state, view: view)
    return true
  } catch {
    return false
  }
}
