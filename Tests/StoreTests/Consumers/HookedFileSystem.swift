import AnnalsStorage

/// Files in memory, with a closure that is called before each call that may touch them.
final class HookedFileSystem: FileSystem {
  /// A call that is about to be made.
  struct Call: Sendable {
    /// The path of the call, or that a file was opened or created with.
    var path: String
    /// Where bytes are about to be written; nil for any other call.
    var writing: UInt64?
  }

  private let files = MemoryFileSystem()
  /// Called before each call, on its thread; locking and closing are no such calls.
  let calling = Locked<@Sendable (Call) -> Void>({ _ in })

  fileprivate func announce(_ path: String, writing: UInt64? = nil) {
    let hook = calling.withLock { $0 }
    hook(Call(path: path, writing: writing))
  }

  /// Calls `body` once: when a file beside the one at `path` is being filled for a rewrite.
  func onceWhileRewriting(_ path: String, _ body: @escaping @Sendable () -> Void) {
    let isDone = Locked(false)
    calling.withLock { hook in
      hook = { call in
        guard call.path == path + ".new", call.writing ?? 0 > 0 else { return }
        guard
          !isDone.withLock({ done in
            defer { done = true }; return done
          })
        else { return }
        body()
      }
    }
  }

  func open(_ path: String, for access: FileAccess) throws(StorageError) -> any StorageFile {
    announce(path)
    return HookedFile(try files.open(path, for: access), path, of: self)
  }

  func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile {
    announce(path)
    let file = try files.create(path, like: original, requiresOwner: requiresOwner)
    return HookedFile(file, path, of: self)
  }

  func link(_ existing: String, to new: String) throws(StorageError) {
    announce(existing)
    try files.link(existing, to: new)
  }

  func place(_ from: String, at to: String) throws(StorageError) {
    announce(from)
    try files.place(from, at: to)
  }

  func rename(_ from: String, over to: String) throws(StorageError) {
    announce(from)
    try files.rename(from, over: to)
  }

  func remove(_ path: String) throws(StorageError) {
    announce(path)
    try files.remove(path)
  }

  func syncDirectory(of path: String) throws(StorageError) {
    announce(path)
    try files.syncDirectory(of: path)
  }

  func resolve(_ path: String) throws(StorageError) -> String { try files.resolve(path) }

  func identity(of path: String) throws(StorageError) -> FileIdentity? {
    announce(path)
    return try files.identity(of: path)
  }

  func linkCount(of path: String) throws(StorageError) -> Int {
    announce(path)
    return try files.linkCount(of: path)
  }

  func watch(_ path: String) -> any FileWatch { files.watch(path) }
}

/// An open file whose reads, writes and syncs are announced.
private final class HookedFile: StorageFile {
  private let file: any StorageFile
  private let path: String
  private let system: HookedFileSystem

  init(_ file: any StorageFile, _ path: String, of system: HookedFileSystem) {
    self.file = file
    self.path = path
    self.system = system
  }

  func size() throws(StorageError) -> UInt64 { try file.size() }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    system.announce(path)
    return try file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    system.announce(path, writing: offset)
    try file.write(bytes, at: offset)
  }

  func sync() throws(StorageError) {
    system.announce(path)
    try file.sync()
  }

  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    try file.allocate(from: start, to: end)
  }

  func truncate(to size: UInt64) throws(StorageError) {
    system.announce(path)
    try file.truncate(to: size)
  }

  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    try file.lock(kind, wait: wait)
  }

  func unlock() { file.unlock() }

  func identity() throws(StorageError) -> FileIdentity { try file.identity() }

  func close() { file.close() }
}
