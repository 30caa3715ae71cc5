import AnnalsLog
import AnnalsStorage

/// How concurrent commits share one sync.
///
/// A commit is *appended* under the writer's lock, and *acknowledged* here. The first that asks
/// becomes the leader and syncs on its own thread, for all that was appended before; the others
/// wait. Commits appended meanwhile wait for the next leader. If a sync fails, every commit that
/// waited for it fails, and so does all that comes later.
final class GroupCommit: Sendable {
  private struct Progress {
    var appended: Int64 = 0
    var synced: Int64 = 0
    var isSyncing = false
    var failure: AnnalsError?
    /// Versions appended and not yet published, oldest first.
    var versions: [StoreVersion] = []
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

  /// Forgets what came before: the store now stands at this number, all of it synced.
  func reset(to number: Int64) {
    progress.withLock {
      $0.appended = number
      $0.synced = number
      $0.versions = []
    }
  }

  /// Waits until the commit of this number is synced, syncing itself if nobody does.
  ///
  /// `publish` gets the newest version that is synced, on the leader's thread, before any commit of
  /// the group is acknowledged. Returns whether this call led.
  func acknowledge(
    _ number: Int64, sync: () throws(AnnalsError) -> LogPosition, publish: (StoreVersion) -> Void
  ) throws(AnnalsError) -> Bool {
    while true {
      let step = progress.wait { state -> Step? in
        if state.synced >= number { return .done }
        if let failure = state.failure { return .failed(failure) }
        if state.isSyncing { return nil }
        state.isSyncing = true
        return .lead
      }
      switch step {
      case .done: return false
      case .failed(let error): throw error
      case .lead:
        try lead(sync: sync, publish: publish)
        return true
      }
    }
  }

  private enum Step {
    case done
    case failed(AnnalsError)
    case lead
  }

  private func lead(
    sync: () throws(AnnalsError) -> LogPosition, publish: (StoreVersion) -> Void
  ) throws(AnnalsError) {
    do throws(AnnalsError) {
      let position = try sync()
      let newest = progress.withLock { state -> StoreVersion? in
        let count = state.versions.prefix { $0.head.number <= position.number }.count
        let newest = count > 0 ? state.versions[count - 1] : nil
        state.versions.removeFirst(count)
        return newest
      }
      if let newest { publish(newest) }
      progress.withLock {
        // A commit whose version is not noted yet may be synced already: it is not published, so
        // it has to lead, which costs nothing then.
        if let newest { $0.synced = max($0.synced, newest.head.number) }
        $0.isSyncing = false
      }
    } catch {
      progress.withLock {
        $0.failure = error
        $0.isSyncing = false
        $0.versions = []
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
