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

  /// Makes the file unless there is one; where another process is making it, waits for that.
  ///
  /// Throws `.trimmed` if the log lacks its beginning and has no snapshot, `.damaged` for a
  /// snapshot that is not what was put in; and as creating a store does. Then there is no file.
  /// With `original`, the file gets that file's mode and owner.
  func make(like original: String? = nil) async throws {
    var retries = Retries(options, environment)
    while true {
      let isThere = try AnnalsError.translating {
        try location.fileSystem.identity(of: location.path) != nil
      }
      if isThere { return }
      do {
        return try await makeNew(like: original, &retries)
      } catch let error as AnnalsError where [.busy, .alreadyExists].contains(error.code) {
        guard await retries.wait() else { throw error }
      }
    }
  }

  private func makeNew(like original: String?, _ retries: inout Retries) async throws {
    let page = try await log.page(at: 1, &retries)
    if try await fetch(like: original, &retries) { return }
    guard page.last > 0 else { return try create(environment.makeUUID()) }
    guard page.first == 1, let first = page.records.first(where: { $0.sequence == 1 }) else {
      throw ReplicationError(
        .trimmed,
        "the shared log begins with record \(page.first), and has no snapshot from which a new "
          + "replica could start. Put one with another replica")
    }
    let transaction = try await log.transaction(in: first.record, &retries)
    guard transaction.number == 1 else {
      throw ReplicationError(
        .trimmed,
        "the shared log begins with transaction \(transaction.number) of its store, and has no "
          + "snapshot with those before. Put one with another replica")
    }
    try create(transaction.store)
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

  /// Gets the newest snapshot of the log's history into a file beside; it gets its name when it is
  /// whole. Returns false if there is none.
  private func fetch(like original: String?, _ retries: inout Retries) async throws -> Bool {
    let fileSystem = location.fileSystem
    let path = ReplicaFile.partialPath(for: location.path)
    let fetch = SnapshotFetch(log: log, fileSystem: fileSystem, options: options)
    let registrar = Registrar(
      log: log, fileSystem: fileSystem, path: original ?? location.path, options: options,
      environment: environment)
    let fetched = try await fetch.fetch(into: path, like: original, &retries) { retries in
      for (object, details) in try await log.snapshots(&retries).reversed()
      where try await log.agrees(with: details.place, &retries) {
        // The snapshot and the records after it stay there meanwhile.
        if var registration = try registrar.registration(at: details.place) {
          registration.fetching = object.name
          do {
            try await registrar.register(registration, &retries)
          } catch let error as ReplicationError where error.code != .unavailable {
            // It opens without, and is told then.
          }
        }
        return object
      }
      return nil
    }
    guard let fetched else { return false }
    // Nobody else gets it under this name any more, once the lock is given up.
    defer { fetched.close() }
    // Each replica has its own consumers, and a snapshot has those of who put it.
    if original == nil {
      try AnnalsError.translating { try registrar.note(othersConsumers: true) }
    } else {
      fetched.close()
      let store = try Store(StoreLocation(fileSystem: fileSystem, path: path), creates: false)
      defer { try? store.close() }
      for consumer in store.consumers { try store.removeConsumer(consumer.name) }
    }
    do {
      try AnnalsError.translating { try fileSystem.place(path, at: location.path) }
    } catch {
      // Another process was faster, and this copy is not needed.
      if error.code == .alreadyExists { try? fileSystem.remove(path) }
      throw error
    }
    try AnnalsError.translating { try fileSystem.syncDirectory(of: location.path) }
    return true
  }
}
