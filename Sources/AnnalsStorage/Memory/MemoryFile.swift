import Synchronization
import SystemPackage

/// The limits of a file in memory.
package enum MemoryLimits {
  /// Larger than any memory, so that a wild offset throws instead of failing to allocate.
  package static let largestSize: UInt64 = 1 << 44

  /// Throws if a change of `count` bytes at `offset` would make a file too large.
  package static func check(
    _ count: Int, at offset: UInt64, _ operation: StorageError.Operation, _ path: String
  ) throws(StorageError) {
    guard offset <= largestSize, UInt64(count) <= largestSize - offset else {
      throw StorageError(operation, path, .fileTooLarge)
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Copies the bytes from `offset` on, as many as there are and fit. Returns the number copied.
  package func fill(from bytes: ContiguousArray<UInt8>, at offset: UInt64) -> Int {
    guard offset < UInt64(bytes.count) else { return 0 }
    let start = Int(offset)
    let count = Swift.min(self.count, bytes.count - start)
    bytes.withUnsafeBytes { source in
      copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start..<start + count]))
    }
    return count
  }
}

/// The bytes and locks of one file in memory, shared by all its opens and names.
final class MemoryInode: Sendable {
  let identity: FileIdentity
  let locks = LockTable()
  let bytes = Locked(ContiguousArray<UInt8>())

  init(_ number: UInt64) {
    identity = FileIdentity(device: 0, inode: number)
  }
}

/// An open file of a `MemoryFileSystem`.
final class MemoryFile: StorageFile {
  let path: String
  let inode: MemoryInode
  private let number: UInt64
  private let access: FileAccess
  private let watches: WatchList
  private let isClosed = Atomic(false)

  init(
    _ inode: MemoryInode, path: String, number: UInt64, access: FileAccess, _ watches: WatchList
  ) {
    self.watches = watches
    self.inode = inode
    self.path = path
    self.number = number
    self.access = access
  }

  deinit { close() }

  func close() {
    if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    inode.locks.unlock(number)
  }

  func size() throws(StorageError) -> UInt64 {
    try checkOpen(for: .size)
    return inode.bytes.withLock { UInt64($0.count) }
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    try checkOpen(for: .read)
    return inode.bytes.withLock { buffer.fill(from: $0, at: offset) }
  }

  func readPastCache(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int? {
    try read(into: buffer, at: offset)
  }

  func write(_ source: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    let end = try checkEnd(of: source.count, at: offset, for: .write)
    if source.isEmpty { return }
    inode.bytes.withLock { bytes in
      bytes.lengthen(to: end)
      bytes.withUnsafeMutableBytes { target in
        UnsafeMutableRawBufferPointer(rebasing: target[Int(offset)..<end]).copyMemory(from: source)
      }
    }
    watches.tell()
  }

  func sync() throws(StorageError) {
    try checkOpen(for: .sync)
  }

  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    guard start < end else { return }
    let end = try checkEnd(of: 0, at: end, for: .allocate)
    inode.bytes.withLock { $0.lengthen(to: end) }
  }

  func truncate(to size: UInt64) throws(StorageError) {
    let size = try checkEnd(of: 0, at: size, for: .truncate)
    inode.bytes.withLock { bytes in
      if size < bytes.count { bytes.removeLast(bytes.count - size) }
      bytes.lengthen(to: size)
    }
  }

  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    try checkOpen(for: .lock)
    return inode.locks.lock(kind, for: number, wait: wait)
  }

  func unlock() {
    inode.locks.unlock(number)
  }

  func identity() throws(StorageError) -> FileIdentity {
    try checkOpen(for: .identify)
    return inode.identity
  }

  private func checkOpen(for operation: StorageError.Operation) throws(StorageError) {
    if isClosed.load(ordering: .acquiring) {
      throw StorageError(operation, path, .badFileDescriptor)
    }
  }

  /// The end of a change of `count` bytes at `offset`. Throws if this file is closed, read-only, or
  /// would become too large.
  private func checkEnd(
    of count: Int, at offset: UInt64, for operation: StorageError.Operation
  ) throws(StorageError) -> Int {
    try checkOpen(for: operation)
    if access == .reading { throw StorageError(operation, path, .badFileDescriptor) }
    try MemoryLimits.check(count, at: offset, operation, path)
    return Int(offset) + count
  }
}

extension ContiguousArray<UInt8> {
  /// Appends zeros up to `size` bytes. Does nothing if it is already that long.
  package mutating func lengthen(to size: Int) {
    // Copied from existing zeros: without optimisation, repeating an element appends one at a time,
    // and tests fill thousands of files.
    while count < size { append(contentsOf: zeros.prefix(size - count)) }
  }
}

private let zeros = ContiguousArray<UInt8>(repeating: 0, count: 64 << 10)
