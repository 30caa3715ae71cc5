import Annals
import Foundation

/// Tells one state of a file from another.
enum FileReading {
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
