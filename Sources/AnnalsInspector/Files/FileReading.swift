import Annals
import AnnalsStorage
import Foundation
import SystemPackage

/// Reads the bytes of any file, however damaged. Takes no lock, so that nobody who writes waits.
enum FileReading {
  /// Runs `body` on the file at the path, and closes it.
  static func with<R>(_ path: String, _ body: (any StorageFile) throws -> R) throws -> R {
    do {
      let file = try PosixFileSystem().open(path, for: .reading)
      defer { file.close() }
      return try body(file)
    } catch let error as StorageError {
      if error.errno == .noSuchFileOrDirectory { throw AnnalsError.missingFile(path) }
      throw AnnalsError(.io, "\(path) cannot be read", underlying: error.errno)
    }
  }

  /// Which bytes the file has. Throws `.notFound` if there is none.
  static func stamp(of path: String) throws(AnnalsError) -> FileStamp {
    guard let found = try? FileManager.default.attributesOfItem(atPath: path),
      found[.type] as? FileAttributeType == .typeRegular
        || (found[.type] as? FileAttributeType == .typeSymbolicLink)
    else { throw .missingFile(path) }
    let time = found[.modificationDate] as? Date ?? .distantPast
    return FileStamp(
      size: (found[.size] as? NSNumber)?.uint64Value ?? 0,
      modified: Int64(time.timeIntervalSince1970 * 1_000_000),
      inode: (found[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0)
  }
}
