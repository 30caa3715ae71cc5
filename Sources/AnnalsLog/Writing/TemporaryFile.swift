import AnnalsStorage

/// A file in the making beside the one that it is to become or to replace, under a fixed name and
/// locked by its maker.
///
/// A maker that dies leaves it behind, without the lock; whoever comes next removes it.
struct TemporaryFile {
  let file: any StorageFile
  let path: String
  private let fileSystem: any FileSystem

  /// The name of the file in the making for the one at `path`.
  static func path(for path: String) -> String { path + ".new" }

  /// Makes the file, empty and locked. `original` lends it mode, owner and extended attributes.
  /// Throws `busy` if somebody else is making one.
  init(
    for destination: String, like original: String?, in fileSystem: any FileSystem
  ) throws(LogError) {
    self.fileSystem = fileSystem
    path = TemporaryFile.path(for: destination)
    while true {
      let made: any StorageFile
      do {
        made = try fileSystem.create(path, like: original)
      } catch {
        guard error.isTaken else { throw .storage(error) }
        guard try TemporaryFile.removeStale(for: destination, in: fileSystem) else { throw .busy }
        continue
      }
      // Between its making and its locking somebody may have taken the file for a stale one.
      do throws(StorageError) {
        if try made.lock(.exclusive, wait: .none) {
          let place = try fileSystem.identity(of: path)
          if try place == made.identity() {
            file = made
            return
          }
        }
        made.close()
      } catch {
        made.close()
        try? fileSystem.remove(path)
        throw .storage(error)
      }
    }
  }

  /// Removes the file. Errors do not matter: it is stale from now on.
  func discard() {
    try? fileSystem.remove(path)
    file.close()
  }

  /// Gives the finished file its name, makes the name durable, and closes the file.
  ///
  /// Throws `exists` if there is a file by now, `storage` for all else: then nothing is left, also
  /// after a power cut. Throws `placementUnknown` if the name could not be taken back for certain.
  /// The lock is held to the end, so that nobody can have written to the file.
  func put(at destination: String) throws(LogError) {
    defer { file.close() }
    do throws(StorageError) {
      try fileSystem.place(path, at: destination)
      try fileSystem.syncDirectory(of: destination)
    } catch {
      throw takeBack(destination, after: error)
    }
  }

  /// Removes both names of the file, which could not be put in its place; returns the error to
  /// throw.
  private func takeBack(_ destination: String, after failure: StorageError) -> LogError {
    defer { try? fileSystem.remove(path) }
    do throws(StorageError) {
      guard let place = try fileSystem.identity(of: destination) else { return .storage(failure) }
      guard try place == file.identity() else {
        return failure.isTaken ? .exists(destination) : .storage(failure)
      }
      try fileSystem.remove(destination)
      // The call that failed may have given the name all the same, and that be on the disk already.
      try fileSystem.syncDirectory(of: destination)
      return .storage(failure)
    } catch {
      return .placementUnknown(destination, failure)
    }
  }

  /// Removes a file that a dead maker left. Returns false if its maker lives.
  @discardableResult
  static func removeStale(
    for destination: String, in fileSystem: any FileSystem
  ) throws(LogError) -> Bool {
    try removeStale(path(for: destination), for: destination, in: fileSystem)
  }

  /// Removes the file at `path` if nobody holds its lock, or it is the one at `destination` under
  /// another name. Returns false if somebody holds it.
  fileprivate static func removeStale(
    _ path: String, for destination: String, in fileSystem: any FileSystem
  ) throws(LogError) -> Bool {
    do throws(StorageError) {
      guard let place = try fileSystem.identity(of: path) else { return true }
      // A maker on a file system without a better way links the finished file into place before it
      // removes this name: then the file is the store itself, and only the name is stale.
      if try fileSystem.identity(of: destination) == place {
        try fileSystem.remove(path)
        return true
      }
      let file = try fileSystem.open(path, for: .writing)
      defer { file.close() }
      guard try file.lock(.exclusive, wait: .none) else { return false }
      if try fileSystem.identity(of: path) == file.identity() { try fileSystem.remove(path) }
      return true
    } catch {
      if error.isMissing { return true }
      throw .storage(error)
    }
  }
}

extension LogFile {
  /// Where a store is made whose newest state is to become the base of the one at `path`.
  package static func scratchPath(for path: String) -> String { path + ".base" }

  /// Removes what a dead maker left at `scratchPath(for:)`. Returns false if its maker lives, or
  /// what is there is no store.
  @discardableResult
  package static func removeStaleScratch(
    for path: String, in fileSystem: any FileSystem
  ) throws(LogError) -> Bool {
    let scratch = scratchPath(for: path)
    try TemporaryFile.removeStale(for: scratch, in: fileSystem)
    let place = try storage { () throws(StorageError) in try fileSystem.identity(of: scratch) }
    if place == nil { return true }
    // Unlike the name of a file in the making this one may be somebody's own.
    guard let file = try? fileSystem.open(scratch, for: .reading) else { return false }
    defer { file.close() }
    guard (try? LogGeneration.open(file)) != nil else { return false }
    return try TemporaryFile.removeStale(scratch, for: path, in: fileSystem)
  }

  /// Removes what a rewrite or the making of the store left that was cut short, if there is
  /// anything.
  func removeStaleFile() throws(LogError) {
    try TemporaryFile.removeStale(for: path, in: fileSystem)
    try LogFile.removeStaleScratch(for: path, in: fileSystem)
  }
}
