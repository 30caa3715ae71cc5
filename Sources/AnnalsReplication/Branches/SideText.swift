import AnnalsStorage

/// A small file of text beside a replica's: it is there as it was, or as it is to be, at each
/// moment.
struct SideText {
  let fileSystem: any FileSystem
  /// The path of the replica's file.
  let file: String
  /// What follows on it in the name of this one.
  let suffix: String

  var path: String { file + suffix }

  /// The lines, as far as they end; none if there is no such file.
  func lines() throws -> [String] {
    guard try fileSystem.identity(of: path) != nil else { return [] }
    let file = try fileSystem.open(path, for: .reading)
    defer { file.close() }
    let bytes = try [UInt8](unsafeUninitializedCapacity: Int(try file.size())) { buffer, count in
      count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
  }

  /// Replaces the file, durably. It has the mode of the replica's file, if that is there. Of
  /// several processes that may write it at once, each says its number.
  func write(_ lines: [String], by process: Int64 = 0) throws {
    let text = lines.map { $0 + "\n" }.joined()
    let new = path + ".new" + (process == 0 ? "" : "-\(process)")
    if try fileSystem.identity(of: new) != nil { try fileSystem.remove(new) }
    let original = try fileSystem.identity(of: file) == nil ? nil : file
    let side = try fileSystem.create(new, like: original, requiresOwner: false)
    defer { side.close() }
    try Array(text.utf8).withUnsafeBytes { try side.write($0, at: 0) }
    try side.sync()
    try fileSystem.rename(new, over: path)
    try fileSystem.syncDirectory(of: path)
  }
}
