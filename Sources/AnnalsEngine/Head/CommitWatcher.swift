import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Synchronization

/// Follows what other processes commit, while somebody listens.
///
/// Its thread waits for the file to change, and takes in what was added. It starts with the first
/// listener, and ends with the last one and with the store.
final class CommitWatcher: Sendable {
  private struct State {
    var listeners = 0
    var isClosed = false
    var watch: (any FileWatch)?
    var thread: WorkerThread?
  }

  private let state = Locked(State())
  private let looks = Atomic<Int>(0)
  /// Changes that come closer to each other are taken in together: the writes of this process wake
  /// the thread too.
  private static let pause = Duration.milliseconds(10)
  /// After this time what failed is tried again.
  private static let retry = Duration.milliseconds(500)

  /// How often the thread looked what was added; for tests.
  var lookCount: Int { looks.load(ordering: .relaxed) }

  /// Whether there is a thread.
  var isRunning: Bool { state.withLock { $0.thread != nil } }

  /// Adds a listener. `takeIn` takes in what was added to the file that `watch` watches; it returns
  /// false if that failed and is to be tried again. Throws if there can be no thread.
  func add(
    watch: () -> any FileWatch, takeIn: @escaping @Sendable () -> Bool
  ) throws(StorageError) {
    try state.withLock { (state) throws(StorageError) in
      if state.thread == nil, !state.isClosed {
        let thread = try WorkerThread(name: "annals watch")
        let watch = watch()
        state.thread = thread
        state.watch = watch
        thread.submit { [self] in
          var isWell = true
          repeat {
            looks.wrappingAdd(1, ordering: .relaxed)
            // What was there before the watch began is taken in first.
            isWell = takeIn()
            sleepThread(for: CommitWatcher.pause)
          } while watch.wait(until: isWell ? nil : .now.advanced(by: CommitWatcher.retry))
        }
      }
      state.listeners += 1
    }
  }

  /// Takes a listener away; the last one ends the thread.
  func remove() {
    state.withLock { state in
      state.listeners -= 1
      if state.listeners == 0 { CommitWatcher.end(&state) }
    }
  }

  /// Ends the thread for good and returns when it has ended, unless called on it.
  func close() {
    let thread = state.withLock { state in
      state.isClosed = true
      let thread = state.thread
      CommitWatcher.end(&state)
      return thread
    }
    thread?.stop()
  }

  private static func end(_ state: inout State) {
    state.watch?.cancel()
    state.watch = nil
    state.thread = nil
  }
}

/// Somebody who listens to the feed: as long as it lives, what other processes commit arrives by
/// itself.
package final class FeedListener: Sendable {
  private let watcher: CommitWatcher

  fileprivate init(_ watcher: CommitWatcher) { self.watcher = watcher }

  deinit { watcher.remove() }
}

extension StoreWriter {
  /// Begins to listen to the feed. Throws `.io` if there can be no thread that watches the file.
  package func listen() throws(AnnalsError) -> FeedListener {
    do throws(StorageError) {
      try watcher.add(
        watch: { log.watch() }, takeIn: { [weak self] in self?.takeInOthers() ?? true })
    } catch {
      throw AnnalsError(.io, "other processes' commits cannot be followed: \(error)")
    }
    return FeedListener(watcher)
  }

  /// Whether the file is watched for other processes' commits.
  package var isWatching: Bool { watcher.isRunning }

  /// How often the file was looked at since somebody listens; for tests.
  package var watchLookCount: Int { watcher.lookCount }

  /// Takes in what other processes have committed; false if it cannot be read now, which listeners
  /// are told.
  private func takeInOthers() -> Bool {
    do {
      try refresh()
      head.endFailure()
      return true
    } catch {
      let error = AnnalsError.wrapping(error)
      if error.code == .closed { return true }
      head.fail(error)
      return false
    }
  }
}
