import AnnalsEngine
import AnnalsStorage

/// The branches that a replica has left, in a small file of text beside its own, so that a program
/// is told of one even if it ended just after leaving it.
struct BranchList {
  let fileSystem: any FileSystem
  /// The path of the replica's file.
  let path: String

  /// Where the list is.
  var listPath: String { path + ".branches" }

  /// The branches whose files are still there, the oldest first.
  func read() throws(AnnalsError) -> [LeftBranch] {
    try AnnalsError.translating {
      try lines().compactMap { LeftBranch(line: $0, beside: path) }
        .filter { try fileSystem.identity(of: $0.path) != nil }
    }
  }

  /// Adds a branch, durably; others stay.
  func add(_ branch: LeftBranch) throws {
    let line = branch.line(beside: path)
    let name = line.prefix { $0 != "\t" } + "\t"
    let others = try lines().filter { !$0.hasPrefix(name) }
    let text = (others + [line]).map { $0 + "\n" }.joined()
    let new = listPath + ".new"
    if try fileSystem.identity(of: new) != nil { try fileSystem.remove(new) }
    let file = try fileSystem.create(new, like: path, requiresOwner: false)
    defer { file.close() }
    try Array(text.utf8).withUnsafeBytes { try file.write($0, at: 0) }
    try file.sync()
    try fileSystem.rename(new, over: listPath)
    try fileSystem.syncDirectory(of: listPath)
  }

  private func lines() throws -> [String] {
    guard try fileSystem.identity(of: listPath) != nil else { return [] }
    let file = try fileSystem.open(listPath, for: .reading)
    defer { file.close() }
    let bytes = try [UInt8](unsafeUninitializedCapacity: Int(try file.size())) { buffer, count in
      count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
  }
}
