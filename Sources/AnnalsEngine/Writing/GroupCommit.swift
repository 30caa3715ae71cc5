import AnnalsModel
import AnnalsStorage

/// How concurrent commits share one sync.
///
/// A commit is *appended* under the writer's lock, and *acknowledged* here. The first that asks
/// becomes the leader and syncs on its own thread, for all that was appended before; the others,
/// its followers, wait. Commits appended meanwhile wait for the next leader. If a sync fails, every
/// commit that waited for it fails, and so does all that comes later.
///
/// It knows numbers alone: the state is `StoreHead`'s, the file the log's. `append` and `reset`
/// come from the holder of the writer's lock; all else from any thread.
final class GroupCommit: Sendable {
  private struct Progress {
    var appended: Int64 = 0
    var synced: Int64 = 0
    var isSyncing = false
    var failure: AnnalsError?
  }

  private let progress = Monitor(Progress())

  /// What a leader does for its group.
  struct Duties {
    /// Makes everything appended so far durable; returns the last of it.
    let sync: () throws(AnnalsError) -> Int64
    /// Shows readers what is durable now, up to this number; returns the last one shown, nil if
    /// there was none. Called before any commit of the group is acknowledged.
    let publish: (Int64) -> Int64?
    /// Forgets what was appended, since its sync failed.
    let discard: () -> Void
  }

  /// Whether commits wait for their sync.
  var isPending: Bool { progress.withLock { $0.appended > $0.synced && $0.failure == nil } }

  /// What a sync has failed with; nothing is acknowledged any more.
  var failure: AnnalsError? { progress.withLock { $0.failure } }

  /// Notes the commit of this number, which was appended.
  func append(_ number: Int64) {
    progress.withLock { $0.appended = number }
  }

  /// Forgets what came before: the store now stands at this number, all of it synced.
  func reset(to number: Int64) {
    progress.withLock {
      $0.appended = number
      $0.synced = number
    }
  }

  /// Waits until the commit of this number is synced and published, leading if nobody does.
  ///
  /// Returns whether this call led. Throws what the sync failed with, to all that waited for it.
  func acknowledge(_ number: Int64, _ duties: Duties) throws(AnnalsError) -> Bool {
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
        try lead(duties)
        return true
      }
    }
  }

  private enum Role {
    case done
    case failed(AnnalsError)
    case lead
  }

  private func lead(_ duties: Duties) throws(AnnalsError) {
    do throws(AnnalsError) {
      let number = duties.publish(try duties.sync())
      progress.withLock {
        // A commit that is not noted yet may be synced already: it is not published, so it has to
        // lead, which costs nothing then.
        if let number { $0.synced = max($0.synced, number) }
        $0.isSyncing = false
      }
    } catch {
      duties.discard()
      progress.withLock {
        $0.failure = error
        $0.isSyncing = false
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
