// The one place through which Annals touches a disk.
//
// Invariants that every conformer keeps and every user may rely on:
// - A write returns only when all of its bytes are in the file; a read comes back short only at the
//   end of the file. Neither moves a shared position, so reads on any thread never disturb a
//   writer.
// - Bytes between the old end of the file and the start of a later write, and bytes that `allocate`
//   adds, read as zeros.
// - Nothing is promised to survive a power cut before `sync` returns; a new, moved or removed name
//   only once `syncDirectory` has returned as well.
// - A lock belongs to one open file, not to a process: two opens of one path exclude each other
//   even within a process, and closing one never releases the lock of another.

/// What a file is opened for.
package enum FileAccess: Sendable {
  /// Reading only; nothing is created or changed.
  case reading
  /// Reading and writing of a file that exists.
  case writing
}

/// The two kinds of lock on a file.
package enum LockKind: Sendable {
  /// Held by any number of open files at once.
  case shared
  /// Held by one open file, while nobody holds either kind.
  case exclusive
}

/// How long to wait for a lock.
package enum LockWait: Sendable {
  /// Not at all.
  case none
  /// Until this moment; asked for again and again with growing pauses of at most 0.5 ms.
  case until(ContinuousClock.Instant)
  /// As long as it takes.
  case forever
}

/// What makes a file the same file under any name.
package struct FileIdentity: Hashable, Sendable {
  /// The device that holds the file.
  package var device: UInt64
  /// The number of the file on the device.
  package var inode: UInt64

  /// The identity with these two numbers.
  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// One open file.
///
/// Reads may run at any time on any thread; writes, `sync`, `allocate` and `truncate` come from one
/// thread at a time. Any call after `close` throws with the error number EBADF; a call that is
/// running while `close` is called ends undisturbed.
package protocol StorageFile: AnyObject, Sendable {
  /// The number of bytes in the file.
  func size() throws(StorageError) -> UInt64

  /// Reads into the whole of `buffer` from `offset` on; returns how many bytes were there, fewer
  /// than asked for only at the end of the file. What is in `buffer` if it throws is undefined.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StorageError)
    -> Int

  /// Reads as `read` does, but what the disk itself holds, past the cache of the operating system;
  /// nil where the system cannot do that. Bytes that are not synced may be old ones.
  func readPastCache(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64)
    throws(StorageError) -> Int?

  /// Writes all of `bytes` at `offset`, growing the file as needed. If it throws, any part of them
  /// may have been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError)

  /// Makes what was written survive a power cut (`fdatasync`; `F_FULLFSYNC` on Darwin). If it
  /// throws, nothing is known about what was written since the last sync that returned, and a
  /// second call that returns proves nothing about it either.
  func sync() throws(StorageError)

  /// Makes the file at least `end` bytes long, with space on the disk for `start..<end`; the new
  /// bytes read as zeros and the old ones stay. If it throws, the file is as before or longer.
  func allocate(from start: UInt64, to end: UInt64) throws(StorageError)

  /// Cuts the file, or lengthens it with zeros, to `size` bytes.
  func truncate(to size: UInt64) throws(StorageError)

  /// Takes the lock, in place of the one this open file holds; returns whether it got it in time.
  /// A change of kind is not atomic: another may come in between, and if the new kind is not got
  /// the old one is lost.
  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool

  /// Gives up the lock, if any.
  func unlock()

  /// What makes this the same file under any name.
  func identity() throws(StorageError) -> FileIdentity

  /// Closes the file, which gives up its lock. Safe to call again.
  func close()
}

extension StorageFile {
  /// Nil: for files that no cache stands before, or of which nothing is written.
  package func readPastCache(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int? { nil }
}

/// The directory operations around a store's file, and the opening of files.
package protocol FileSystem: Sendable {
  /// Opens a regular file that exists.
  func open(_ path: String, for access: FileAccess) throws(StorageError) -> any StorageFile

  /// Creates an empty file and opens it for writing; fails with EEXIST if the name is taken. With
  /// `original`, gives it that file's mode, owner and extended attributes: EPERM if the process may
  /// not give it to the owner; the rest as far as it may. Nothing is left behind if it throws.
  func create(_ path: String, like original: String?) throws(StorageError) -> any StorageFile

  /// Gives the file `existing` the further name `new`; fails with EEXIST if that is taken.
  func link(_ existing: String, to new: String) throws(StorageError)

  /// Gives the file `from` the name `to` instead, in one step; fails with EEXIST if that is taken.
  /// Where a file system can only link and remove, a power cut between may leave both names.
  func place(_ from: String, at to: String) throws(StorageError)

  /// Gives the file `from` the name `to`, in place of the file that may have had it, in one step.
  func rename(_ from: String, over to: String) throws(StorageError)

  /// Removes the name; fails with ENOENT if there is none.
  func remove(_ path: String) throws(StorageError)

  /// Makes the names created, changed and removed in the directory that holds `path` survive a
  /// power cut.
  func syncDirectory(of path: String) throws(StorageError)

  /// The path with all symbolic links followed. Its last component need not exist. Fails with
  /// EILSEQ if what the links lead to is not UTF-8: as text it would be another path.
  func resolve(_ path: String) throws(StorageError) -> String

  /// What makes the file at `path` the same file under any name; nil if there is none.
  func identity(of path: String) throws(StorageError) -> FileIdentity?

  /// How many names the file at `path` has; 0 if there is none.
  func linkCount(of path: String) throws(StorageError) -> Int

  /// Watches the file at `path`, and whatever file has that name later. A watch ends with its last
  /// reference.
  func watch(_ path: String) -> any FileWatch
}

extension FileSystem {
  /// A watch that asks every 50 ms.
  package func watch(_ path: String) -> any FileWatch { PollingWatch() }
}
