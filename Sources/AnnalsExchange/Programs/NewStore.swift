import Annals
import AnnalsStorage

/// A store that is made of lines: its file gets its name when all of them are in it.
package struct NewStore {
  private let unfinished: UnfinishedFile

  /// Chooses a temporary name. Creates nothing. Throws `.alreadyExists` if there is a file at the
  /// path.
  package init(at path: String, in fileSystem: any FileSystem) throws(AnnalsError) {
    unfinished = try UnfinishedFile(for: path, in: fileSystem)
  }

  /// A new store at the path; nil if there is a file.
  package static func unlessTaken(_ path: String) throws(AnnalsError) -> NewStore? {
    let fileSystem = PosixFileSystem()
    let isTaken = try AnnalsError.translating { try fileSystem.identity(of: path) != nil }
    return isTaken ? nil : try NewStore(at: path, in: fileSystem)
  }

  /// Where to create the store.
  package var location: StoreLocation {
    StoreLocation(
      fileSystem: unfinished.fileSystem, path: unfinished.path, commitRun: .milliseconds(5))
  }

  /// Closes the store, and gives its file the name. Throws `.alreadyExists` if there is a file of
  /// that name by now. After any error nothing is left, except after `.outcomeUnknown`.
  package func place(_ store: Store) throws {
    do {
      try store.close()
    } catch {
      unfinished.discard()
      throw error
    }
    try unfinished.place()
  }

  /// Closes the store, if it was made, and removes its file.
  package func discard(_ store: Store?) {
    try? store?.close()
    unfinished.discard()
  }
}
