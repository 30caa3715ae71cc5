/// A value behind a mutex, with threads that wait for it to change.
///
/// Every change wakes all waiting threads, so that nobody can forget to signal. Use `ConditionLock`
/// where that costs too much.
@usableFromInline
package final class Monitor<Value>: @unchecked Sendable {
  @usableFromInline let condition = ConditionLock()
  // Used only under the mutex, so exclusive access needs no check.
  @exclusivity(unchecked) @usableFromInline var value: Value

  /// Creates a monitor of this value.
  @inlinable
  package init(_ value: sending Value) {
    self.value = value
  }

  /// Runs `body` on the value and wakes all waiting threads.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return try body(&value)
  }

  /// Waits until `body` returns a value, and returns that. Calls it now and after every change; it
  /// may change the value when it returns one.
  @inlinable
  package func wait<R>(for body: (inout Value) -> R?) -> R {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result = body(&value) {
        condition.broadcast()
        return result
      }
      condition.wait()
    }
  }

  /// As `wait(for:)`, until `deadline` at the latest; nil if that has passed.
  @inlinable
  package func wait<R>(
    until deadline: ContinuousClock.Instant, for body: (inout Value) -> R?
  ) -> R? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result = body(&value) {
        condition.broadcast()
        return result
      }
      if !condition.wait(until: deadline) { return body(&value) }
    }
  }
}
