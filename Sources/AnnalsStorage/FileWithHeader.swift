import SystemPackage

/// A view of a file with other first bytes, which are not written yet. For reading only.
package final class FileWithHeader: StorageFile {
  private let file: any StorageFile
  private let header: ContiguousArray<UInt8>

  /// Overlays `header` on the beginning of a file that is at least as long. The file stays open.
  package init(_ file: any StorageFile, header: ContiguousArray<UInt8>) {
    self.file = file
    self.header = header
  }

  package func size() throws(StorageError) -> UInt64 { try file.size() }

  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    let count = try file.read(into: buffer, at: offset)
    guard offset < UInt64(header.count) else { return count }
    let start = Int(offset)
    header.withUnsafeBytes { bytes in
      buffer.copyBytes(from: bytes[start..<min(bytes.count, start + count)])
    }
    return count
  }

  package func identity() throws(StorageError) -> FileIdentity { try file.identity() }

  package func lock(_ kind: LockKind, wait: LockWait) throws(StorageError) -> Bool {
    throw refusal(.lock)
  }

  package func write(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64
  ) throws(StorageError) { throw refusal(.write) }

  package func sync() throws(StorageError) { throw refusal(.sync) }

  package func allocate(from start: UInt64, to end: UInt64) throws(StorageError) {
    throw refusal(.allocate)
  }

  package func truncate(to size: UInt64) throws(StorageError) { throw refusal(.truncate) }

  private func refusal(_ operation: StorageError.Operation) -> StorageError {
    StorageError(operation, "a file that is only read", .notPermitted)
  }

  package func unlock() {}

  package func close() {}
}
