import SystemPackage

#if canImport(Darwin)
  import Darwin
#else
  import CLinuxCalls
#endif

/// Reads what the disk holds of an open file, past the operating system's cache. Returns nil where
/// the system or the file system cannot do that.
///
/// Linux: a second descriptor of the same file, opened with `O_DIRECT`, which needs whole blocks in
/// aligned memory. Elsewhere nil: Darwin's `F_NOCACHE` still answers from the cache what lies
/// there.
func readDisk(
  _ descriptor: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
) throws(Errno) -> Int? {
  #if canImport(Darwin)
    return nil
  #else
    let block = 4096
    guard let wanted = Int64(exactly: offset), !buffer.isEmpty else { return nil }
    let opened = result {
      try FileDescriptor.open(
        FilePath("/proc/self/fd/\(descriptor.rawValue)"), .readOnly,
        options: [.closeOnExec, .init(rawValue: CInt(annals_past_cache))])
    }
    guard case .success(let direct) = opened else { return nil }
    defer { try? direct.close() }
    let start = wanted / Int64(block) * Int64(block)
    let skipped = Int(wanted - start)
    let length = (skipped + buffer.count + block - 1) / block * block
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: block)
    defer { memory.deallocate() }
    do throws(Errno) {
      // A short read ends at the end of the file; the next block would not be aligned.
      let moved = try transfer(length) { moved in
        moved % block != 0
          ? .success(0)
          : result {
            try direct.read(
              fromAbsoluteOffset: start + Int64(moved),
              into: UnsafeMutableRawBufferPointer(rebasing: memory[moved...]))
          }
      }
      let count = max(0, min(buffer.count, moved - skipped))
      buffer.copyMemory(
        from: UnsafeRawBufferPointer(rebasing: memory[skipped..<skipped + count]))
      return count
    } catch  where error == .invalidArgument || error == .notSupported {
      return nil
    }
  #endif
}
