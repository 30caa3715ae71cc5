import AnnalsStorage

/// A file system in memory that counts the bytes read and written.
final class CountingFiles: FileSystem {
  struct Counts {
    var read = 0
    var written = 0
    /// The most bytes that one call read.
    var greatestRead = 0
  }

  private let files = MemoryFileSystem()
  fileprivate let total = Locked(Counts())

  /// What was read and written since this was asked last.
  func takeCounts() -> Counts {
    total.withLock { counts in
      defer { counts = Counts() }
      return counts
    }
  }

  func open(_ path: String, for access: FileAccess) throws(StorageError) -> any StorageFile {
    CountingFile(try files.open(path, for: access), self)
  }

  func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile {
    CountingFile(
      try files.create(path, like: original, requiresOwner: requiresOwner), self)
  }

  func link(_ existing: String, to new: String) throws(StorageError) {
    try files.link(existing, to: new)
  }

  func place(_ from: String, at to: String) throws(StorageError) { try files.place(from, at: to) }

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
}

private final class CountingFile: StorageFile {
  private let file: any StorageFile
  private let files: CountingFiles

  init(_ file: any StorageFile, _ files: CountingFiles) {
    self.file = file
    self.files = files
  }

  func size() throws(StorageError) -> UInt64 { try file.size() }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    let count = try file.read(into: buffer, at: offset)
    files.total.withLock {
      $0.read += count
      $0.greatestRead = max($0.greatestRead, count)
    }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    files.total.withLock { $0.written += bytes.count }
    try file.write(bytes, at: offset)
  }

  func sync() throws(StorageError) { try file.sync() }

  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    try file.allocate(from: start, to: end)
  }

  func truncate(to size: UInt64) throws(StorageError) { try file.truncate(to: size) }

  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    try file.lock(kind, wait: wait)
  }

  func unlock() { file.unlock() }

  func identity() throws(StorageError) -> FileIdentity { try file.identity() }

  func close() { file.close() }
}
