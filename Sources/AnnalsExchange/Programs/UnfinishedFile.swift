import Annals
import AnnalsStorage
import Foundation

/// A file in the making, under a name of its own beside the one that it is to have.
///
/// A process that dies leaves it behind; nobody else touches it.
struct UnfinishedFile {
  /// The file system of both names.
  let fileSystem: any FileSystem
  /// The name that the file is to have.
  let destination: String
  /// The name that it has until then.
  let path: String

  /// A name for a file that is to become the one at `destination`. Nothing is created yet. Throws
  /// `.alreadyExists` if there is a file there.
  init(for destination: String, in fileSystem: any FileSystem) throws(AnnalsError) {
    self.fileSystem = fileSystem
    self.destination = destination
    path = destination + ".part-" + UUID().uuidString.prefix(8).lowercased()
    let isTaken = try UnfinishedFile.storing { () throws(StorageError) in
      try fileSystem.identity(of: destination) != nil
    }
    guard isTaken else { return }
    throw AnnalsError(
      .alreadyExists,
      "there is a file at \(destination), which was left alone. Choose another name, or remove it")
  }

  /// Gives the file, which is synced and closed, its name, and makes that durable.
  ///
  /// Throws `.alreadyExists` if there is a file by now: then, and after other errors, this one is
  /// gone. Throws `.outcomeUnknown` if the name could neither be made durable nor taken back.
  func place() throws(AnnalsError) {
    let made = try? fileSystem.identity(of: path)
    do throws(StorageError) {
      try fileSystem.place(path, at: destination)
      try fileSystem.syncDirectory(of: destination)
    } catch {
      throw takeBack(made ?? nil, after: error)
    }
  }

  /// Removes the file, if it is there.
  func discard() { try? fileSystem.remove(path) }

  /// Removes both names of the file; returns the error to throw.
  private func takeBack(_ made: FileIdentity?, after failure: StorageError) -> AnnalsError {
    do throws(StorageError) {
      // The call that failed may have given the name all the same.
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
          + "there, whole, or not. Mend the disk, then look", underlying: failure.errno)
    }
  }

  /// Runs `body` with the errors of the file system as those of the interface.
  static func storing<R>(_ body: () throws(StorageError) -> R) throws(AnnalsError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      throw AnnalsError(error)
    }
  }
}
