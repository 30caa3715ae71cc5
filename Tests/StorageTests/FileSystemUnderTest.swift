import AnnalsFaults
import AnnalsStorage
import AnnalsTestSupport

/// The file systems that keep the contract of `FileSystem`.
enum FileSystemUnderTest: CaseIterable, Sendable {
  case posix, memory, faulty

  /// Runs `body` with the file system and a function that makes paths of its own out of names.
  func run(
    _ body: (any FileSystem, @Sendable (String) -> String) throws -> Void
  ) throws {
    switch self {
    case .posix: try withTemporaryDirectory { try body(PosixFileSystem(), $0) }
    case .memory: try body(MemoryFileSystem()) { "/memory/\($0)" }
    case .faulty: try body(FaultyFileSystem()) { "/faulty/\($0)" }
    }
  }
}

/// Makes a directory, runs `body` with a function that makes paths in it, and removes it.
func withTemporaryDirectory(
  _ body: (@escaping @Sendable (String) -> String) throws -> Void
) throws {
  let folder = try TemporaryFolder()
  try body { folder.path($0) }
}

extension StorageFile {
  /// Writes these bytes.
  func write(_ bytes: [UInt8], at offset: UInt64) throws {
    try bytes.withUnsafeBytes { bytes in try self.write(bytes, at: offset) }
  }

  /// Up to `count` bytes from `offset` on.
  func bytes(at offset: UInt64, count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0xee, count: count)
    let read = try bytes.withUnsafeMutableBytes { buffer in
      try self.read(into: buffer, at: offset)
    }
    return Array(bytes.prefix(read))
  }

  /// Up to `count` bytes from `offset` on, as the disk has them; nil where that cannot be told.
  func bytesPastCache(at offset: UInt64 = 0, count: Int) throws -> [UInt8]? {
    var bytes = [UInt8](repeating: 0xee, count: count)
    let read = try bytes.withUnsafeMutableBytes { buffer in
      try self.readPastCache(into: buffer, at: offset)
    }
    return read.map { Array(bytes.prefix($0)) }
  }

  /// All bytes of the file.
  func contents() throws -> [UInt8] {
    try bytes(at: 0, count: Int(size()))
  }
}
