import AnnalsStorage

/// A run: commits of one writer in close succession, and the thread that notices its end.
///
/// During a run the writer keeps a working state (`StoreHead`). With `.deferred` it keeps the file
/// lock as well, one turn at a time: taking the lock, looking for commits of others and releasing
/// the lock are system calls that cost as much as the rest of a small commit. After a turn it
/// pauses, so that other processes get theirs. A writer that commits only now and then keeps
/// nothing.
package final class CommitRun: Sendable {
  /// The greatest pause between two commits of a run; also the length of a turn.
  let length: Duration
  /// The pause between two turns.
  private static let pause = Duration.microseconds(20)

  private let thread = LazyWorkerThread()

  package init(length: Duration) {
    self.length = length
  }

  /// Runs `body` on the run's own thread after each `length`, until it returns true. Returns false
  /// if no thread can be started.
  func watch(_ body: @escaping @Sendable () -> Bool) -> Bool {
    guard let thread = try? thread.running() else { return false }
    return thread.submit { [length] in
      repeat { sleepThread(for: length) } while !body()
    }
  }

  /// Gives other processes a chance to take the lock that was just released.
  static func yield() { sleepThread(for: pause) }
}
