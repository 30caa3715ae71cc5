import Annals

/// The pauses between attempts: each twice as long as the one before, up to a limit, and a random
/// part of that, until a deadline.
struct Retries: Sendable {
  private let end: ContinuousClock.Instant?
  private let longest: Duration
  private let random: @Sendable () -> UInt64
  private var pause: Duration

  /// Pauses up to the options' deadline from now, or without one; or none at all.
  init(
    _ options: ReplicaOptions, _ environment: StoreEnvironment, isEndless: Bool = false,
    isOnce: Bool = false
  ) {
    end = isEndless ? nil : .now.advanced(by: isOnce ? .zero : options.deadline)
    longest = options.longestPause
    random = environment.random
    pause = options.firstPause
  }

  /// Whether the deadline has passed.
  var isOver: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

  /// Waits for the next attempt, unless `isAtOnce`; returns as `wait()`.
  mutating func goOn(_ isAtOnce: Bool) async -> Bool {
    if isAtOnce { return !isOver }
    return await wait()
  }

  /// Waits for the next attempt. Returns false at once if the deadline has passed. A cancelled task
  /// waits, too.
  mutating func wait() async -> Bool {
    if isOver { return false }
    let part = 0.5 + Double(random() >> 11) * 0x1p-54
    let length = pause * part
    // A task of its own is not cancelled with the caller's.
    await Task { try? await Task.sleep(for: length) }.value
    pause = min(pause * 2, longest)
    return true
  }
}
