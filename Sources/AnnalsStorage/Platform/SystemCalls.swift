// The calls that swift-system lacks, one function each, which hide the differences between
// platforms. Each one retries after a signal and throws the error number.

import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import CLinuxCalls
  import Glibc
#elseif canImport(Musl)
  import CLinuxCalls
  import Musl
#endif

extension Errno {
  /// The error number of the last failed call on this thread.
  static var current: Errno {
    #if canImport(Darwin)
      Errno(rawValue: Darwin.errno)
    #elseif canImport(Glibc)
      Errno(rawValue: Glibc.errno)
    #elseif canImport(Musl)
      Errno(rawValue: Musl.errno)
    #endif
  }
}

extension FilePath {
  /// Runs `body` with the path as a C string.
  @discardableResult
  func withName<R>(
    _ body: (UnsafePointer<CInterop.PlatformChar>) throws(Errno) -> R
  ) throws(Errno) -> R {
    // No `Result`: its first use searches all conformances of the process for that of `Errno`.
    var failure: Errno?
    let result = withPlatformString { name -> R? in
      do throws(Errno) {
        return try body(name)
      } catch {
        failure = error
        return nil
      }
    }
    guard let result else { throw failure ?? .invalidArgument }
    return result
  }
}

/// The parts of `stat` that are used here.
struct FileStatus {
  var identity: FileIdentity
  var size: UInt64
  var mode: FilePermissions
  var owner: uid_t
  var group: gid_t
  var linkCount: Int
  var isRegular: Bool
  var isDirectory: Bool
  var isSymbolicLink: Bool

  private init(_ raw: stat) {
    identity = FileIdentity(
      device: UInt64(truncatingIfNeeded: raw.st_dev), inode: UInt64(truncatingIfNeeded: raw.st_ino))
    size = UInt64(clamping: raw.st_size)
    mode = FilePermissions(rawValue: raw.st_mode & 0o7777)
    owner = raw.st_uid
    group = raw.st_gid
    linkCount = Int(raw.st_nlink)
    let kind = raw.st_mode & S_IFMT
    isRegular = kind == S_IFREG
    isDirectory = kind == S_IFDIR
    isSymbolicLink = kind == S_IFLNK
  }

  /// The status of an open file (C: `fstat`).
  init(of descriptor: FileDescriptor) throws(Errno) {
    var raw = stat()
    try retrying { fstat(descriptor.rawValue, &raw) }
    self.init(raw)
  }

  /// The status of the file at `path` (C: `stat`), or of the symbolic link there (C: `lstat`).
  init(at path: FilePath, followingLinks: Bool = true) throws(Errno) {
    var raw = stat()
    try path.withName { name throws(Errno) in
      try retrying { followingLinks ? stat(name, &raw) : lstat(name, &raw) }
    }
    self.init(raw)
  }
}

/// Which file it is and how long, without its times; read before every commit.
///
/// Linux: `statx`, since the next write to a file whose times `stat` has returned must update them.
struct FilePlace {
  var identity: FileIdentity
  var size: UInt64

  /// Reads the place of an open file.
  init(of descriptor: FileDescriptor) throws(Errno) {
    #if canImport(Darwin)
      self.init(try FileStatus(of: descriptor))
    #else
      do throws(Errno) {
        var place = annals_place()
        try retrying { annals_find(descriptor.rawValue, "", &place) }
        self.init(place)
      } catch  where error == .noFunction || error == .notPermitted {
        // For an old kernel, or a container that forbids the call.
        self.init(try FileStatus(of: descriptor))
      }
    #endif
  }

  /// Reads the place of the file at `path`.
  init(at path: String) throws(Errno) {
    #if canImport(Darwin)
      self.init(try FileStatus(at: FilePath(path)))
    #else
      do throws(Errno) {
        var place = annals_place()
        // The working directory, for a relative path (AT_FDCWD).
        try retrying { path.withCString { annals_find(-100, $0, &place) } }
        self.init(place)
      } catch  where error == .noFunction || error == .notPermitted {
        self.init(try FileStatus(at: FilePath(path)))
      }
    #endif
  }

  private init(_ status: FileStatus) {
    identity = status.identity
    size = status.size
  }

  #if !canImport(Darwin)
    private init(_ place: annals_place) {
      identity = FileIdentity(device: place.device, inode: place.inode)
      size = place.size
    }
  #endif
}

/// Keeps reads of the file from updating its access time, where that is allowed (O_NOATIME, for the
/// owner): otherwise every read of a file that is read and written in turn would update it.
func keepAccessTime(of descriptor: FileDescriptor) {
  #if canImport(Glibc) || canImport(Musl)
    let withoutAccessTime: Int32 = 0o1000000
    let flags = fcntl(descriptor.rawValue, F_GETFL)
    if flags >= 0 { _ = fcntl(descriptor.rawValue, F_SETFL, flags | withoutAccessTime) }
  #endif
}

/// Makes everything written survive a power cut.
///
/// Linux: `fdatasync`, which also flushes a grown size. Darwin: `fsync` stops at the drive's own
/// cache, so `F_FULLFSYNC`; a file system without it (a network share) gets `fsync`.
func syncData(of descriptor: FileDescriptor) throws(Errno) {
  #if canImport(Darwin)
    do throws(Errno) {
      try retrying { fcntl(descriptor.rawValue, F_FULLFSYNC) }
    } catch {
      guard
        [.notSupported, .notSupportedOnSocket, .invalidArgument, .inappropriateIOCTLForDevice]
          .contains(error)
      else { throw error }
      try retrying { fsync(descriptor.rawValue) }
    }
  #else
    try retrying { fdatasync(descriptor.rawValue) }
  #endif
}

/// Makes the names in an open directory survive a power cut (C: `fsync`). Ignores EINVAL: a file
/// system that cannot sync directories makes names durable without it, as far as it ever does.
func syncNames(of directory: FileDescriptor) throws(Errno) {
  do throws(Errno) {
    try retrying { fsync(directory.rawValue) }
  } catch {
    if error != .invalidArgument && error != .notSupported { throw error }
  }
}

/// Reserves space for `start..<end`, and lengthens the file to `end` if it is shorter; new bytes
/// read as zeros. Throws `.notSupported` where the file system cannot; then the caller writes
/// zeros.
///
/// Linux: `fallocate` with mode 0; never `posix_fallocate`, which writes a byte per block if the
/// file system has no support. Darwin: `F_PREALLOCATE` from the end of the file, then `ftruncate`.
func allocateSpace(
  for descriptor: FileDescriptor, size: UInt64, from start: Int64, to end: Int64
) throws(Errno) {
  #if canImport(Darwin)
    guard end > Int64(clamping: size) else { return }
    var request = fstore_t(
      fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
      fst_length: end - Int64(clamping: size), fst_bytesalloc: 0)
    try retrying { fcntl(descriptor.rawValue, F_PREALLOCATE, &request) }
    try retrying { ftruncate(descriptor.rawValue, end) }
  #else
    do throws(Errno) {
      try retrying { fallocate(descriptor.rawValue, 0, Int(start), Int(end - start)) }
    } catch {
      throw error == .notSupportedOnSocket || error == .noFunction ? .notSupported : error
    }
  #endif
}

/// Takes the advisory lock of an open file (C: `flock`). Returns whether it was free.
///
/// `flock`, not `fcntl`: its locks belong to the open file, so that two stores in one process
/// exclude each other, and closing one file never releases the lock of another.
func lockFile(_ descriptor: FileDescriptor, _ kind: LockKind) throws(Errno) -> Bool {
  let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
  do throws(Errno) {
    try retrying { flock(descriptor.rawValue, operation) }
    return true
  } catch {
    if error == .wouldBlock { return false }
    throw error
  }
}

/// Releases the advisory lock of an open file (C: `flock`). Cannot fail on an open descriptor.
func unlockFile(_ descriptor: FileDescriptor) {
  _ = try? retrying { flock(descriptor.rawValue, LOCK_UN) }
}

/// Gives a file an additional name (C: `link`).
func makeLink(_ existing: FilePath, to new: FilePath) throws(Errno) {
  try existing.withName { existing throws(Errno) in
    try new.withName { new throws(Errno) in try retrying { link(existing, new) } }
  }
}

/// Renames a file unless the name is taken (C: `renameat2` with RENAME_NOREPLACE; `renamex_np` with
/// RENAME_EXCL on Darwin). Where the file system cannot, links the new name and then removes the
/// old one.
func renameFile(_ from: FilePath, ifFree to: FilePath) throws(Errno) {
  do throws(Errno) {
    try from.withName { from throws(Errno) in
      try to.withName { to throws(Errno) in
        #if canImport(Darwin)
          try retrying { renamex_np(from, to, UInt32(RENAME_EXCL)) }
        #else
          try retrying { annals_rename_if_free(from, to) }
        #endif
      }
    }
  } catch  where [.invalidArgument, .noFunction, .notSupported].contains(error) {
    try makeLink(from, to: to)
    try removeFile(from)
  }
}

/// Renames a file over another (C: `rename`).
func renameFile(_ from: FilePath, over to: FilePath) throws(Errno) {
  try from.withName { from throws(Errno) in
    try to.withName { to throws(Errno) in try retrying { rename(from, to) } }
  }
}

/// Removes a name (C: `unlink`).
func removeFile(_ path: FilePath) throws(Errno) {
  try path.withName { path throws(Errno) in try retrying { unlink(path) } }
}

/// The path without symbolic links (C: `realpath`).
func realPath(_ path: FilePath) throws(Errno) -> FilePath {
  try path.withName { name throws(Errno) in
    guard let real = realpath(name, nil) else { throw Errno.current }
    defer { free(real) }
    return FilePath(platformString: real)
  }
}

/// What a symbolic link points at (C: `readlink`).
func linkTarget(_ path: FilePath) throws(Errno) -> FilePath {
  let capacity = Int(PATH_MAX)
  return try path.withName { name throws(Errno) in
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: capacity + 1)
    defer { buffer.deallocate() }
    let count = try retrying { readlink(name, buffer, capacity) }
    buffer[count] = 0
    return FilePath(platformString: buffer)
  }
}
