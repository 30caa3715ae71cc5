import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Synchronization

/// Follows the commits of other processes while somebody listens.
///
/// A thread waits for the file to change and then catches up. It starts with the first listener and
/// ends with the last one, or with the store.
final class CommitWatcher: Sendable {
  private struct State {
    var listeners = 0
    var isClosed = false
    var watch: (any FileWatch)?
    var thread: WorkerThread?
  }

  private let state = Locked(State())
  private let looks = Atomic<Int>(0)
  /// Changes closer together than this are read together: the writes of this process wake the
  /// thread too.
  private static let pause = Duration.milliseconds(10)
  /// How long to wait before a failed catch-up is tried again.
  private static let retry = Duration.milliseconds(500)

  /// How often the thread has looked for new commits; for tests.
  var lookCount: Int { looks.load(ordering: .relaxed) }

  /// Whether the thread is running.
  var isRunning: Bool { state.withLock { $0.thread != nil } }

  /// Adds a listener and starts the thread if it is the first. `catchUp` reads what was added to
  /// the file that `watch` watches; it returns false if that failed and should be tried again.
  /// Throws if no thread can be started.
  func add(
    watch: () -> any FileWatch, catchUp: @escaping @Sendable () -> Bool
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
            // Catch up first with what came before the watch began.
            isWell = catchUp()
            sleepThread(for: CommitWatcher.pause)
          } while watch.wait(until: isWell ? nil : .now.advanced(by: CommitWatcher.retry))
        }
      }
      state.listeners += 1
    }
  }

  /// Removes a listener. The last one ends the thread.
  func remove() {
    state.withLock { state in
      state.listeners -= 1
      if state.listeners == 0 { CommitWatcher.end(&state) }
    }
  }

  /// Ends the thread for good. Returns once it has ended, unless called on the thread itself.
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

/// A listener of the feed: while it lives, commits of other processes arrive by themselves.
package final class FeedListener: Sendable {
  private let watcher: CommitWatcher

  init(_ watcher: CommitWatcher) { self.watcher = watcher }

  deinit { watcher.remove() }
}
