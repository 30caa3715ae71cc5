/// A value behind a mutex that threads can wait for to change.
///
/// Every change wakes all who wait, so that nobody can forget to signal; use `Condition` where that
/// is too dear.
@usableFromInline
package final class Monitor<Value>: @unchecked Sendable {
  @usableFromInline let condition = Condition()
  // Used under the mutex only, so exclusive access needs no check.
  @exclusivity(unchecked) @usableFromInline var value: Value

  /// A monitor of this value.
  @inlinable
  package init(_ value: sending Value) {
    self.value = value
  }

  /// Runs `body` on the value and wakes all who wait.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return try body(&value)
  }

  /// Waits until `body` returns a value, and returns that. It is asked now and after every change,
  /// and may change the value itself where it returns one.
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
