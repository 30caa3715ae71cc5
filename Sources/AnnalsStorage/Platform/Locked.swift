#if !ANNALS_THREAD_SANITIZER
  import Synchronization

  /// A value that one thread at a time may use: `Mutex` of the standard library, at no cost.
  ///
  /// On Linux that is made in the standard library from what the thread sanitizer does not see, so
  /// that it reports each use of the value as a race. A build for the thread sanitizer defines
  /// `ANNALS_THREAD_SANITIZER` and has a pthread mutex in its place. `Condition` and `Monitor` are
  /// pthread in every build; `Atomic` is compiled in place, and seen.
  @usableFromInline
  package struct Locked<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline
    let mutex: Mutex<Value>

    /// A value that nobody uses.
    @inlinable
    package init(_ value: consuming sending Value) {
      mutex = Mutex(value)
    }

    /// Runs `body` on the value; waits for its turn as long as it takes. Not to be called within
    /// `body`.
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
    private let lock = Condition()
    private let value: UnsafeMutablePointer<Value>

    /// A value that nobody uses.
    package init(_ value: consuming sending Value) {
      self.value = .allocate(capacity: 1)
      self.value.initialize(to: value)
    }

    deinit {
      value.deinitialize(count: 1)
      value.deallocate()
    }

    /// Runs `body` on the value; waits for its turn as long as it takes. Not to be called within
    /// `body`.
    package borrowing func withLock<R: ~Copyable, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      lock.lock()
      defer { lock.unlock() }
      return try body(&value.pointee)
    }
  }
#endif
