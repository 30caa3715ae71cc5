import AnnalsStorage
import SystemPackage

/// An open file whose bytes never change, some of which the disk may be unable to read. Fails the
/// test that writes to it.
final class FixedFile: StorageFile {
  private let bytes: ContiguousArray<UInt8>
  private let unreadable: [Range<Int>]

  init(_ bytes: ContiguousArray<UInt8>, unreadable: [Range<Int>] = []) {
    self.bytes = bytes
    self.unreadable = unreadable
  }

  func size() throws(StorageError) -> UInt64 { UInt64(bytes.count) }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    guard offset < UInt64(bytes.count) else { return 0 }
    let start = Int(offset)
    let count = min(buffer.count, bytes.count - start)
    if unreadable.contains(where: { $0.overlaps(start..<start + count) }) {
      throw StorageError(.read, "fixed", .ioError)
    }
    bytes.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
    }
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StorageError) { refuse() }
  func sync() throws(StorageError) { refuse() }
  func allocate(from start: UInt64, to end: UInt64) throws(StorageError) { refuse() }
  func truncate(to size: UInt64) throws(StorageError) { refuse() }
  func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool { refuse() }
  func unlock() {}
  func identity() throws(StorageError) -> FileIdentity { FileIdentity(device: 0, inode: 1) }
  func close() {}

  private func refuse() -> Never { preconditionFailure("inspection only reads") }
}
