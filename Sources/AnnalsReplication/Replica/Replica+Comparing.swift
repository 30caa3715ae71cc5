import Annals
import AnnalsEngine
import AnnalsModel

// Whether the log is of the file's store, has what the file has from it, and up to where.

extension Replica {
  /// Throws `.otherStore` if the log is of another store: before the replica registers in it, and
  /// before anything is compared.
  func requireSameStore(_ retries: inout Retries) async throws {
    let place = try currentPlace()
    if place.sequence > 0 {
      let page = try await log.page(at: place.sequence, &retries)
      let own = place.digest.description
      if page.records.contains(where: { $0.record.id == own }) { return }
    }
    let found = try await log.asking(&retries) { log throws(SharedLogError) in
      try await log.store()
    }
    if let found, found != store.version.store {
      throw ReplicationError.otherStore(found, store.version.store)
    }
  }

  /// Throws `.branched` unless the log has the newest transaction of the file where the file has
  /// it. Looks at nothing that was trimmed.
  func requireOwnTail(_ retries: inout Retries) async throws {
    let place = try currentPlace()
    guard place.sequence > 0 else { return }
    let page = try await log.page(at: place.sequence, &retries)
    let own = page.records.first { $0.sequence == place.sequence }
    guard let own, own.record.id != place.digest.description else { return }
    throw ReplicationError(
      .branched,
      "record \(place.sequence) of the shared log is another one than this replica has from it")
  }

  /// The error with the newest transaction that log and file have in common, as far as the log can
  /// be asked.
  func naming(
    _ error: ReplicationError, _ retries: inout Retries
  ) async -> ReplicationError {
    let shared = try? await lastShared(&retries)
    let text =
      shared.map { "up to transaction \($0) they are the same" } ?? "where they part is not known"
    return ReplicationError(
      .branched,
      "\(error.message). The log and this file have different histories: \(text). The file keeps "
        + "what it has; nothing was changed. Opened with `onBranch` set to keep it beside, the "
        + "replica goes on with the log's history", lastShared: shared)
  }

  /// The newest transaction that log and file have in common, by bisection: each record's digest
  /// stands for all before it.
  private func lastShared(_ retries: inout Retries) async throws -> Int64? {
    let version = store.version
    let place = try currentPlace()
    let ends = try await log.page(at: 1, &retries)
    let offset = place.number - Int64(place.sequence)
    var low = Int64(ends.first) - 1
    var high = min(Int64(ends.last), Int64(place.sequence))
    guard low <= high else { return nil }
    let least = low
    while low < high {
      let middle = (low + high + 1) / 2
      let page = try await log.page(at: UInt64(middle), &retries)
      let theirs = page.records.first { $0.sequence == UInt64(middle) }?.record.id
      let ours = try version.place(of: middle + offset)?.digest.description
      if theirs != nil, theirs == ours { low = middle } else { high = middle - 1 }
    }
    // What was trimmed cannot be compared.
    return low > least || least == 0 ? low + offset : nil
  }
}
