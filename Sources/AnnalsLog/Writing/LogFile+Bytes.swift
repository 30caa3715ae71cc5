import AnnalsStorage

extension LogFile {
  /// Runs `body` on the bytes of the file at the path, opened again for reading. `isLocked` says
  /// whether no writer can be at work meanwhile: waits a moment for one to end, then goes on
  /// without the lock. If no file is at the path any more, uses the one that is open.
  ///
  /// Throws `StorageError` if the file cannot be opened, and what `body` throws.
  package func withBytes<R>(
    _ body: (_ file: any StorageFile, _ isLocked: Bool) throws -> R
  ) throws -> R {
    let (own, isLockedHere) = state.withLock { ($0.generation.file, $0.isLocked) }
    var found: (any StorageFile)?
    do throws(StorageError) {
      found = try fileSystem.open(path, for: .reading)
    } catch {
      guard error.isMissing else { throw error }
    }
    guard let file = found else { return try body(own, false) }
    defer { file.close() }
    // A lock that this log holds itself would be awaited in vain.
    if isLockedHere { return try body(file, false) }
    let isLocked = try file.lock(.shared, wait: .until(.now + .seconds(2)))
    return try body(file, isLocked)
  }
}
