import Annals
import AnnalsStorage
import Foundation

/// An incomplete file, under a temporary name beside its final one.
///
/// A process that is killed leaves it behind. No other process touches it.
struct UnfinishedFile {
  /// The file system of both names.
  let fileSystem: any FileSystem
  /// The final name.
  let destination: String
  /// The temporary name.
  let path: String

  /// Chooses a temporary name. Creates nothing. Throws `.alreadyExists` if there is a file at
  /// `destination`.
  init(for destination: String, in fileSystem: any FileSystem) throws(AnnalsError) {
    self.fileSystem = fileSystem
    self.destination = destination
    path = destination + ".part-" + UUID().uuidString.prefix(8).lowercased()
    let isTaken = try AnnalsError.translating {
      if try fileSystem.identity(of: destination) != nil { return true }
      return try fileSystem.isDanglingLink(destination)
    }
    guard isTaken else { return }
    throw AnnalsError(
      .alreadyExists,
      "there is a file at \(destination), which was left alone. Choose another name, or remove it")
  }

  /// Gives the file, which is synced and closed, its final name, and makes that durable.
  ///
  /// Throws `.alreadyExists` if there is a file of that name by now. After this and any other error
  /// the file is gone. Throws `.outcomeUnknown` if the name could neither be made durable nor
  /// removed again.
  func place() throws(AnnalsError) {
    let made = try? fileSystem.identity(of: path)
    do throws(StorageError) {
      try fileSystem.place(path, at: destination)
      try fileSystem.syncDirectory(of: destination)
    } catch {
      throw undoPlacing(made ?? nil, after: error)
    }
  }

  /// Removes the file, if it is there.
  func discard() { try? fileSystem.remove(path) }

  /// Removes both names of the file; returns the error to throw.
  private func undoPlacing(_ made: FileIdentity?, after failure: StorageError) -> AnnalsError {
    do throws(StorageError) {
      // The call that failed may have made the name nevertheless.
      if let made, try fileSystem.identity(of: destination) == made {
        try fileSystem.remove(destination)
      }
      discard()
      if !failure.isTaken { try fileSystem.syncDirectory(of: destination) }
      return AnnalsError(failure)
    } catch {
      discard()
      return AnnalsError(
        .outcomeUnknown,
        "\(failure) Whether \(destination) was made is not known: after a power cut it may be "
          + "there, whole, or not. Repair the disk, then look", underlying: failure.errno)
    }
  }
}
