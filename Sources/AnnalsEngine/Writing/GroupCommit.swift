import AnnalsLog
import AnnalsModel
import AnnalsState
import AnnalsStorage

/// How concurrent commits share one sync.
///
/// A commit is *appended* under the writer's lock, and *acknowledged* here. The first that asks
/// becomes the leader and syncs on its own thread, for all that was appended before; the others
/// wait. Commits appended meanwhile wait for the next leader. If a sync fails, every commit that
/// waited for it fails, and so does all that comes later.
///
/// A commit for which nobody else waits, and behind which another is expected soon, has no version:
/// it is a `Step`, by which the published version moves on. There is one at most, in front.
final class GroupCommit: Sendable {
  /// The changes of a commit, the state after it, and the log up to it.
  private final class Step {
    let batch: ChangeBatch
    let state: State
    let view: LogView
    let number: Int64

    init(_ batch: ChangeBatch, to state: State, _ view: LogView) {
      self.batch = batch
      self.state = state
      self.view = view
      number = view.head.number
    }
  }

  private struct Progress {
    var appended: Int64 = 0
    var synced: Int64 = 0
    var isSyncing = false
    var failure: AnnalsError?
    /// Versions appended and not yet published, oldest first.
    var versions: [StoreVersion] = []
    /// The commit before those, if it has no version.
    var step: Step?
    /// The memory of the last step's batch.
    var spare = ChangeBatch()

    /// Takes what is to be published now that all up to this number is synced.
    mutating func takeSynced(_ number: Int64) -> (version: StoreVersion?, step: Step?) {
      let count = versions.prefix { $0.head.number <= number }.count
      let newest = count > 0 ? versions[count - 1] : nil
      versions.removeFirst(count)
      if let step, step.number > number { return (newest, nil) }
      return (newest, step.take())
    }
  }

  private let progress = Monitor(Progress())

  /// Whether commits wait for their sync.
  var isPending: Bool { progress.withLock { $0.appended > $0.synced && $0.failure == nil } }

  /// Notes a commit that was appended.
  func append(_ version: StoreVersion) {
    progress.withLock {
      $0.appended = version.head.number
      $0.versions.append(version)
    }
  }

  /// Notes a commit that was appended behind what is published; takes over the batch, and leaves
  /// another's memory in its place.
  func append(_ batch: inout ChangeBatch, to state: State, view: LogView) {
    progress.withLock {
      let step = Step(batch, to: state, view)
      $0.appended = step.number
      $0.step = step
      batch = ChangeBatch()
      swap(&batch, &$0.spare)
    }
  }

  /// Whether the commit of this number is synced and published.
  func hasPublished(_ number: Int64) -> Bool { progress.withLock { $0.synced >= number } }

  /// Forgets what came before: the store now stands at this number, all of it synced.
  func reset(to number: Int64) {
    progress.withLock {
      $0.appended = number
      $0.synced = number
      $0.versions = []
      $0.step = nil
    }
  }

  /// Waits until the commit of this number is synced, syncing itself if nobody does.
  ///
  /// The newest version that is synced is published on the leader's thread, before any commit of
  /// the group is acknowledged. Returns whether this call led.
  func acknowledge(
    _ number: Int64, sync: () throws(AnnalsError) -> LogPosition,
    publish published: PublishedVersion
  ) throws(AnnalsError) -> Bool {
    while true {
      let role = progress.wait { state -> Role? in
        if state.synced >= number { return .done }
        if let failure = state.failure { return .failed(failure) }
        if state.isSyncing { return nil }
        state.isSyncing = true
        return .lead
      }
      switch role {
      case .done: return false
      case .failed(let error): throw error
      case .lead:
        try lead(sync: sync, publish: published)
        return true
      }
    }
  }

  private enum Role {
    case done
    case failed(AnnalsError)
    case lead
  }

  private func lead(
    sync: () throws(AnnalsError) -> LogPosition, publish published: PublishedVersion
  ) throws(AnnalsError) {
    do throws(AnnalsError) {
      let position = try sync()
      let (version, step) = progress.withLock { $0.takeSynced(position.number) }
      if let version {
        published.replace(with: version)
      } else if let step {
        published.moveOn(by: step.batch, to: step.state, view: step.view)
      }
      let number = version?.head.number ?? step?.number
      progress.withLock {
        // A commit that is not noted yet may be synced already: it is not published, so it has to
        // lead, which costs nothing then.
        if let number { $0.synced = max($0.synced, number) }
        $0.isSyncing = false
        if let step { $0.spare = step.batch }
      }
    } catch {
      progress.withLock {
        $0.failure = error
        $0.isSyncing = false
        $0.versions = []
        $0.step = nil
      }
      throw error
    }
  }

  /// Waits until every commit appended so far is acknowledged or has failed.
  func drain() {
    progress.wait { state -> Void? in
      state.isSyncing || (state.appended > state.synced && state.failure == nil) ? nil : ()
    }
  }
}
