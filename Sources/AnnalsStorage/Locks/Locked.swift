#if !ANNALS_THREAD_SANITIZER
  import Synchronization

  /// A value behind a mutex: the standard library's `Mutex`, at no cost.
  ///
  /// On Linux that mutex is made in the standard library from calls that the thread sanitizer does
  /// not see, so it would report every use of the value as a race. A build for the thread sanitizer
  /// defines `ANNALS_THREAD_SANITIZER` and uses a pthread mutex instead. `ConditionLock` and
  /// `Monitor` use pthread in every build; `Atomic` is compiled in place, and seen.
  @usableFromInline
  package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<Value>

    /// Creates an unlocked value.
    @inlinable
    package init(_ value: consuming sending Value) {
      mutex = Mutex(value)
    }

    /// Runs `body` on the value; waits for the mutex as long as it takes. Not recursive.
    @inlinable
    package borrowing func withLock<R: ~Copyable, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      try mutex.withLock(body)
    }
  }
#else
  /// As above, for a build for the thread sanitizer.
  package struct Locked<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock = ConditionLock()
    private let value: UnsafeMutablePointer<Value>

    /// Creates an unlocked value.
    package init(_ value: consuming sending Value) {
      self.value = .allocate(capacity: 1)
      self.value.initialize(to: value)
    }

    deinit {
      value.deinitialize(count: 1)
      value.deallocate()
    }

    /// Runs `body` on the value; waits for the mutex as long as it takes. Not recursive.
    package borrowing func withLock<R: ~Copyable, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      lock.lock()
      defer { lock.unlock() }
      return try body(&value.pointee)
    }
  }
#endif
