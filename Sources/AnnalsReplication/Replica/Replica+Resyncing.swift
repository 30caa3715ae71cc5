import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage

// A replica that needs records which the log has trimmed takes their transactions from a snapshot,
// into its own file: so its history, its consumers with their positions and leases, what is saved
// of projections, and everything that is open on the file stay.

extension Replica {
  /// Takes the transactions that the log has trimmed, all before record `first`, from the newest
  /// snapshot, for the holder of the turn.
  ///
  /// Throws `.trimmed` if there is no snapshot that has them, `.branched` if this file's history is
  /// not in it, `.damaged`; `.unavailable` if it was not got by the deadline: the next attempt goes
  /// on with what there is of it.
  func resync(before first: UInt64, _ retries: inout Retries) async throws {
    let place = try currentPlace()
    let (fileSystem, path) = (writer.log.fileSystem, writer.log.path)
    let part = ReplicaFile.partialPath(for: path)
    let fetch = SnapshotFetch(log: log, fileSystem: fileSystem, options: options)
    defer { content.withLock { $0.fetching = nil } }
    let fetched = try await fetch.fetch(into: part, like: path, &retries) { retries in
      let usable = try await snapshot(from: first, after: place, &retries)
      content.withLock { $0.fetching = usable?.name }
      // What follows on the snapshot stays in the log meanwhile.
      if usable != nil { await renewRegistration(&retries) }
      return usable
    }
    fetched?.close()
    guard fetched != nil else {
      throw ReplicationError.trimmed(first, place, "The log has no snapshot that has them")
    }
    try await take(part, in: fileSystem, from: first)
    try AnnalsError.translating { try fileSystem.remove(part) }
  }

  /// The newest snapshot that has what the log has trimmed before record `first`.
  private func snapshot(
    from first: UInt64, after place: ReplicaPlace, _ retries: inout Retries
  ) async throws -> SharedObject? {
    for (object, details) in try await log.snapshots(&retries).reversed()
    where details.place.sequence > place.sequence && details.place.sequence + 1 >= first {
      if try await log.agrees(with: details.place, &retries) { return object }
    }
    return nil
  }

  /// Applies what the file at a path has, and this one lacks.
  private func take(_ path: String, in fileSystem: any FileSystem, from first: UInt64) async throws
  {
    let source = try await blocking {
      try Store(StoreLocation(fileSystem: fileSystem, path: path), options: .readOnly)
    }
    defer { try? source.close() }
    let version = source.version
    let place = try currentPlace()
    if place.sequence > 0 {
      guard let theirs = try await blocking({ try version.place(of: place.number) }) else {
        throw ReplicationError.trimmed(
          first, place, "The newest snapshot begins with transaction \(version.base.number + 1)")
      }
      guard theirs == place else {
        throw ReplicationError(
          .branched,
          "the newest snapshot in the log has another transaction \(place.number) than this replica"
        )
      }
    }
    var number = place.number
    while number < version.head.number {
      let last = min(number + Int64(max(self.options.pageLength, 1)), version.head.number)
      let range = number + 1...last
      try await apply(
        try await blocking {
          try range.map { number in
            guard let made = try version.offering(number), let place = try version.place(of: number)
            else {
              throw ReplicationError(
                .damaged, "transaction \(number) of the snapshot is not what the log had")
            }
            return LogReading.Arrival(place.sequence, made)
          }
        })
      number = last
    }
  }
}

extension ReplicationError {
  /// The error of a log that begins after what a replica needs.
  static func trimmed(_ first: UInt64, _ place: ReplicaPlace, _ why: String) -> ReplicationError {
    ReplicationError(
      .trimmed,
      "the shared log begins with record \(first), and this replica needs those from "
        + "\(place.sequence + 1). \(why). Nothing was changed; put a snapshot with another "
        + "replica, or keep this file and make the replica anew")
  }
}
