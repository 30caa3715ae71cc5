#if canImport(Glibc) || canImport(Musl)
  import Synchronization
  import SystemPackage

  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// A watch by inotify. It watches the file and the names in its directory, so that it follows the
  /// name to a new file.
  ///
  /// Costs an inotify instance; `init` throws if the system has none left.
  final class NotifiedWatch: FileWatch {
    private let path: String
    private let name: String
    private let descriptor: CInt
    private let isCancelled = Atomic(false)
    /// A fork shares the watches, and must not remove them.
    private let owner = OwningProcess()
    /// The number of the directory's watch, and that of the file's, which follows the name.
    private let directory: CInt
    private let file: Locked<CInt>

    /// The events of a file's bytes, and of names.
    private static let contents = UInt32(IN_MODIFY)
    private static let names = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)

    /// Watches the file at `path`, which need not exist.
    init(_ path: String) throws(StorageError) {
      let whole = FilePath(path)
      let parent = whole.removingLastComponent()
      self.path = path
      name = whole.lastComponent?.string ?? ""
      // The values of IN_CLOEXEC and IN_NONBLOCK.
      descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw StorageError(.watch, path, .current) }
      directory = inotify_add_watch(
        descriptor, parent.isEmpty ? "." : parent.string, NotifiedWatch.names)
      file = Locked(inotify_add_watch(descriptor, path, NotifiedWatch.contents))
      guard directory >= 0 else { throw StorageError(.watch, path, .current) }
    }

    deinit {
      close(descriptor)
    }

    func wait(until deadline: ContinuousClock.Instant?) -> Bool {
      while true {
        if isCancelled.load(ordering: .acquiring) { return false }
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = poll(&polled, 1, NotifiedWatch.milliseconds(until: deadline))
        if isCancelled.load(ordering: .acquiring) { return false }
        if count == 0 { return true }
        if count > 0, readEvents() { return true }
      }
    }

    func cancel() {
      if isCancelled.exchange(true, ordering: .acquiringAndReleasing) { return }
      guard owner.isCurrent else { return }
      // Removing the directory's watch is an event, which wakes the waiting thread.
      inotify_rm_watch(descriptor, directory)
    }

    /// How long to poll; without end if there is no deadline.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> CInt {
      guard let deadline else { return -1 }
      let rest = ContinuousClock.now.duration(to: deadline).components
      let milliseconds = rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000 + 1
      return CInt(max(0, min(milliseconds, 60_000)))
    }

    /// Reads all pending events. Returns whether one concerns the file.
    private func readEvents() -> Bool {
      var isConcerned = false
      var hasNewName = false
      withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
        while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
          var offset = 0
          while offset + MemoryLayout<inotify_event>.size <= count {
            let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            offset = start + Int(event.len)
            if event.wd == directory, event.mask & UInt32(IN_Q_OVERFLOW) == 0 {
              let text = buffer[start..<min(offset, count)].prefix { $0 != 0 }
              if text.elementsEqual(name.utf8) { hasNewName = true }
            } else if event.mask & UInt32(IN_IGNORED) == 0 {
              isConcerned = true
              if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasNewName = true }
            }
          }
        }
      }
      if hasNewName { followName() }
      return isConcerned || hasNewName
    }

    /// Watches the file that has the name now, in place of the one before.
    private func followName() {
      file.withLock { file in
        let now = inotify_add_watch(descriptor, path, NotifiedWatch.contents)
        if file >= 0, file != now { inotify_rm_watch(descriptor, file) }
        file = now
      }
    }
  }
#endif
