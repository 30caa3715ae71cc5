import AnnalsEngine
import AnnalsLog
import AnnalsStorage

extension Store {
  /// Copies the store into a new file: the whole history up to the newest transaction acknowledged
  /// here, under the same UUID and with the same numbers. Reading and writing go on meanwhile, in
  /// this process and in others, and so may a prune or a compaction.
  ///
  /// The copy is synced, and verified as a file, before it has its name: a crash leaves the whole
  /// copy or none. It has the mode and owner of the store. A store in memory is copied into a file.
  /// A copy that is written to goes a way of its own: tokens of one are `.lostBranch` to the other
  /// from there on.
  ///
  /// Costs writing the file once and reading it three times; memory does not grow with it. Safe on
  /// any thread.
  ///
  /// - Returns: the position that the copy reaches to.
  /// - Throws: `.alreadyExists` if there is a file at `path`, which is left alone; `.damaged`, with
  ///   the place in this store's file, if the copy would not be sound; `.noSpace`, `.permission`,
  ///   `.io`; `.busy` if another backup to that path is being made. Nothing is left at `path` then.
  ///   `.outcomeUnknown` if the new name could neither be made durable nor taken back: the copy is
  ///   there, whole, or not.
  @discardableResult
  public func backup(to path: String) throws(AnnalsError) -> Token {
    if let damage = findings.first(where: { $0.severity == .error }) {
      throw AnnalsError(
        .damaged,
        "\(damage.message). A copy would lack them, so nothing was written. Restore a copy, or "
          + "salvage everything readable into a new file", offset: damage.offset)
    }
    let version = version
    let log = writer.log
    let isInMemory = log.fileSystem is MemoryFileSystem
    let fileSystem: any FileSystem = isInMemory ? PosixFileSystem() : log.fileSystem
    do throws(LogError) {
      _ = try version.view.backUp(
        to: path, in: fileSystem, like: isInMemory ? nil : log.path
      ) { try Store.requireSound($0, copiedFrom: $1) }
    } catch {
      throw AnnalsError(error)
    }
    return version.token
  }
}
