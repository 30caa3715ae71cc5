import AnnalsStorage

extension FileSystem {
  /// The bytes of a file.
  package func contents(of path: String) throws -> ContiguousArray<UInt8> {
    let file = try open(path, for: .reading)
    defer { file.close() }
    let size = Int(try file.size())
    return try ContiguousArray(unsafeUninitializedCapacity: size) { buffer, count in
      count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      guard count == size else { throw TestFailure("\(count) of \(size) bytes of \(path)") }
    }
  }

  /// Makes a file of these bytes, in place of one that may be there.
  package func put(_ bytes: ContiguousArray<UInt8>, at path: String) throws {
    try? remove(path)
    let file = try create(path, like: nil)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }

  /// Writes over a part of a file.
  package func overwrite(
    _ bytes: ContiguousArray<UInt8>, at offset: some BinaryInteger, of path: String
  ) throws {
    let file = try open(path, for: .writing)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: UInt64(offset)) }
  }

  /// Flips bits of a byte of a file.
  package func flip(_ bits: UInt8, at offset: some BinaryInteger, of path: String) throws {
    try overwrite([contents(of: path)[Int(offset)] ^ bits], at: offset, of: path)
  }
}
