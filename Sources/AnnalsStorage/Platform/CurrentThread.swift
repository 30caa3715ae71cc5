#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The calling thread.
package enum CurrentThread {
  /// A number that no other running thread of the process has; never 0 (C: `pthread_self`).
  package static var number: UInt64 {
    #if canImport(Glibc)
      UInt64(pthread_self())
    #else
      UInt64(UInt(bitPattern: pthread_self()))
    #endif
  }
}
