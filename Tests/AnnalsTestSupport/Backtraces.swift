#if os(Linux)
  /// Stands for the C library's function in a program of tests, and finds no frames.
  ///
  /// Swift Testing takes a backtrace of each error at the moment it is thrown, and prints none of
  /// them: a test that throws and catches thousands spent 94 % of its time in this. Where
  /// `ANNALS_FAST_TESTS` is set, the linker lets it find this one: see Package.swift. A crash's is
  /// made otherwise.
  @_cdecl("backtrace")
  package func backtrace(
    _ addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ count: CInt
  ) -> CInt {
    0
  }
#endif
