import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage

extension Store {
  /// Whether a transaction that does not come from a shared log would part the file from one: its
  /// newest came from there, or it is the origin of a log that has no record yet, or a copy of it
  /// from a snapshot; then the file that names it as a replica is beside it. Throws as reading
  /// history does.
  package func isReplica() throws(AnnalsError) -> Bool {
    if try version.newestPlace() != nil { return true }
    guard let path = originalOfCopies else { return false }
    return try AnnalsError.translating {
      try fileSystemOfCopies.identity(of: Registrar.sidePath(of: path)) != nil
    }
  }

  /// Makes the file one of no log: what names it as a replica is removed.
  package func leaveLog() throws(AnnalsError) {
    guard let path = originalOfCopies else { return }
    try AnnalsError.translating {
      let side = Registrar.sidePath(of: path)
      guard try fileSystemOfCopies.identity(of: side) != nil else { return }
      try fileSystemOfCopies.remove(side)
    }
  }
}
