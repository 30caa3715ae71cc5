import AnnalsStorage
import Synchronization
import SystemPackage

/// One open file of a `FaultyFileSystem`.
final class FaultyFile: StorageFile {
  private let file: UInt64
  private let path: String
  private let number: UInt64
  private let access: FileAccess
  private let locks: LockTable
  private let files: FaultyFileSystem
  private let isClosed = Atomic(false)
  /// How many of the file's lost syncs this open file has reported, or need not report.
  private let told: Atomic<Int>

  init(
    _ file: UInt64, path: String, number: UInt64, access: FileAccess, locks: LockTable,
    told: Int, in files: FaultyFileSystem
  ) {
    self.told = Atomic(told)
    self.file = file
    self.path = path
    self.number = number
    self.access = access
    self.locks = locks
    self.files = files
  }

  deinit { close() }

  func close() {
    if isClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
    locks.unlock(number)
    files.disk.withLock { $0.close(file) }
  }

  func size() throws(StorageError) -> UInt64 {
    try reading(.size) { UInt64($0.count) }
  }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    try reading(.read) { buffer.fill(from: $0, at: offset) }
  }

  func readPastCache(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int? {
    try checkOpen(for: .read)
    return try files.disk.withLock { disk throws(StorageError) in
      try disk.check(.read, path)
      guard disk.settings.hasReadPastCache else { return nil }
      let count = buffer.fill(from: disk.files[file]?.durable ?? [], at: offset)
      if count > 0 { disk.files[file]?.forgetBelievedClean(in: Int(offset)..<Int(offset) + count) }
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) {
    let start = try position(offset, length: bytes.count, for: .write)
    if bytes.isEmpty { return }
    defer { files.watches.tell() }
    try files.disk.withLock { disk throws(StorageError) in
      try disk.write(bytes, at: start, to: file, path: path)
    }
  }

  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    guard start < end else { return }
    let end = try position(end, length: 0, for: .allocate)
    try files.disk.withLock { disk throws(StorageError) in
      try disk.grow(file, to: end, path: path)
    }
  }

  func truncate(to size: UInt64) throws(StorageError) {
    let size = try position(size, length: 0, for: .truncate)
    try files.disk.withLock { disk throws(StorageError) in
      try disk.resize(file, to: size, path: path)
    }
  }

  func sync() throws(StorageError) {
    try checkOpen(for: .sync)
    // A sync may or may not cover what is written while it runs; here it does not.
    let newest = files.disk.withLock { $0.newestChange }
    if files.syncDelay > .zero { sleepThread(for: files.syncDelay) }
    files.duringNextSync.withLock { $0.take() }?()
    try files.disk.withLock { disk throws(StorageError) in
      defer { told.store(disk.files[file]?.lossCount ?? 0, ordering: .relaxed) }
      if disk.settings.tellsEveryFile,
        told.load(ordering: .relaxed) < disk.files[file]?.lossCount ?? 0
      {
        throw StorageError(.sync, path, .ioError)
      }
      try disk.run(.sync, path) { disk, effect in
        disk.sync(file, upTo: newest, effect: effect)
      }
    }
  }

  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    try reading(.lock) { _ in }
    return locks.lock(kind, for: number, wait: wait)
  }

  func unlock() {
    locks.unlock(number)
  }

  func identity() throws(StorageError) -> FileIdentity {
    try reading(.identify) { _ in FileIdentity(device: 0, inode: file) }
  }

  private func reading<R>(
    _ operation: StorageError.Operation, _ body: (ContiguousArray<UInt8>) -> R
  ) throws(StorageError) -> R {
    try checkOpen(for: operation)
    return try files.disk.withLock { disk throws(StorageError) in
      try disk.check(operation, path)
      return body(disk.files[file]?.visible ?? [])
    }
  }

  private func checkOpen(for operation: StorageError.Operation) throws(StorageError) {
    if isClosed.load(ordering: .acquiring) {
      throw StorageError(operation, path, .badFileDescriptor)
    }
  }

  /// An offset as an index, if `length` more bytes behind it fit in memory.
  private func position(
    _ offset: UInt64, length: Int, for operation: StorageError.Operation
  ) throws(StorageError) -> Int {
    try checkOpen(for: operation)
    if access == .reading { throw StorageError(operation, path, .badFileDescriptor) }
    try MemoryLimits.check(length, at: offset, operation, path)
    return Int(offset)
  }
}
