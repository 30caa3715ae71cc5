import AnnalsFormat
import AnnalsFrames
import AnnalsStorage

/// An unfinished file beside the one that it will become or replace, under a fixed name and locked
/// by its creator.
///
/// It begins with a stamp, and gets its header only when it is finished. A creator that dies leaves
/// it behind without the lock; the next one recognises it by the stamp and removes it.
struct TemporaryFile {
  let file: any StorageFile
  let path: String
  private let fileSystem: any FileSystem

  /// The name of the unfinished file for the one at `path`.
  static func path(for path: String) -> String { path + ".new" }

  /// Creates the file, locked and stamped. It gets mode, owner and extended attributes from
  /// `original`; `known` is the store at `destination`, which it is to replace: then its owner
  /// must be set.
  ///
  /// Throws `busy` if somebody else is creating one, `occupied` if another file has its name.
  init(
    for destination: String, like original: String?, known: Leftover.ExistingStore? = nil,
    in fileSystem: any FileSystem
  ) throws(LogError) {
    self.fileSystem = fileSystem
    path = TemporaryFile.path(for: destination)
    var tries = 0
    while true {
      let made: any StorageFile
      do {
        made = try fileSystem.create(path, like: original, requiresOwner: known != nil)
      } catch {
        guard error.isTaken else { throw .storage(error) }
        tries += 1
        switch try Leftover.clear(path, of: destination, known: known, in: fileSystem) {
        case .none where tries < TemporaryFile.mostTries: continue
        case .none: throw .occupied(path, "it is a symbolic link that leads nowhere")
        case .inUse: throw .busy
        case .foreign(let reason): throw .occupied(path, reason)
        }
      }
      // Between creating and locking it, somebody may have removed the file as stale.
      do throws(StorageError) {
        if try made.lock(.exclusive, wait: .none) {
          let place = try fileSystem.identity(of: path)
          if try place == made.identity() {
            file = made
            try made.write(UnfinishedStamp.block, at: 0)
            try made.sync()
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

  /// How often to try again if the name is taken and yet no file is there.
  private static let mostTries = 100

  /// Seals the file, whose log is written: writes the slots and syncs, then replaces the stamp by
  /// the header and syncs again. `blocks` are the header and the slots; `check` sees the file as it
  /// will be, before it has its header.
  func seal(
    _ blocks: ContiguousArray<UInt8>, check: (any StorageFile) throws -> Void = { _ in }
  ) throws(LogError) {
    let length = FormatLimits.blockLength
    let header = ContiguousArray(blocks.prefix(length))
    try wrapping {
      try file.write(ContiguousArray(blocks.dropFirst(length)), at: UInt64(length))
      try file.sync()
    }
    try wrapping { try check(FileWithHeader(file, header: header)) }
    try wrapping {
      try file.write(header, at: 0)
      try file.sync()
    }
  }

  /// Removes the file, durably. Ignores errors: it counts as stale from now on.
  func discard() {
    removeName()
    file.close()
  }

  /// Removes the name, and hands the file over to hold bytes behind its stamp.
  func withoutName() throws(LogError) -> SpoolFile {
    do throws(StorageError) {
      try fileSystem.remove(path)
    } catch {
      file.close()
      throw .storage(error)
    }
    file.unlock()
    return SpoolFile(file, from: UInt64(FormatLimits.blockLength))
  }

  private func removeName() {
    try? fileSystem.remove(path)
    try? fileSystem.syncDirectory(of: path)
  }

  /// Gives the sealed file its name, makes the name durable, and closes the file.
  ///
  /// Throws `exists` if a file exists by now, `storage` for anything else: then nothing is left,
  /// also after a power cut. Throws `placementUnknown` if the name could not be removed for
  /// certain. The lock is held to the end, so nobody can have written to the file.
  func put(at destination: String) throws(LogError) {
    defer { file.close() }
    do throws(StorageError) {
      try fileSystem.place(path, at: destination)
      try fileSystem.syncDirectory(of: destination)
    } catch {
      throw undoPlacement(destination, after: error)
    }
  }

  /// Removes both names of the file, which could not be put in place; returns the error to throw.
  private func undoPlacement(_ destination: String, after failure: StorageError) -> LogError {
    do throws(StorageError) {
      guard let place = try fileSystem.identity(of: destination) else {
        removeName()
        return .storage(failure)
      }
      guard try place == file.identity() else {
        removeName()
        return failure.isTaken ? .exists(destination) : .storage(failure)
      }
      try fileSystem.remove(destination)
      try? fileSystem.remove(path)
      // The failed call may have given the name all the same, and the name may already be on the
      // disk.
      try fileSystem.syncDirectory(of: destination)
      return .storage(failure)
    } catch {
      try? fileSystem.remove(path)
      return .placementUnknown(destination, failure)
    }
  }
}

extension FileSystem {
  /// The path of a file to make, with the links to its directory followed. Throws `exists` if
  /// anything has its name, even a symbolic link that leads nowhere.
  func pathOfNewFile(_ path: String) throws(LogError) -> String {
    let resolved = try wrapping { try resolve(path) }
    let isTaken = try wrapping {
      if try identity(of: resolved) != nil { return true }
      return try isDanglingLink(path)
    }
    guard !isTaken else { throw .exists(path) }
    return resolved
  }
}

extension LogFile {
  /// The file whose mode, owner and extended attributes a copy gets; nil for a store in memory, and
  /// if the file's name is gone: then nothing says whose the copy is.
  package var original: String? {
    guard !(fileSystem is MemoryFileSystem) else { return nil }
    return (try? fileSystem.identity(of: path)) == nil ? nil : path
  }

  /// The path of a scratch store whose newest state is to become the base of the store at `path`.
  package static func scratchPath(for path: String) -> String { path + ".base" }

  /// The path for which a spool is made, one of a few.
  static func spoolPath(for path: String, _ number: Int) -> String { "\(path).spool\(number)" }
  /// How many spools can be made in the same moment.
  static let spoolNames = 2
  static let mostSpoolTries = 1_000

  /// Removes what a dead creator left at `scratchPath(for:)`. Throws `busy` if its creator lives,
  /// `occupied` if another file is there.
  package static func clearScratch(
    for path: String, in fileSystem: any FileSystem
  ) throws(LogError) {
    let scratch = scratchPath(for: path)
    switch try Leftover.clearScratch(scratch, of: path, in: fileSystem) {
    case .none: return
    case .inUse: throw .busy
    case .foreign(let reason): throw .occupied(scratch, reason)
    }
  }

  /// Removes what an interrupted rewrite or creation of the store left; leaves anybody else's
  /// files.
  func removeLeftovers(_ state: LogState) throws(LogError) {
    let known = Leftover.ExistingStore(
      header: state.generation.header, head: state.tables.head.number)
    _ = try Leftover.clear(
      TemporaryFile.path(for: path), of: path, known: known, in: fileSystem)
    let scratch = LogFile.scratchPath(for: path)
    _ = try Leftover.clear(
      TemporaryFile.path(for: scratch), of: scratch, known: nil, in: fileSystem)
    _ = try Leftover.clearScratch(scratch, of: path, in: fileSystem)
    for number in 0..<LogFile.spoolNames {
      let spool = LogFile.spoolPath(for: path, number)
      _ = try Leftover.clear(
        TemporaryFile.path(for: spool), of: spool, known: nil, in: fileSystem)
    }
  }
}
