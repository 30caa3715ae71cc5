import AnnalsStorage

/// Commits of one writer that follow each other closely, and the thread that notices their end.
///
/// While they do, the writer keeps a state of its own to work on (`StoreHead`). With
/// `.deferred` it keeps the file lock as well, for turns: taking it, looking whether others have
/// written, and giving it up are calls of the system as dear as the rest of a small commit. When a
/// turn is over it pauses, so that others who ask get theirs. A writer that commits now and then
/// keeps nothing.
package final class CommitRun: Sendable {
  /// How near to each other commits must be, and how long a turn is.
  let length: Duration
  /// How long a writer waits between two turns.
  private static let pause = Duration.microseconds(20)

  private let thread = LazyWorkerThread()

  package init(length: Duration) {
    self.length = length
  }

  /// Runs `body` on the run's own thread when it may be over, again and again until it returns
  /// true. Returns false if there can be no thread.
  func watch(_ body: @escaping @Sendable () -> Bool) -> Bool {
    guard let thread = try? thread.running() else { return false }
    return thread.submit { [length] in
      repeat { sleepThread(for: length) } while !body()
    }
  }

  /// Lets others take the lock that was just given up.
  static func yield() { sleepThread(for: pause) }
}
