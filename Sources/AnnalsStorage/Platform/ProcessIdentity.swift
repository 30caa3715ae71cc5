#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The identity of this process, from the operating system.
package enum ProcessIdentity {
  /// The number of the process (C: `getpid`).
  package static var id: Int64 { Int64(getpid()) }
}
