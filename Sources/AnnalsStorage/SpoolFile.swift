/// A temporary file without a name, for bytes whose count is known only after the last.
///
/// Written once, from front to back, by one thread; then read on any thread. The operating system
/// frees it when it is released, or when the process ends.
package final class SpoolFile: Sendable {
  private let file: any StorageFile
  private let start: UInt64
  private let written = Locked<UInt64>(0)

  /// Takes over a file that nobody else has. The bytes go from `start` on, behind what marks it.
  package init(_ file: any StorageFile, from start: UInt64) {
    self.file = file
    self.start = start
  }

  deinit { file.close() }

  /// How many bytes were appended.
  package var count: UInt64 { written.withLock { $0 } }

  /// Appends the bytes. If it throws, the file is of no use any more.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    try file.write(bytes, at: start + count)
    written.withLock { $0 += UInt64(bytes.count) }
  }

  /// Fills `buffer` from the byte at `offset` on; returns fewer bytes only at the end.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
  ) throws(StorageError) -> Int {
    try file.read(into: buffer, at: start + offset)
  }
}
