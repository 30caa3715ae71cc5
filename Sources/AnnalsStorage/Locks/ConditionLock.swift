#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A mutex with a condition variable: threads wait under the mutex until another one signals.
///
/// The standard library's `Mutex` cannot wait, so this serves the places that must (followers of a
/// group commit, the queue of a thread). A wait may end without a signal: wait in a loop that tests
/// the condition. `Monitor` does so by itself, and is the better choice where it fits.
@usableFromInline
package final class ConditionLock: @unchecked Sendable {
  // Allocated, since both need a fixed address; only pthread calls touch them.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// Where the mutex is in the order of locks; nil for one under which no other is taken.
  private let rank: LockRank?

  /// Creates an unlocked mutex.
  @usableFromInline
  package init(_ rank: LockRank? = nil) {
    self.rank = rank
    check(pthread_mutex_init(mutex, nil))
    #if canImport(Darwin)
      check(pthread_cond_init(condition, nil))
    #else
      // Deadlines use the monotonic clock, which nobody sets.
      let attributes = UnsafeMutablePointer<pthread_condattr_t>.allocate(capacity: 1)
      check(pthread_condattr_init(attributes))
      check(pthread_condattr_setclock(attributes, CLOCK_MONOTONIC))
      check(pthread_cond_init(condition, attributes))
      pthread_condattr_destroy(attributes)
      attributes.deallocate()
    #endif
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Locks the mutex; waits as long as it takes. Not recursive.
  @usableFromInline
  package func lock() {
    if let rank { assert(HeldLocks.enter(rank), "a lock is taken out of order: \(rank)") }
    check(pthread_mutex_lock(mutex))
  }

  /// Locks the mutex, if nobody has it; else returns false.
  package func tryLock() -> Bool {
    let result = pthread_mutex_trylock(mutex)
    if result == EBUSY { return false }
    check(result)
    if let rank { assert(HeldLocks.enter(rank), "a lock is taken out of order: \(rank)") }
    return true
  }

  /// Unlocks the mutex.
  @usableFromInline
  package func unlock() {
    if let rank { assert(HeldLocks.leave(rank), "a lock is released twice: \(rank)") }
    check(pthread_mutex_unlock(mutex))
  }

  /// Runs `body` under the mutex.
  package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Unlocks the mutex, waits for a signal, and locks it again. Call it with the mutex held.
  @usableFromInline
  package func wait() {
    check(pthread_cond_wait(condition, mutex))
  }

  /// As `wait()`, until `deadline` at the latest; returns false if that has passed.
  @usableFromInline
  package func wait(until deadline: ContinuousClock.Instant) -> Bool {
    let left = ContinuousClock.now.duration(to: deadline)
    if left <= .zero { return false }
    // A far deadline would overflow the seconds, so waits are capped; the caller's loop waits
    // again.
    var time = timespec(min(left, .seconds(86_400)))
    #if canImport(Darwin)
      let result = pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      time.tv_sec += now.tv_sec
      time.tv_nsec += now.tv_nsec
      if time.tv_nsec >= 1_000_000_000 {
        time.tv_sec += 1
        time.tv_nsec -= 1_000_000_000
      }
      let result = pthread_cond_timedwait(condition, mutex, &time)
    #endif
    if result != ETIMEDOUT { check(result) }
    return ContinuousClock.now < deadline
  }

  /// How many threads can run at once; at least 1.
  package static let processorCount = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// Wakes one waiting thread, if any.
  package func signal() {
    check(pthread_cond_signal(condition))
  }

  /// Wakes all waiting threads.
  @usableFromInline
  package func broadcast() {
    check(pthread_cond_broadcast(condition))
  }

  /// A pthread call fails only if it is misused (for example, another thread unlocks the mutex).
  private func check(_ result: Int32) {
    precondition(result == 0, "a mutex or condition variable was misused (error \(result))")
  }
}
