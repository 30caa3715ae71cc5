import AnnalsStorage

extension LogFile {
  /// Runs `body` on the bytes of the file at the path, opened once more for reading, and says
  /// whether no writer can be at work meanwhile: waits a moment for one to finish, then goes on
  /// without the lock. Where there is no file any more, on that which is open.
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
    // What this very log holds would be waited for in vain.
    if isLockedHere { return try body(file, false) }
    let isLocked = try file.lock(.shared, wait: .until(.now + .seconds(2)))
    return try body(file, isLocked)
  }
}
