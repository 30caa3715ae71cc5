import Annals
import AnnalsEngine
import AnnalsStorage

/// Gets a snapshot from the log into a file, piece by piece; goes on with what an earlier attempt
/// has got.
///
/// Whose pieces a file has is told by the first one, and proved by the digest of all. A file of
/// another snapshot, or one that a power cut has torn, is begun anew.
struct SnapshotFetch: Sendable {
  let log: PatientLog
  let fileSystem: any FileSystem
  let options: ReplicaOptions

  /// A snapshot that is not in the log any more.
  private struct Gone: Error {}

  /// Gets the snapshot that `choose` names into the file at `path`; another one if it is removed
  /// meanwhile. Returns the file, whose lock is held until it is closed; nil if there is none.
  /// Throws as the other form, and as `choose`.
  func fetch(
    into path: String, like original: String?, _ retries: inout Retries,
    _ choose: (inout Retries) async throws -> SharedObject?
  ) async throws -> (any StorageFile)? {
    var gone: SharedObject?
    while let object = try await choose(&retries) {
      if object == gone {
        throw ReplicationError(.damaged, "the log lacks a part of the snapshot \(object.name)")
      }
      do {
        return try await fetch(object, into: path, like: original, &retries)
      } catch is Gone {
        gone = object
      }
    }
    return nil
  }

  /// Gets the snapshot into the file at `path`, synced, and returns that, locked. A new file gets
  /// the mode and owner of `original`.
  ///
  /// Throws `.damaged` if the log's bytes are not what was put in, and removes the file;
  /// `.unavailable`, and leaves what it has got; `.busy` if another process writes the file.
  private func fetch(
    _ object: SharedObject, into path: String, like original: String?, _ retries: inout Retries
  ) async throws -> any StorageFile {
    let file = try open(path, like: original)
    do {
      try await fill(file, with: object, at: path, &retries)
      return file
    } catch {
      file.close()
      throw error
    }
  }

  private func fill(
    _ file: any StorageFile, with object: SharedObject, at path: String, _ retries: inout Retries
  ) async throws {
    var start = try await pieceCount(of: object, in: file, &retries)
    while try await !get(object, into: file, from: start, &retries) {
      guard start > 0 else {
        try? fileSystem.remove(path)
        throw ReplicationError(
          .damaged,
          "the snapshot \(object.name) is not what was put into the log. Put another one with "
            + "another replica, and remove it")
      }
      start = 0
    }
    try AnnalsError.translating { try file.sync() }
  }

  private func open(_ path: String, like original: String?) throws -> any StorageFile {
    try AnnalsError.translating {
      let isThere = try fileSystem.identity(of: path) != nil
      let file =
        isThere
        ? try fileSystem.open(path, for: .writing)
        : try fileSystem.create(path, like: original, requiresOwner: false)
      // Who had the lock may have given the file another name.
      guard try file.lock(.exclusive, wait: .none),
        try fileSystem.identity(of: path) == file.identity()
      else {
        file.close()
        throw AnnalsError(.busy, "another process is getting the snapshot \(path)")
      }
      return file
    }
  }

  /// How many pieces of the object the file has, as far as its first one says.
  private func pieceCount(
    of object: SharedObject, in file: any StorageFile, _ retries: inout Retries
  ) async throws -> Int {
    let size = try AnnalsError.translating { try file.size() }
    let count =
      size >= object.length
      ? object.pieceCount : Int(size / UInt64(max(object.pieceLength, 1)))
    guard count > 0 else { return 0 }
    let first = try await pieces(0..<1, of: object, &retries)[0]
    return try file.piece(at: 0, first.count) == first ? count : 0
  }

  private func pieces(
    _ range: Range<Int>, of object: SharedObject, _ retries: inout Retries
  ) async throws -> [[UInt8]] {
    let found = try await log.asking(&retries) { log throws(SharedLogError) -> [[UInt8]]? in
      do throws(SharedLogError) {
        return try await log.pieces(range, of: object)
      } catch {
        if case .missing = error { return nil }
        throw error
      }
    }
    guard let found, !found.isEmpty, found.count <= range.count else { throw Gone() }
    return found
  }

  /// The pieces that are wanted next; none if there are none, or they cannot be had at once.
  private func piecesAhead(
    _ index: Int, of object: SharedObject, _ retries: Retries
  ) async -> [[UInt8]] {
    guard index < object.pieceCount else { return [] }
    var own = retries
    return (try? await pieces(object.page(from: index), of: object, &own)) ?? []
  }

  /// Gets the pieces from `start` on, some while those before them are written. Returns whether all
  /// together are the object.
  private func get(
    _ object: SharedObject, into file: any StorageFile, from start: Int, _ retries: inout Retries
  ) async throws -> Bool {
    var hash = SHA256()
    var length: UInt64 = 0
    func add(_ piece: [UInt8], _ index: Int) -> Bool {
      piece.withUnsafeBytes { hash.add($0) }
      length += UInt64(piece.count)
      options.snapshotProgress?(index + 1, object.pieceCount)
      return length <= object.length
    }
    for index in 0..<start {
      let rest = min(UInt64(object.pieceLength), object.length - length)
      guard add(try file.piece(at: length, Int(rest)), index) else { return false }
    }
    var index = start
    var ahead: [[UInt8]] = []
    while index < object.pieceCount {
      var page = ahead
      if page.isEmpty { page = try await pieces(object.page(from: index), of: object, &retries) }
      let after = index + page.count
      async let next = piecesAhead(after, of: object, retries)
      for piece in page {
        try AnnalsError.translating { try piece.withUnsafeBytes { try file.write($0, at: length) } }
        guard add(piece, index) else { return false }
        index += 1
      }
      ahead = await next
    }
    try AnnalsError.translating { try file.truncate(to: length) }
    return length == object.length && hash.digest() == object.digest
  }
}

extension StorageFile {
  /// The bytes from an offset on, fewer than asked for only at the end.
  func piece(at offset: UInt64, _ count: Int) throws(AnnalsError) -> [UInt8] {
    try AnnalsError.translating {
      try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
    }
  }
}
