import AnnalsModel
import AnnalsStorage

extension StorageFile {
  /// Reads up to `count` bytes; fewer only at the end of the file.
  package func bytes(_ count: Int, at offset: UInt64) throws(StorageError) -> ContiguousArray<UInt8>
  {
    try ContiguousArray(count: count) { buffer throws(StorageError) in
      try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// Writes all of the bytes from `offset` on.
  package func write(_ bytes: ContiguousArray<UInt8>, at offset: UInt64) throws(StorageError) {
    try bytes.withBytes { bytes throws(StorageError) in try write(bytes, at: offset) }
  }
}
