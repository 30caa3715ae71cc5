import AnnalsEngine
import AnnalsStorage

/// The branches that a replica has left, in a small file of text beside its own, so that a program
/// is told of one even if it ended just after leaving it.
struct BranchList {
  let fileSystem: any FileSystem
  /// The path of the replica's file.
  let path: String

  private var list: SideText {
    SideText(fileSystem: fileSystem, file: path, suffix: ".branches")
  }

  /// The branches whose files are still there, the oldest first.
  func read() throws(AnnalsError) -> [LeftBranch] {
    try AnnalsError.translating {
      try list.lines().compactMap { LeftBranch(line: $0, beside: path) }
        .filter { try fileSystem.identity(of: $0.path) != nil }
    }
  }

  /// Adds a branch, durably; others stay.
  func add(_ branch: LeftBranch) throws {
    let line = branch.line(beside: path)
    let name = line.prefix { $0 != "\t" } + "\t"
    try list.write(try list.lines().filter { !$0.hasPrefix(name) } + [line])
  }
}
