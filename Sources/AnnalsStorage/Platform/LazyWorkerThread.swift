/// A worker thread that is started when it is first needed.
package final class LazyWorkerThread: Sendable {
  private let thread = Locked<WorkerThread?>(nil)

  /// No thread yet.
  package init() {}

  /// The thread; throws what starting one throws.
  package func running() throws(StorageError) -> WorkerThread {
    try thread.withLock { (thread) throws(StorageError) in
      if let thread { return thread }
      let started = try WorkerThread(name: "annals")
      thread = started
      return started
    }
  }
}
