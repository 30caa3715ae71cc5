import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Who runs: what the operating system tells about this process.
package enum ProcessIdentity {
  /// The number of the process (C: `getpid`).
  package static var id: Int64 { Int64(getpid()) }

  /// The name of the program: the last component of what it was started as, empty if unknown.
  package static var name: String {
    guard let program = CommandLine.arguments.first else { return "" }
    return FilePath(program).lastComponent?.string ?? ""
  }

  /// The login name of the user (C: `getpwuid_r`), else what the environment says (`LOGNAME`,
  /// `USER`), else the number of the user.
  package static var loginName: String {
    let user = getuid()
    if let name = accountName(of: user), !name.isEmpty { return name }
    for variable in ["LOGNAME", "USER"] {
      if let value = getenv(variable), value.pointee != 0 { return String(cString: value) }
    }
    return String(user)
  }

  private static func accountName(of user: uid_t) -> String? {
    // An account with a long list of fields needs more than the usual; a directory service gone
    // wild is not worth more than 1 MiB.
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

/// The wall clock of the system.
package enum SystemClock {
  /// Microseconds since 1970 began, UTC (C: `clock_gettime`). It may jump, backward too.
  package static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}

/// The random numbers of the system, fit for identities.
package enum SystemRandom {
  /// 64 random bits.
  package static func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}
