import AnnalsStorage

/// Files in memory, with a closure that is called when one has been made.
final class HookedFileSystem: FileSystem {
  private let files = MemoryFileSystem()
  /// Called behind each file that is made, before its maker goes on.
  let creating = Locked<@Sendable () -> Void>({})

  func open(_ path: String, for access: FileAccess) throws(StorageError) -> any StorageFile {
    try files.open(path, for: access)
  }

  func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile {
    let file = try files.create(path, like: original, requiresOwner: requiresOwner)
    let hook = creating.withLock { $0 }
    hook()
    return file
  }

  func link(_ existing: String, to new: String) throws(StorageError) {
    try files.link(existing, to: new)
  }

  func place(_ from: String, at to: String) throws(StorageError) {
    try files.place(from, at: to)
  }

  func rename(_ from: String, over to: String) throws(StorageError) {
    try files.rename(from, over: to)
  }

  func remove(_ path: String) throws(StorageError) { try files.remove(path) }

  func syncDirectory(of path: String) throws(StorageError) { try files.syncDirectory(of: path) }

  func resolve(_ path: String) throws(StorageError) -> String { try files.resolve(path) }

  func identity(of path: String) throws(StorageError) -> FileIdentity? {
    try files.identity(of: path)
  }

  func linkCount(of path: String) throws(StorageError) -> Int { try files.linkCount(of: path) }

  func watch(_ path: String) -> any FileWatch { files.watch(path) }
}
