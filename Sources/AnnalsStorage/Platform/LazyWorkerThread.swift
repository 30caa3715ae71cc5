/// A worker thread that starts when it is first needed.
package final class LazyWorkerThread: Sendable {
  private let thread = Locked<WorkerThread?>(nil)

  /// Creates it without a thread.
  package init() {}

  /// The thread, started if necessary. Throws the error of starting it.
  package func running() throws(StorageError) -> WorkerThread {
    try thread.withLock { (thread) throws(StorageError) in
      if let thread { return thread }
      let started = try WorkerThread(name: "annals")
      thread = started
      return started
    }
  }
}
