import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import SystemPackage

/// The bytes of a store's file, for tools that read any file, however damaged, without opening it
/// as a store. Never writes.
package struct StoreFile {
  /// The open file.
  package let file: any StorageFile
  /// Whether no writer can be at work meanwhile.
  package let isLocked: Bool
  /// The size of the file.
  package let size: UInt64

  /// Runs `body` on the file at the path, and closes it.
  ///
  /// Waits a moment for a writer to end, then goes on without the lock; without `locking` takes
  /// none, so that nobody who writes waits.
  ///
  /// - Throws: `AnnalsError` if no file exists or it cannot be read, and what `body` throws.
  package static func with<R>(
    path: String, locking: Bool = true, _ body: (StoreFile) throws -> R
  ) throws -> R {
    do {
      let file = try PosixFileSystem().open(path, for: .reading)
      defer { file.close() }
      let isLocked = try locking && file.lock(.shared, wait: .until(.now + .seconds(2)))
      return try body(StoreFile(file: file, isLocked: isLocked, size: try file.size()))
    } catch let error as StorageError {
      if error.errno == .noSuchFileOrDirectory {
        throw AnnalsError.missingFile(path)
      }
      throw AnnalsError(.io, "\(path) cannot be read", underlying: error.errno)
    }
  }
}
