#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Puts the thread to sleep; a signal may end it early (C: `nanosleep`).
package func sleepThread(for duration: Duration) {
  var time = timespec(duration)
  nanosleep(&time, nil)
}

extension timespec {
  /// The duration in whole seconds and nanoseconds; nothing below zero.
  init(_ duration: Duration) {
    let (seconds, attoseconds) = max(duration, .zero).components
    self.init(tv_sec: time_t(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}

/// Nanoseconds on the monotonic clock (C: `clock_gettime`): a look at it on the way of each commit
/// costs a fifth of two instants and their `Duration`.
package func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
