import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

/// Where a replica's file comes from, if there is none: a new store, the log's first record, or a
/// snapshot.
struct ReplicaFile: Sendable {
  let location: StoreLocation
  let log: PatientLog
  let options: ReplicaOptions
  let environment: StoreEnvironment

  /// Makes the file unless there is one.
  ///
  /// Throws `.trimmed` if the log lacks its beginning and has no snapshot, `.damaged` for a
  /// snapshot that is not what was put in; and as creating a store does. Then there is no file.
  /// With `original`, the file gets that file's mode and owner.
  func make(like original: String? = nil) async throws {
    let isThere = try AnnalsError.translating {
      try location.fileSystem.identity(of: location.path) != nil
    }
    if isThere { return }
    var retries = Retries(options, environment)
    let page = try await log.asking(&retries) { log throws(SharedLogError) in
      try await log.records(from: 1, limit: 1)
    }
    let snapshots = try await log.snapshots(&retries)
    let usable = snapshots.last {
      $0.details.place.sequence <= page.last && $0.details.place.sequence + 1 >= page.first
    }
    if let usable { return try await fetch(usable.object, like: original, &retries) }
    guard page.last > 0 else { return try create(environment.makeUUID()) }
    guard page.first == 1, let first = page.records.first(where: { $0.sequence == 1 }) else {
      throw ReplicationError(
        .trimmed,
        "the shared log begins with record \(page.first), and has no snapshot from which a new "
          + "replica could start. Put one with another replica")
    }
    try create(try await log.transaction(in: first.record, &retries).store)
  }

  /// Removes the file of a store in which nothing was ever recorded.
  func remove() throws(AnnalsError) {
    try AnnalsError.translating { try location.fileSystem.remove(location.path) }
  }

  private func create(_ store: RawUUID) throws {
    try AnnalsError.translating {
      let new = NewLog(store: store, created: environment.clock())
      _ = try LogFile.create(at: location.path, in: location.fileSystem, new)
    }
  }

  /// Where the pieces of a snapshot are gathered for the file at a path.
  static func partialPath(for path: String) -> String { path + ".part" }

  /// Gets a snapshot into a file beside; it gets its name when it is whole.
  private func fetch(
    _ object: SharedObject, like original: String?, _ retries: inout Retries
  ) async throws {
    let fileSystem = location.fileSystem
    let path = ReplicaFile.partialPath(for: location.path)
    let fetch = SnapshotFetch(log: log, fileSystem: fileSystem, options: options)
    try await fetch.fetch(object, into: path, like: original, &retries)
    try AnnalsError.translating {
      try fileSystem.place(path, at: location.path)
      try fileSystem.syncDirectory(of: location.path)
    }
  }
}
