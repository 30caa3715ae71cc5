import SystemPackage

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

  /// The name of the program: the last component of the path it was started with; empty if unknown.
  package static var name: String {
    guard let program = CommandLine.arguments.first else { return "" }
    return FilePath(program).lastComponent?.string ?? ""
  }

  /// The login name of the user (C: `getpwuid_r`); else `LOGNAME` or `USER` of the environment;
  /// else the user's number.
  package static var loginName: String {
    let user = getuid()
    if let name = accountName(of: user), !name.isEmpty { return name }
    for variable in ["LOGNAME", "USER"] {
      if let value = getenv(variable), value.pointee != 0 { return String(cString: value) }
    }
    return String(user)
  }

  private static func accountName(of user: uid_t) -> String? {
    // Long account entries need more than the usual buffer; 1 MiB limits a directory service that
    // misbehaves.
    var capacity = 1 << 10
    while capacity <= 1 << 20 {
      var entry = passwd()
      var found: UnsafeMutablePointer<passwd>?
      let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity)
      defer { buffer.deallocate() }
      let result = getpwuid_r(user, &entry, buffer, capacity, &found)
      if result == ERANGE {
        capacity *= 4
        continue
      }
      guard result == 0, found != nil, let name = entry.pw_name else { return nil }
      return String(cString: name)
    }
    return nil
  }
}

/// The system's wall clock.
package enum SystemClock {
  /// Microseconds since 1970, UTC (C: `clock_gettime`). May jump, also backward.
  package static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}

/// The system's random numbers, fit for identities.
package enum SystemRandom {
  /// 64 random bits.
  package static func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}
