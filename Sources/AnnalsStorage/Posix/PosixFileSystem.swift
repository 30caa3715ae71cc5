import SystemPackage

/// The operating system's file system.
package struct PosixFileSystem: FileSystem {
  /// Creates the file system, which has no state of its own.
  package init() {}

  package func watch(_ path: String) -> any FileWatch {
    #if canImport(Glibc) || canImport(Musl)
      // Falls back to polling: some systems have few inotify instances, and some file systems none.
      if let watch = try? NotifiedWatch(path) { return watch }
    #endif
    return PollingWatch()
  }

  package func open(
    _ path: String, for access: FileAccess
  ) throws(StorageError) -> any StorageFile {
    try failing(.open, path) { name throws(Errno) in
      // Without blocking, since opening a pipe would wait for its other end. Changes nothing for a
      // regular file.
      let descriptor = try result {
        try FileDescriptor.open(
          name, access == .reading ? .readOnly : .readWrite,
          options: [.closeOnExec, .nonBlocking])
      }.get()
      let file = PosixFile(descriptor, path: path)
      let status = try FileStatus(of: descriptor)
      if status.isDirectory { throw .isDirectory }
      if !status.isRegular { throw .notSupported }
      keepAccessTime(of: descriptor)
      return file
    }
  }

  package func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile {
    let file = try failing(.create, path) { name throws(Errno) in
      // A copy is readable by its owner alone until it has the mode of the original.
      let mode = FilePermissions(rawValue: original == nil ? 0o666 : 0o600)
      let descriptor = try result {
        try FileDescriptor.open(
          name, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: mode)
      }.get()
      return PosixFile(descriptor, path: path)
    }
    guard let original else { return file }
    do throws(StorageError) {
      try failing(.copyAttributes, original) { name throws(Errno) in
        let source = try result {
          try FileDescriptor.open(name, .readOnly, options: [.closeOnExec, .nonBlocking])
        }.get()
        defer { try? source.close() }
        try AnnalsStorage.copyAttributes(
          of: source, to: file.descriptor, requiresOwner: requiresOwner)
      }
    } catch {
      file.close()
      try? remove(path)
      throw error
    }
    return file
  }

  package func link(_ existing: String, to new: String) throws(StorageError) {
    try failing(.link, new) { new throws(Errno) in try makeLink(checked(existing), to: new) }
  }

  package func place(_ from: String, at to: String) throws(StorageError) {
    try failing(.place, to) { to throws(Errno) in try renameFile(checked(from), ifFree: to) }
  }

  package func rename(_ from: String, over to: String) throws(StorageError) {
    try failing(.rename, from) { from throws(Errno) in try renameFile(from, over: checked(to)) }
  }

  package func remove(_ path: String) throws(StorageError) {
    try failing(.remove, path) { path throws(Errno) in try removeFile(path) }
  }

  package func syncDirectory(of path: String) throws(StorageError) {
    try failing(.syncDirectory, path) { name throws(Errno) in
      let opened = try result {
        try FileDescriptor.open(directory(of: name), .readOnly, options: [.closeOnExec])
      }.get()
      defer { try? opened.close() }
      try syncNames(of: opened)
    }
  }

  package func resolve(_ path: String) throws(StorageError) -> String {
    try failing(.resolve, path) { name throws(Errno) in
      var name = name
      // As many links as the kernel follows before ELOOP.
      for _ in 0..<40 {
        do throws(Errno) {
          return try text(of: realPath(name))
        } catch  where error == .noSuchFileOrDirectory {
          guard let last = name.lastComponent else { throw error }
          let parent = try realPath(directory(of: name))
          guard let target = linkTarget(ifLinkAt: name) else {
            return try text(of: parent.appending(last))
          }
          name = parent.pushing(target)
        }
      }
      throw Errno.tooManySymbolicLinkLevels
    }
  }

  package func identity(of path: String) throws(StorageError) -> FileIdentity? {
    do throws(Errno) {
      if path.isEmpty { return nil }
      if path.utf8.contains(0) { throw .invalidArgument }
      return try FilePlace(at: path).identity
    } catch .noSuchFileOrDirectory {
      return nil
    } catch {
      throw StorageError(.identify, path, error)
    }
  }

  package func isDanglingLink(_ path: String) throws(StorageError) -> Bool {
    guard try identity(of: path) == nil else { return false }
    return try failing(.identify, path) { name throws(Errno) in linkTarget(ifLinkAt: name) != nil }
  }

  package func linkCount(of path: String) throws(StorageError) -> Int {
    try status(of: path)?.linkCount ?? 0
  }

  private func status(of path: String) throws(StorageError) -> FileStatus? {
    try failing(.identify, path) { name throws(Errno) -> FileStatus? in
      do throws(Errno) {
        return try FileStatus(at: name)
      } catch  where error == .noSuchFileOrDirectory {
        return nil
      }
    }
  }

  /// The path as text. Throws unless it is UTF-8, since it would name another file.
  private func text(of path: FilePath) throws(Errno) -> String {
    guard let text = String(validating: path) else { throw .illegalByteSequence }
    return text
  }

  /// The target of a dangling symbolic link; nil if there is none.
  private func linkTarget(ifLinkAt name: FilePath) -> FilePath? {
    do throws(Errno) {
      guard try FileStatus(at: name, followingLinks: false).isSymbolicLink else { return nil }
      return try AnnalsStorage.linkTarget(name)
    } catch {
      return nil
    }
  }

  private func directory(of path: FilePath) -> FilePath {
    let directory = path.removingLastComponent()
    return directory.isEmpty ? FilePath(".") : directory
  }

  /// The path for the system. Throws if it is empty or contains a zero byte.
  private func checked(_ path: String) throws(Errno) -> FilePath {
    if path.isEmpty { throw .noSuchFileOrDirectory }
    if path.utf8.contains(0) { throw .invalidArgument }
    return FilePath(path)
  }

  private func failing<R>(
    _ operation: StorageError.Operation, _ path: String,
    _ body: (FilePath) throws(Errno) -> R
  ) throws(StorageError) -> R {
    do throws(Errno) {
      return try body(checked(path))
    } catch {
      throw StorageError(operation, path, error)
    }
  }
}
