import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// Snapshots by a policy.
//
// - A snapshot that is due is begun after a pause by chance, and only if no newer one is there then
//   and no replica says that it is making one. Two that begin in the same moment both step back.
//   Where that fails, there are two snapshots, and both are good.
// - A snapshot is complete before older ones are removed, and those are removed before the log is
//   trimmed. Whatever ends in between is done by the next turn, of any replica with a policy.

extension Replica {
  /// Does what the policy says now: puts a snapshot if one is due, removes older ones, and trims
  /// the log.
  ///
  /// Throws `ReplicationError` as `putSnapshot` and `trim` do. What was done before stays, and the
  /// rest is done by the next call.
  package func keepLog() async throws {
    guard let policy = options.snapshots else { return }
    try requireOpen()
    // A replica that cannot go on has nothing to say about this log.
    guard content.withLock({ $0.failure == nil }) else { return }
    var retries = Retries(options, environment)
    var snapshots = try await log.snapshots(&retries)
    var newest = try await newestSnapshot(in: snapshots, &retries)
    if try await isDue(policy, after: newest?.details.place.sequence, &retries) {
      try await putInTurn(policy, after: newest?.details.place.sequence, &retries)
      snapshots = try await log.snapshots(&retries)
      newest = try await newestSnapshot(in: snapshots, &retries)
    }
    if let newest {
      try await removeOlder(than: newest, of: snapshots, &retries)
    }
    if let keep = policy.trimming { try await trim(keeping: keep) }
  }

  /// Whether a snapshot is due if the newest one has this record; nil for none.
  private func isDue(
    _ policy: SnapshotPolicy, after newest: UInt64?, _ retries: inout Retries
  ) async throws -> Bool {
    let last = try currentPlace().sequence
    let since = newest ?? 0
    guard last > since else { return false }
    if let most = policy.transactions, last - since >= UInt64(clamping: most) { return true }
    let bytes = content.withLock { $0.volume.bytes(after: since) }
    if let most = policy.bytes, bytes >= most { return true }
    guard newest == nil else { return false }
    // A log that was trimmed cannot do without one.
    return try await log.page(at: 1, &retries).first > 1
  }

  /// Puts a snapshot, unless another replica does.
  private func putInTurn(
    _ policy: SnapshotPolicy, after newest: UInt64?, _ retries: inout Retries
  ) async throws {
    let part = Double(environment.random() >> 11) * 0x1p-53
    try await Task.sleep(for: policy.spread * part)
    if try await isOtherMaking(&retries) { return }
    content.withLock { $0.isMaking = true }
    do {
      try await register(&retries)
      let found = try await newestSnapshot(in: try await log.snapshots(&retries), &retries)
      let isThere = (found?.details.place.sequence ?? 0) > newest ?? 0
      if !isThere, !(try await isOtherMaking(&retries)) {
        let token = try await putSnapshot()
        content.withLock { $0.upkeep.snapshot = token }
      }
    } catch {
      await endMaking()
      throw error
    }
    await endMaking()
  }

  private func endMaking() async {
    content.withLock { $0.isMaking = false }
    // If nobody hears it, others wait until it is not renewed any more.
    var once = Retries(options, environment, isOnce: true)
    await renewRegistration(&once)
  }

  /// Whether another replica has said lately that it is making a snapshot.
  private func isOtherMaking(_ retries: inout Retries) async throws -> Bool {
    guard options.lease != nil else { return false }
    let own = try await blocking { [registrar] in try registrar.id() }
    let now = Date(environment.clock())
    let patience = 3 * (options.upkeep / .seconds(1))
    return try await log.registrations(&retries).contains {
      $0.isMaking && $0.id != own && abs(now.timeIntervalSince($0.renewed)) < patience
    }
  }

  /// Removes the snapshots before the newest two, but for those that a replica is getting.
  private func removeOlder(
    than newest: (object: SharedObject, details: SnapshotDetails),
    of snapshots: [(object: SharedObject, details: SnapshotDetails)], _ retries: inout Retries
  ) async throws {
    let last = newest.details.place.sequence
    let older = snapshots.filter {
      $0.details.place.sequence <= last && $0.object.name != newest.object.name
    }.dropLast()
    if older.isEmpty { return }
    let now = Date(environment.clock())
    let needed = try await log.registrations(&retries).filter { $0.isLeaseRunning(at: now) }
      .compactMap(\.fetching)
    for snapshot in older where !needed.contains(snapshot.object.name) {
      try await remove(snapshot.object.name, &retries)
    }
  }

  // MARK: By itself

  /// Does what the policy says, again and again, until the replica is closed.
  func startKeeping() {
    guard options.snapshots != nil else { return }
    let task = Task { [weak self, interval = options.upkeep] in
      var pause = interval
      while (try? await Task.sleep(for: pause)) != nil {
        guard let self else { return }
        pause = await self.keepOnce()
      }
    }
    content.withLock { $0.keeper = task }
  }

  /// Does what the policy says, and notes what fails. Returns the pause before the next turn.
  private func keepOnce() async -> Duration {
    let part = 0.5 + Double(environment.random() >> 11) * 0x1p-54
    do {
      try await keepLog()
      content.withLock { content in
        if content.upkeep.failureCount > 0 { content.upkeep.failure = nil }
        content.upkeep.failureCount = 0
      }
      return options.upkeep * part
    } catch {
      let count = content.withLock { content in
        content.upkeep.failure = "the log was not kept by its policy: \(error)"
        content.upkeep.failureCount += 1
        return content.upkeep.failureCount
      }
      let longest = max(options.upkeep, .seconds(3_600))
      return min(options.upkeep * Double(1 << min(count, 20)), longest) * part
    }
  }
}
