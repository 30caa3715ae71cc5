import AnnalsEngine

extension Store {
  /// Prepares for a time in which the process may be stopped: an app in the background, a machine
  /// about to sleep. A process that is stopped while it holds the lock blocks all others.
  ///
  /// Returns when the writes under way are acknowledged and the lock is released, also one that is
  /// held throughout (`StoreOptions.lockMode`). From then on each write throws `.suspended` at
  /// once, as do those that were waiting for another process. Reading goes on. Safe to call again,
  /// on any thread. Throws `.nestedWrite` inside the closure of a write.
  ///
  /// A rewrite under way (`compact`, `prune`) ends with `.suspended`, and leaves the file as it
  /// was.
  public func suspend() throws(AnnalsError) { try writer.suspend() }

  /// Ends `suspend()`. The next write takes the lock, and sees what others have written meanwhile.
  public func resume() throws(AnnalsError) { try writer.resume() }
}
