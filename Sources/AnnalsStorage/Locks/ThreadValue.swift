#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number of which each thread has its own, 0 at first (C: `pthread_setspecific`).
struct ThreadValue: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "the process has no more thread values")
    self.key = key
  }

  /// The calling thread's number.
  func load() -> UInt64 { UInt64(UInt(bitPattern: pthread_getspecific(key))) }

  /// Sets the calling thread's number.
  func store(_ number: UInt64) {
    pthread_setspecific(key, UnsafeRawPointer(bitPattern: UInt(number)))
  }
}
