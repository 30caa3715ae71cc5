import AnnalsStorage

/// How a writer that commits again and again keeps the file lock.
///
/// Taking the lock, looking whether others have written, and giving it up are seven calls of the
/// system, as dear as the rest of a small commit but its sync. So a writer whose commits follow
/// each other keeps the lock for a turn. When that is over it pauses, so that others who ask get
/// theirs; when its commits stop, a thread gives the lock up. A writer that commits now and then
/// keeps nothing.
final class LockTurn: Sendable {
  /// How long a turn is; and how near to each other commits must be for one.
  let length: Duration
  /// How long a writer waits between two turns.
  private static let pause = Duration.microseconds(20)

  private let thread = WritingThread()

  init(length: Duration) {
    self.length = length
  }

  /// Runs `body` on the turn's own thread when a turn may be over, again and again until it returns
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
