import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The process that opened something: tells it from its forks, which inherit memory, open files,
/// and the locks on them.
package struct OwningProcess: Sendable {
  private let id = OwningProcess.current

  /// The calling process.
  package init() {}

  /// Whether the calling process is the one that opened it. Makes no system call on Linux.
  package var isCurrent: Bool { OwningProcess.current == id }

  /// The number of the calling process.
  private static var current: Int64 {
    guard let page else { return ProcessIdentity.id }
    let known = page.pointee.load(ordering: .relaxed)
    if known != 0 { return known }
    let id = ProcessIdentity.id
    page.pointee.store(id, ordering: .relaxed)
    return id
  }

  /// Caches the number of the process in a page that the kernel clears in every fork
  /// (`MADV_WIPEONFORK`), however that is made; nil where there are no such pages.
  nonisolated(unsafe) private static let page: UnsafeMutablePointer<Atomic<Int64>>? = {
    #if canImport(Glibc) || canImport(Musl)
      let length = Int(sysconf(Int32(_SC_PAGESIZE)))
      let clearedInForks: Int32 = 18
      guard length > 0,
        let start = mmap(
          nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        start != MAP_FAILED
      else { return nil }
      guard madvise(start, length, clearedInForks) == 0 else {
        munmap(start, length)
        return nil
      }
      let page = start.bindMemory(to: Atomic<Int64>.self, capacity: 1)
      page.initialize(to: Atomic(0))
      return page
    #else
      // There the C library caches the number itself.
      return nil
    #endif
  }()
}
