import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

extension Replica {
  /// Puts a snapshot of this replica's store into the log: its whole file as of now, with its
  /// history. A new replica starts from the newest snapshot and the records after it.
  ///
  /// Makes a backup beside the file meanwhile (of a store in memory, in the system's folder for
  /// temporary files), and removes it. Memory: one piece. Reading and writing go on.
  ///
  /// - Returns: the position of the snapshot.
  /// - Throws: as `Store.backup`; `ReplicationError.unavailable` if the log was not reached by the
  ///   deadline. Then the log has no such snapshot, but for pieces that nobody sees.
  @discardableResult
  public func putSnapshot() async throws -> Token {
    try requireOpen()
    let place = try currentPlace()
    return try await putSnapshot(knowing: place)
  }

  /// As `putSnapshot()`; `known` is a place that the store has, or has had.
  func putSnapshot(knowing known: ReplicaPlace) async throws -> Token {
    let fileSystem = store.fileSystemOfCopies
    let isBesideStore = store.originalOfCopies != nil
    let folder = isBesideStore ? nil : FileManager.default.temporaryDirectory.path + "/"
    let name = ".snapshot-" + String(environment.random(), radix: 16)
    let path = (folder.map { $0 + "annals" } ?? writer.log.path) + name
    let (token, place) = try await blocking { [store] in
      let token = try store.backup(to: path)
      let found =
        token.number == known.number ? known : try store.version.place(of: token.number)
      guard let found else { throw ReplicationError.notFromLog(store.version) }
      return (token, found)
    }
    defer { try? fileSystem.remove(path) }
    let details = SnapshotDetails(token, place)
    let objectName = details.name(environment.random())
    let file = try AnnalsError.translating { try fileSystem.open(path, for: .reading) }
    defer { file.close() }
    var retries = Retries(options, environment)
    var hash = SHA256()
    let length: UInt64
    do {
      length = try await put(file, as: objectName, &hash, &retries)
    } catch {
      // If this fails, too, its pieces stay where nobody sees them.
      try? await log.shared.remove(object: objectName)
      throw error
    }
    let object = SharedObject(
      name: objectName, length: length, pieceLength: log.shared.longestPiece,
      digest: hash.digest(), details: details.bytes)
    try await log.asking(&retries) { log throws(SharedLogError) in try await log.complete(object) }
    return token
  }

  /// Puts a file's pieces. Returns how many bytes they have.
  private func put(
    _ file: any StorageFile, as objectName: String, _ hash: inout SHA256, _ retries: inout Retries
  ) async throws -> UInt64 {
    var length: UInt64 = 0
    var index = 0
    while true {
      if Task.isCancelled { throw AnnalsError.cancelledWrite }
      let (start, count) = (length, log.shared.longestPiece)
      let piece = try await blocking { try file.piece(at: start, count) }
      if piece.isEmpty { return length }
      piece.withUnsafeBytes { hash.add($0) }
      length += UInt64(piece.count)
      try await log.asking(&retries) { log throws(SharedLogError) in
        try await log.put(piece, at: index, of: objectName)
      }
      index += 1
    }
  }
}
