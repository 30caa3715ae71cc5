// The one place through which Annals touches a disk.
//
// Every conformer keeps these invariants, and every user may rely on them:
// - A write returns only when all of its bytes are in the file. A read returns fewer bytes than
//   asked for only at the end of the file. Neither moves a shared position, so a read on any thread
//   never disturbs a writer.
// - Bytes between the old end of the file and the start of a later write, and bytes that `allocate`
//   adds, read as zeros.
// - Nothing is guaranteed to survive a power cut before `sync` returns; a new, moved or removed
//   name only once `syncDirectory` has returned as well.
// - A lock belongs to one open file, not to a process. Two opens of one path exclude each other
//   even within a process, and closing one never releases the lock of another.
// - An open file belongs to the process that opened it. A fork of that process can read and close
//   it; whatever would change or lock it throws there, and closing it leaves the lock alone.

/// What a file is opened for.
package enum FileAccess: Sendable {
  /// Reading only; nothing is created or changed.
  case reading
  /// Reading and writing an existing file.
  case writing
}

/// The two kinds of lock on a file.
package enum LockKind: Sendable {
  /// Held by any number of open files at once.
  case shared
  /// Held by one open file, while no other holds either kind.
  case exclusive
}

/// How long to wait for a lock.
package enum LockWait: Sendable {
  /// Not at all.
  case none
  /// Until this moment. Tries again and again, with pauses that grow to at most 0.5 ms.
  case until(ContinuousClock.Instant)
  /// As `until`, and no longer once the closure, which is called again and again, returns true.
  case unlessInterrupted(ContinuousClock.Instant, @Sendable () -> Bool)

  /// Whether nobody waits any more.
  package var isInterrupted: Bool {
    if case .unlessInterrupted(_, let isInterrupted) = self { isInterrupted() } else { false }
  }
}

/// Identifies a file, whatever name it has.
package struct FileIdentity: Hashable, Sendable {
  /// The device that holds the file.
  package var device: UInt64
  /// The number of the file on the device.
  package var inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// An open file.
///
/// Reads may run at any time on any thread. Writes, `sync`, `allocate` and `truncate` come from one
/// thread at a time. Any call after `close` throws EBADF; a call that runs while `close` is called
/// ends undisturbed.
package protocol StorageFile: AnyObject, Sendable {
  /// The number of bytes in the file.
  func size() throws(StorageError) -> UInt64

  /// Fills `buffer` from `offset` on. Returns the number of bytes read, fewer than asked for only
  /// at the end of the file. If it throws, the content of `buffer` is undefined.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError)
    -> Int

  /// Reads as `read` does, but from the disk itself, past the operating system's cache. Returns nil
  /// where the system cannot do that. Unsynced bytes may be old ones.
  func readPastCache(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
    throws(StorageError) -> Int?

  /// Writes all of `bytes` at `offset`, growing the file as needed. If it throws, any part of them
  /// may have been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError)

  /// Makes everything written survive a power cut (`fdatasync`; `F_FULLFSYNC` on Darwin). If it
  /// throws, nothing is known about what was written since the last sync that returned, and a
  /// second call that returns proves nothing about it either.
  func sync() throws(StorageError)

  /// Makes the file at least `end` bytes long, with space on the disk for `start..<end`; the new
  /// bytes read as zeros and the old ones stay. If it throws, the file is as before or longer.
  func allocate(from start: UInt64, to end: UInt64) throws(StorageError)

  /// Cuts the file, or lengthens it with zeros, to `size` bytes.
  func truncate(to size: UInt64) throws(StorageError)

  /// Takes the lock, in place of the one that this open file holds. Returns whether it was free in
  /// time. A change of kind is not atomic: another open file may take the lock in between, and then
  /// the old one is lost.
  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool

  /// Releases the lock, if any.
  func unlock()

  /// The process that holds the lock; nil if nobody does, or the system does not say.
  func lockHolder() -> LockHolder?

  /// The file's identity.
  func identity() throws(StorageError) -> FileIdentity

  /// Closes the file, which releases its lock. Safe to call again.
  func close()
}

extension StorageFile {
  /// Returns nil: for files without a cache before them, or that are never written.
  package func readPastCache(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int? { nil }

  /// Returns nil: for files that no other process can lock.
  package func lockHolder() -> LockHolder? { nil }
}

/// Opens files, and does the directory operations around a store's file.
package protocol FileSystem: Sendable {
  /// Opens an existing regular file.
  func open(_ path: String, for access: FileAccess) throws(StorageError) -> any StorageFile

  /// Creates an empty file and opens it for writing. Throws EEXIST if the name is taken. With
  /// `original`, gives it that file's mode, owner and extended attributes, and leaves out those
  /// that the process may not set; for the owner it then throws EPERM if `requiresOwner`. Nothing
  /// is left behind if it throws.
  func create(
    _ path: String, like original: String?, requiresOwner: Bool
  ) throws(StorageError) -> any StorageFile

  /// Gives the file `existing` the additional name `new`. Throws EEXIST if that is taken.
  func link(_ existing: String, to new: String) throws(StorageError)

  /// Renames `from` to `to`, in one step. Throws EEXIST if that is taken. If a file system can only
  /// link and remove, a power cut in between may leave both names.
  func place(_ from: String, at to: String) throws(StorageError)

  /// Renames `from` to `to`, replacing a file of that name, in one step.
  func rename(_ from: String, over to: String) throws(StorageError)

  /// Removes the name. Throws ENOENT if it does not exist.
  func remove(_ path: String) throws(StorageError)

  /// Makes created, changed and removed names in the directory of `path` survive a power cut.
  func syncDirectory(of path: String) throws(StorageError)

  /// The path with all symbolic links followed. Its last component need not exist. Throws EILSEQ if
  /// what the links lead to is not UTF-8: as text it would be another path.
  func resolve(_ path: String) throws(StorageError) -> String

  /// The identity of the file at `path`; nil if there is none.
  func identity(of path: String) throws(StorageError) -> FileIdentity?

  /// Whether `path` is a symbolic link that leads nowhere.
  func isDanglingLink(_ path: String) throws(StorageError) -> Bool

  /// The number of names (hard links) of the file at `path`; 0 if there is none.
  func linkCount(of path: String) throws(StorageError) -> Int

  /// Watches the file at `path`, and any file that gets that name later. A watch ends with its last
  /// reference.
  func watch(_ path: String) -> any FileWatch
}

extension FileSystem {
  /// As the other form, with the owner of `original` required.
  package func create(
    _ path: String, like original: String?
  ) throws(StorageError) -> any StorageFile {
    try create(path, like: original, requiresOwner: true)
  }

  /// Returns false: for file systems without symbolic links.
  package func isDanglingLink(_ path: String) throws(StorageError) -> Bool { false }

  /// Returns a watch that reports a possible change every 50 ms.
  package func watch(_ path: String) -> any FileWatch { PollingWatch() }
}
