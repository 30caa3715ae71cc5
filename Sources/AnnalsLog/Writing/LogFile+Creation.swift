import AnnalsFormat
import AnnalsModel
import AnnalsStorage

/// The parameters of a new store.
package struct NewLog: Sendable {
  /// The store's identity.
  package var store: RawUUID
  package var created: Timestamp
  /// The number before its first transaction; the state there is empty.
  package var base: Int64 = 0

  package init(store: RawUUID, created: Timestamp) {
    self.store = store
    self.created = created
  }

  /// The identity of every scratch store (`LogFile.scratchPath(for:)`), which tells it from any
  /// other: the bytes `Annals: scratch.`.
  package static let scratchStore = RawUUID(
    high: 0x416E_6E61_6C73_3A20, low: 0x7363_7261_7463_682E)
}

extension LogFile {
  /// Creates a store without transactions at `path`. The file is made beside it, whole and synced,
  /// and then gets its name in one step, so that nobody ever sees half of one.
  ///
  /// Returns false if a file existed already, or if another creator was faster: then open that.
  /// Throws `busy` if another creator takes longer than ten seconds, `occupied` if a file that is
  /// not an unfinished one has its name. Leaves nothing if it throws, except after
  /// `placementUnknown`: then the store may exist.
  package static func create(
    at path: String, in fileSystem: any FileSystem, _ new: NewLog
  ) throws(LogError) -> Bool {
    let path = try wrapping { try fileSystem.resolve(path) }
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while true {
      let place = try wrapping { try fileSystem.identity(of: path) }
      if place != nil { return false }
      do throws(LogError) {
        let temporary = try TemporaryFile(for: path, like: nil, in: fileSystem)
        try seal(new, temporary)
        do throws(LogError) {
          try temporary.put(at: path)
        } catch .exists {
          return false
        }
        return true
      } catch .busy {
        guard ContinuousClock.now < deadline else { throw .busy }
        awaitCreator(of: path, in: fileSystem, until: deadline)
      }
    }
  }

  /// Creates a store in place of an empty file, and gives it that file's mode, owner and extended
  /// attributes. Returns false if the file is not empty any more: another creator was faster.
  ///
  /// Throws as `create` does; `hardLinked` if the file has other names. The lock of the empty file
  /// is held meanwhile, so that two creators cannot replace each other's stores.
  package static func create(
    inPlaceOfEmpty path: String, in fileSystem: any FileSystem, _ new: NewLog
  ) throws(LogError) -> Bool {
    let path = try wrapping { try fileSystem.resolve(path) }
    let empty = try wrapping { try fileSystem.open(path, for: .writing) }
    defer { empty.close() }
    let isEmpty = try wrapping { () -> Bool? in
      guard try empty.lock(.exclusive, wait: .until(.now + .seconds(10))) else { return nil }
      let (place, own, size) = (
        try fileSystem.identity(of: path), try empty.identity(), try empty.size()
      )
      return place == own && size == 0
    }
    guard let isEmpty else { throw .busy }
    if !isEmpty { return false }
    let names = try wrapping { try fileSystem.linkCount(of: path) }
    guard names <= 1 else { throw .hardLinked(names) }
    let temporary = try TemporaryFile(for: path, like: path, in: fileSystem)
    try seal(new, temporary)
    do throws(StorageError) {
      try fileSystem.rename(temporary.path, over: path)
    } catch {
      temporary.discard()
      throw .storage(error)
    }
    defer { temporary.file.close() }
    do throws(StorageError) {
      try fileSystem.syncDirectory(of: path)
    } catch {
      throw .placementUnknown(path, error)
    }
    return true
  }

  /// Puts an empty file of the same mode, owner and extended attributes in the file's place,
  /// durably. The caller holds the lock, as for `remove`; others find another file at the path.
  package func replaceWithEmpty() throws(LogError) {
    precondition(state.withLock { $0.isLocked }, "a file is replaced under its lock")
    let temporary = try TemporaryFile(for: path, like: path, in: fileSystem)
    defer { temporary.file.close() }
    do throws(StorageError) {
      try temporary.file.truncate(to: 0)
      try temporary.file.sync()
      try fileSystem.rename(temporary.path, over: path)
    } catch {
      temporary.discard()
      throw .storage(error)
    }
    try wrapping { try fileSystem.syncDirectory(of: path) }
  }

  /// Removes the file from its path, durably. The caller holds the lock, so that nobody writes to
  /// it; the next `lock` finds no file.
  package func remove() throws(LogError) {
    precondition(state.withLock { $0.isLocked }, "a file is removed under its lock")
    try wrapping {
      try fileSystem.remove(path)
      try fileSystem.syncDirectory(of: path)
    }
  }

  /// Waits until nobody rewrites the file, or until the deadline; at least for a moment.
  package func awaitRewrite(until deadline: ContinuousClock.Instant) {
    LogFile.awaitCreator(of: path, in: fileSystem, until: deadline)
    // The unfinished file may be gone, or about to be locked.
    sleepThread(for: .milliseconds(2))
  }

  /// Waits until the creator of a file for `path` releases it.
  private static func awaitCreator(
    of path: String, in fileSystem: any FileSystem, until deadline: ContinuousClock.Instant
  ) {
    let temporary = TemporaryFile.path(for: path)
    guard let file = try? fileSystem.open(temporary, for: .reading) else { return }
    _ = try? file.lock(.shared, wait: .until(deadline))
    file.close()
  }

  /// Writes the first blocks of an empty store. If that fails, the file is removed.
  private static func seal(_ new: NewLog, _ temporary: TemporaryFile) throws(LogError) {
    var header = FileHeader(
      store: new.store, generation: 1, base: new.base, created: new.created)
    _ = header.encode()
    let bytes = header.encode(
      with: RootSlot(
        sequence: 1, durableMark: FormatLimits.logStart, head: new.base,
        markChecksum: header.checksum))
    do throws(LogError) {
      try temporary.seal(bytes)
    } catch {
      temporary.discard()
      throw error
    }
  }
}
