import SystemPackage

/// A file system in memory: for stores without a file, and for tests.
///
/// Compares names as they are written; directories exist without being made. Two opens of one name
/// share its bytes, and lock each other out as two opens on a disk do. A removed or replaced file
/// lives on for those who have it open.
package final class MemoryFileSystem: FileSystem {
  private struct Directory {
    var files: [String: MemoryInode] = [:]
    var lastNumber: UInt64 = 0

    mutating func nextNumber() -> UInt64 {
      lastNumber += 1
      return lastNumber
    }

    func linkCount(of inode: MemoryInode) -> Int {
      files.values.count { $0 === inode }
    }
  }

  private let directory = Locked(Directory())
  private let watches = WatchList()

  package init() {}

  package func open(
    _ path: String, for access: FileAccess
  ) throws(StorageError) -> any StorageFile {
    let file = directory.withLock { directory -> MemoryFile? in
      guard let inode = directory.files[path] else { return nil }
      return MemoryFile(
        inode, path: path, number: directory.nextNumber(), access: access, watches)
    }
    guard let file else { throw StorageError(.open, path, .noSuchFileOrDirectory) }
    return file
  }

  package func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile {
    try directory.withLock { directory throws(StorageError) in
      if directory.files[path] != nil { throw StorageError(.create, path, .fileExists) }
      if let original, directory.files[original] == nil {
        throw StorageError(.copyAttributes, original, .noSuchFileOrDirectory)
      }
      let inode = MemoryInode(directory.nextNumber())
      directory.files[path] = inode
      return MemoryFile(
        inode, path: path, number: directory.nextNumber(), access: .writing, watches)
    }
  }

  package func link(_ existing: String, to new: String) throws(StorageError) {
    try directory.withLock { directory throws(StorageError) in
      guard let inode = directory.files[existing] else {
        throw StorageError(.link, existing, .noSuchFileOrDirectory)
      }
      if directory.files[new] != nil { throw StorageError(.link, new, .fileExists) }
      directory.files[new] = inode
    }
  }

  package func place(_ from: String, at to: String) throws(StorageError) {
    try directory.withLock { directory throws(StorageError) in
      guard let inode = directory.files[from] else {
        throw StorageError(.place, to, .noSuchFileOrDirectory)
      }
      if directory.files[to] != nil { throw StorageError(.place, to, .fileExists) }
      directory.files[to] = inode
      directory.files[from] = nil
    }
  }

  package func watch(_ path: String) -> any FileWatch { watches.add() }

  package func rename(_ from: String, over to: String) throws(StorageError) {
    defer { watches.tell() }
    try directory.withLock { directory throws(StorageError) in
      guard let inode = directory.files[from] else {
        throw StorageError(.rename, from, .noSuchFileOrDirectory)
      }
      // As in POSIX: renaming one name of a file to another name of it changes nothing.
      if directory.files[to] === inode { return }
      directory.files[to] = inode
      directory.files[from] = nil
    }
  }

  package func remove(_ path: String) throws(StorageError) {
    try directory.withLock { directory throws(StorageError) in
      if directory.files.removeValue(forKey: path) == nil {
        throw StorageError(.remove, path, .noSuchFileOrDirectory)
      }
    }
  }

  package func syncDirectory(of path: String) throws(StorageError) {}

  package func resolve(_ path: String) throws(StorageError) -> String { path }

  package func identity(of path: String) throws(StorageError) -> FileIdentity? {
    directory.withLock { $0.files[path]?.identity }
  }

  package func linkCount(of path: String) throws(StorageError) -> Int {
    directory.withLock { directory in
      directory.files[path].map { directory.linkCount(of: $0) } ?? 0
    }
  }

  /// The existing names, in no particular order.
  package var paths: [String] { directory.withLock { Array($0.files.keys) } }
}
