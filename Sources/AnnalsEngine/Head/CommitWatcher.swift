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
    /// Counts the threads: one that has ended reports nothing any more.
    var run = 0
    var report: (@Sendable (AnnalsError?) -> Void)?
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
  /// the file that `watch` watches; it returns the error if that failed and should be tried again.
  /// `report` is told each time whether it failed; nil also when nobody listens any more, since
  /// nobody tries again then. Throws if no thread can be started.
  func add(
    watch: () -> any FileWatch, catchUp: @escaping @Sendable () -> AnnalsError?,
    report: @escaping @Sendable (AnnalsError?) -> Void
  ) throws(StorageError) {
    try state.withLock { (state) throws(StorageError) in
      if state.thread == nil, !state.isClosed {
        let thread = try WorkerThread(name: "annals watch")
        let watch = watch()
        state.thread = thread
        state.watch = watch
        state.run += 1
        state.report = report
        let run = state.run
        thread.submit { [self] in
          var isWell = true
          repeat {
            looks.wrappingAdd(1, ordering: .relaxed)
            // Catch up first with what came before the watch began.
            let failure = catchUp()
            isWell = failure == nil
            self.state.withLock { if $0.run == run, $0.thread != nil { report(failure) } }
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
    state.report?(nil)
    state.report = nil
  }
}

/// A listener of the feed: while it lives, commits of other processes arrive by themselves.
package final class FeedListener: Sendable {
  private let watcher: CommitWatcher

  init(_ watcher: CommitWatcher) { self.watcher = watcher }

  deinit { watcher.remove() }
}
