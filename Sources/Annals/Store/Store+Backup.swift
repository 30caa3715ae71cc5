import AnnalsEngine
import AnnalsLog
import AnnalsStorage

extension Store {
  /// Copies the store into a new file: the whole history up to the newest transaction of any
  /// process, with the same UUID and numbers. Reading and writing go on meanwhile, in this process
  /// and in others; so may a prune or a compaction.
  ///
  /// The copy is synced, and verified as a file, before it gets its name, so a crash leaves the
  /// whole copy or none. It has the mode of the store, and its owner if the process may set it. A
  /// store in memory is copied into a file, and so is one whose file was deleted while it is open.
  /// A copy that is written to branches off: from there on, tokens of one are `.lostBranch` in the
  /// other.
  ///
  /// Writes the file once and reads it three times; memory does not grow with it. Safe on any
  /// thread.
  ///
  /// - Returns: the position up to which the copy reaches.
  /// - Throws: `.alreadyExists` if a file exists at `path`, which is not touched; `.damaged`, with
  ///   the offset in this store's file, if the copy would be damaged; `.noSpace`, `.permission`,
  ///   `.io`; `.busy` if another backup to that path is running. Then nothing is left at `path`.
  ///   `.outcomeUnknown` if the new name could be neither made durable nor removed: the copy may or
  ///   may not be there, but never a part of it.
  @discardableResult
  public func backup(to path: String) throws(AnnalsError) -> Token {
    if let damage = findings.first(where: { $0.severity == .error }) {
      throw AnnalsError(
        .damaged,
        "\(damage.message). A copy would lack them, so nothing was written. Restore a copy, or "
          + "salvage everything readable into a new file", offset: damage.offset)
    }
    // What another process has erased is not copied. Without its name the file can still be copied.
    try? refresh()
    let version = version
    _ = try AnnalsError.translating {
      try version.view.backUp(
        to: path, in: fileSystemOfCopies, like: originalOfCopies
      ) { try StoreWriter.requireSound($0, copiedFrom: $1) }
    }
    return version.token
  }

  /// The file whose mode and owner a copy gets; nil if there is none.
  package var originalOfCopies: String? { writer.log.original }

  /// Where files are made of what the store holds: its own file system, or for a store in memory
  /// the system's.
  package var fileSystemOfCopies: any FileSystem {
    let own = writer.log.fileSystem
    return own is MemoryFileSystem ? PosixFileSystem() : own
  }
}
