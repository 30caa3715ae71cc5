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
