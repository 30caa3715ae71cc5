import Annals
import AnnalsEngine
import AnnalsLog
import AnnalsModel
import AnnalsStorage
import Foundation

// How the log is trimmed.
//
// - The registrations are read last before the trim. A replica that registers after that, or whose
//   registration was not seen, may find the log trimmed beyond what it needs. It sees so whenever
//   it reads a page, and takes a snapshot: nothing is skipped.
// - Only records before the newest snapshot's own are dropped, so anybody can compare that with the
//   log: a snapshot of a branch that lost is none.
// - A trim names a sequence. It does the same however often it is done, and however late.

extension Replica {
  /// Trims the log, as far as nobody needs what is dropped: up to the newest snapshot, less what is
  /// to be kept, and not beyond what a replica with a running lease, or a blocking consumer of its
  /// store with one, has come to. Removes the objects of what was dropped, and registrations whose
  /// leases ended long ago.
  ///
  /// Some round trips to the log, and one for each 16 registrations. Where there are transactions
  /// in objects of their own, reads all that is dropped.
  ///
  /// - Parameter keep: what is kept, whoever needs it.
  /// - Returns: what was dropped, and what kept it from being more.
  /// - Throws: `ReplicationError.unavailable` if the log was not reached by the deadline,
  ///   `.newerVersion` if a registration cannot be read, `.refused`. Then the log may have been
  ///   trimmed, or is as it was.
  @discardableResult
  public func trim(keeping keep: LogKeep = LogKeep()) async throws -> LogTrim {
    try requireOpen()
    var retries = Retries(options, environment)
    let snapshot = try await newestSnapshot(in: try await log.snapshots(&retries), &retries)
    let kept = try await lastDropped(keep, before: snapshot?.details.place)
    let page = try await log.page(at: 1, &retries)
    let own = try await currentRegistration()
    var others = try await log.registrations(&retries)
    if let own { others = others.filter { $0.id != own.id } + [own] }
    let gate = TrimGate(
      snapshot: snapshot?.details.place.sequence, kept: kept, registrations: others,
      now: Date(environment.clock()))
    let last = min(gate.last, page.last)
    var trim = LogTrim(first: page.first, count: 0, snapshot: gate.snapshot, holds: gate.holds)
    if last >= page.first {
      let names = try await log.objectNames(page.first...last, &retries)
      try await log.asking(&retries) { log throws(SharedLogError) in
        try await log.trim(before: last + 1)
      }
      trim.count = last - page.first + 1
      trim.first = last + 1
      for name in names { try await remove(name, &retries) }
    }
    for old in others where old.isForgotten(at: gate.now) {
      try await remove(ReplicaRegistration.objectName(of: old.id), &retries)
    }
    content.withLock { [trim] in $0.upkeep.trim = trim }
    return trim
  }

  /// The last record that may be dropped by what is to be kept.
  private func lastDropped(
    _ keep: LogKeep, before snapshot: ReplicaPlace?
  ) async throws -> UInt64 {
    guard let snapshot else { return 0 }
    let count = UInt64(clamping: keep.transactions)
    let last = snapshot.sequence - min(snapshot.sequence, count)
    guard let age = keep.age else { return last }
    let place = try currentPlace()
    let version = store.version
    let now = environment.clock()
    let moment = Timestamp(Date(now).addingTimeInterval(-(age / .seconds(1))))
    // Where the file does not say what is older, all is kept.
    let number = try await blocking { try? version.number(asOf: moment, now: now) }
    return min(last, number.map { place.sequence(of: $0) } ?? 0)
  }

  /// Removes an object of the log.
  func remove(_ name: String, _ retries: inout Retries) async throws {
    try await log.asking(&retries) { log throws(SharedLogError) in
      try await log.remove(object: name)
    }
  }

  /// The newest snapshot of the log's own history; nil if there is none.
  func newestSnapshot(
    in snapshots: [(object: SharedObject, details: SnapshotDetails)], _ retries: inout Retries
  ) async throws -> (object: SharedObject, details: SnapshotDetails)? {
    for snapshot in snapshots.reversed()
    where try await log.agrees(with: snapshot.details.place, &retries) {
      return snapshot
    }
    return nil
  }
}

extension ReplicaRegistration {
  /// Whether its lease ended so long ago that it is not worth listing.
  fileprivate func isForgotten(at moment: Date) -> Bool {
    moment >= expiry.addingTimeInterval(max(lease, 86_400))
  }
}

extension PatientLog {
  /// Whether the log goes on from a place: it has that record, or begins just after it.
  func agrees(with place: ReplicaPlace, _ retries: inout Retries) async throws -> Bool {
    while true {
      let page = try await page(at: max(place.sequence, 1), &retries)
      if place.sequence < page.first {
        guard place.sequence + 1 == page.first else { return false }
        let next = page.records.first { $0.sequence == page.first }
        guard let next else { return true }
        return try await transaction(in: next.record, &retries).previous == place.digest
      }
      guard place.sequence <= page.last else { return false }
      if let record = page.records.first(where: { $0.sequence == place.sequence }) {
        return record.record.id == place.digest.description
      }
      // It is there, and the page did not have it.
      guard await retries.wait() else { return false }
    }
  }

  /// The names of the objects that have transactions of these records.
  func objectNames(
    _ range: ClosedRange<UInt64>, _ retries: inout Retries
  ) async throws -> [String] {
    let objects = try await objects(beginning: RecordForm.prefix, &retries)
    if objects.isEmpty { return [] }
    var names: [String] = []
    var next = range.lowerBound
    while next <= range.upperBound {
      let start = next
      let page = try await asking(&retries) { log throws(SharedLogError) in
        try await log.records(from: start, limit: 256)
      }
      let found = page.records.filter { $0.sequence >= start && range.contains($0.sequence) }
      for (_, record) in found {
        if let name = (try? RecordForm(record.bytes))?.objectName { names.append(name) }
      }
      next = (found.map(\.sequence).max() ?? range.upperBound) + 1
    }
    return Array(Set(names))
  }
}
